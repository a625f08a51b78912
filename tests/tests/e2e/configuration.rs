//! What the configuration decides, and what it may not hold (spec D5).

use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd::database::{self, Durability};
use memoryd_proto::{Serve, Status};
use memoryd_tests::{Home, Spawned, World, documents, everywhere, everywhere_with, start_of_time};

#[test]
fn an_unknown_key_is_refused_by_name_and_the_daemon_does_not_start() {
    let home = Home::new();
    home.configure("[recall]\nitmes = 3\n");
    let Err(ended) = Spawned::new(&home, &[]).outcome() else { panic!("it started") };
    assert!(!ended.status.success());
    assert!(ended.said.contains("itmes") && ended.said.contains("memoryd.toml"), "{}", ended.said);
    assert!(!home.data_dir().exists() && !home.socket().exists());
}

#[test]
fn a_number_out_of_range_is_refused_by_name() {
    let home = Home::new();
    home.configure("[learning]\nlearning_rate = 2.0\n");
    let Err(ended) = Spawned::new(&home, &[]).outcome() else { panic!("it started") };
    assert!(ended.said.contains("learning.learning_rate"), "{}", ended.said);
}

#[test]
fn the_configuration_that_the_daemon_prints_is_one_it_takes() {
    let home = Home::new();
    home.configure(memoryd::config::DEFAULTS);
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    assert_eq!(
        daemon.client().serve(Status {}).unwrap().config_file,
        Some(home.config_file().display().to_string())
    );
}

#[test]
fn a_rule_for_secrets_can_be_added() {
    let rule =
        "[[secrets.rules]]\nkind = \"ticket number\"\nkeywords = [\"TCK-\"]\npattern = 'TCK-[0-9]{8}'\n";
    everywhere_with(rule, |world| {
        let kept = world.keep(world.lesson("Close TCK-12345678 when the pump runs"));
        assert_eq!(kept.redacted, ["ticket number"]);
        assert_eq!(world.improvements()[0].document, "Close [redacted: ticket number] when the pump runs");
    });
}

#[test]
fn d5_vectors_of_another_model_are_not_used_and_words_still_answer() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    {
        let daemon = home.daemon(&clock);
        let world = World { service: daemon.client(), clock: &clock, home: &home };
        world.remember("Retry a failed download with exponential backoff");
        assert_eq!(world.ask(Status {}).degraded, None);
    }
    {
        let (_, writer) = database::open(&home.data_dir().join("memory.db")).unwrap();
        let tamper = |transaction: &_| database::set_meta(transaction, "model", "some-other-model 384");
        writer.lock().transaction(Durability::Full, |transaction| tamper(transaction)).unwrap();
    }
    let daemon = home.daemon(&clock);
    for service in [daemon.client() as &(dyn memoryd_proto::Service + 'static), daemon.app()] {
        let world = World { service, clock: &clock, home: &home };
        let told = world.ask(Status {}).degraded.unwrap();
        assert!(told.contains("some-other-model 384") && told.contains("export"), "{told}");
        let recalled = world.recall("retry a failed download");
        assert_eq!(documents(&recalled), ["Retry a failed download with exponential backoff"]);
        assert_eq!(recalled.degraded, Some(told));
        assert!(recalled.items[0].why.cosine == 0.0 && recalled.items[0].why.lexical > 0.0);
        // What is learned meanwhile is found too.
        world.remember("Pin the toolchain in continuous integration");
        assert_eq!(
            documents(&world.recall("pin the toolchain")),
            ["Pin the toolchain in continuous integration"]
        );
    }
}

#[test]
fn what_is_stored_survives_a_restart_to_the_byte() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let seen = |home: &Home, first: bool| {
        let daemon = home.daemon(&clock);
        let world = World { service: daemon.client(), clock: &clock, home };
        if first {
            let id = world.remember("Retry a failed download with exponential backoff");
            world.remember("Retry a failed upload after checking the disk");
            world.live_through("r1", "retry the failed download", true, &[&id]);
        }
        let why =
            |one: memoryd_proto::Recalled| one.items.into_iter().map(|item| item.why).collect::<Vec<_>>();
        (why(world.recall("the download failed, retry it")), world.find(&world.improvements()[0].id).document)
    };
    assert_eq!(seen(&home, true), seen(&home, false));
}

#[test]
fn status_tells_what_the_daemon_holds() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        world.live_through("r1", "retry the failed download", true, &[&id]);
        world.recall("retry the failed download");
        let status = world.ask(Status {});
        assert_eq!(
            (status.agents, status.improvements, status.evaluations, status.open_recalls),
            (1, 1, 1, 1)
        );
        assert_eq!(status.last_operation, Some(2));
        assert_eq!((status.started_at, status.now), (start_of_time(), start_of_time()));
        assert_eq!(status.data_dir, world.home.data_dir().display().to_string());
        assert_eq!(status.socket, world.home.socket().display().to_string());
        let shared = status.chroma.is_some();
        assert_eq!(
            (status.store.as_str(), status.dimension),
            (if shared { "chroma" } else { "embedded" }, 384)
        );
        assert!(status.database_bytes > 0);
    });
}
