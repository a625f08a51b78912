//! Learned utility in and out, in QAVR's own format (spec Q5).

use memoryd_proto::{ExportQ, ImportQ, Mode, QTable};
use memoryd_tests::{World, agent, everywhere};

fn exported(world: &World<'_>) -> String {
    serde_json::to_string_pretty(&world.ask(ExportQ { agent: agent("finder") })).unwrap()
}

const SEED: &str = r#"{
  "memories": {
    "mem_001": {
      "q_value": 0.75,
      "access_count": 12,
      "last_accessed": "2026-01-05",
      "success_count": 8,
      "failure_count": 2
    },
    "mem_002": {
      "q_value": 0.123456789012345,
      "access_count": 0,
      "last_accessed": null,
      "success_count": 0,
      "failure_count": 0
    }
  },
  "contexts": {
    "coding": {
      "interactions": 50,
      "mode": "cold"
    },
    "debugging": {
      "interactions": 145,
      "mode": "warm"
    }
  },
  "config": {
    "learning_rate": 0.1,
    "decay_factor": 0.99,
    "warm_threshold": 100
  }
}"#;

#[test]
fn q5_a_table_in_the_seeds_format_comes_back_to_the_byte() {
    everywhere(|world| {
        let table: QTable = serde_json::from_str(SEED).unwrap();
        let imported = world.ask(ImportQ { agent: agent("finder"), table: table.clone() });
        assert_eq!((imported.memories, imported.contexts), (2, 2));
        assert_eq!(imported.unknown, ["mem_001", "mem_002"]);
        assert_eq!(exported(world), SEED);
        let again = world.ask(ImportQ { agent: agent("finder"), table });
        assert_eq!((again.memories, again.contexts, again.operation), (0, 0, None));
    });
}

#[test]
fn q5_what_was_learned_here_moves_to_another_home() {
    everywhere(|world| {
        let used = world.remember("Check the copper pump before opening the valve");
        world.remember("Check the iron pump before opening the valve");
        for n in 0..3 {
            world.live_through(&format!("r{n}"), "check the pump before opening the valve", n != 2, &[&used]);
        }
        let here = exported(world);
        let table: QTable = serde_json::from_str(&here).unwrap();
        everywhere(|other| {
            other.ask(ImportQ { agent: agent("finder"), table: table.clone() });
            assert_eq!(exported(other), here);
        });
    });
}

#[test]
fn q5_utility_that_came_before_its_memory_is_kept_for_it() {
    everywhere(|world| {
        let table: QTable = serde_json::from_str(SEED).unwrap();
        world.ask(ImportQ { agent: agent("finder"), table });
        let mut lesson = world.lesson("Retry a failed download with exponential backoff");
        lesson.id = Some("mem_001".parse().unwrap());
        world.keep(lesson);
        let usage = world.find(&"mem_001".parse().unwrap()).usage;
        assert_eq!((usage.q_value.get(), usage.access_count, usage.usage_count), (0.75, 12, 10));
        let mut warm = memoryd_proto::Recall::new(agent("finder"), "retry a failed download");
        warm.context = Some("debugging".parse().unwrap());
        assert_eq!(world.ask(warm).context.mode, Mode::Warm);
    });
}

#[test]
fn q5_an_import_is_undone_as_a_whole() {
    everywhere(|world| {
        let before = exported(world);
        let table: QTable = serde_json::from_str(SEED).unwrap();
        let imported = world.ask(ImportQ { agent: agent("finder"), table });
        world.ask(memoryd_proto::Undo { operation: imported.operation.unwrap() });
        assert_eq!(exported(world), before);
    });
}

#[test]
fn q5_a_day_that_is_none_is_named_and_nothing_is_imported() {
    everywhere(|world| {
        let before = exported(world);
        let table: QTable = serde_json::from_str(&SEED.replace("2026-01-05", "yesterday")).unwrap();
        let fault = world.fault(ImportQ { agent: agent("finder"), table });
        assert!(fault.message.contains("mem_001") && fault.message.contains("yesterday"), "{fault}");
        assert_eq!(exported(world), before);
    });
}
