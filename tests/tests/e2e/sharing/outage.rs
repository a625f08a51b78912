//! The server goes away and comes back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memoryd::clock::TurnedClock;
use memoryd_proto::{Recall, Serve, Status};
use memoryd_tests::{Chroma, Home, World, agent, free_port, shared_at, start_of_time};
use rustix::process::Signal;

use super::{Living, agrees};

/// How many lessons are stored and reported.
const LESSONS: usize = 500;

/// At most this long may a recall take, whatever the server does.
const BOUND: Duration = Duration::from_secs(1);

/// A recall, which is answered in time.
fn in_time(world: &World<'_>, query: &str) -> memoryd_proto::Recalled {
    let begun = Instant::now();
    let recalled = Serve::<Recall>::serve(world.service, Recall::new(agent("finder"), query)).unwrap();
    let took = begun.elapsed();
    assert!(took < BOUND, "a recall took {took:?}");
    recalled
}

#[test]
fn d3_a_thousand_stores_and_reports_across_an_outage_are_all_there_once() {
    let folder = tempfile::Builder::new().prefix("chroma-").tempdir_in("/tmp").unwrap();
    let Some(chroma) = Chroma::on(folder.path(), free_port()) else { return };
    let living = Living::new(&chroma.config("default_database"));
    let world = living.world();
    let (mut chroma, mut away, mut ids) = (Some(chroma), None, Vec::new());
    for n in 0..LESSONS {
        match n {
            150 => away = chroma.take().map(Chroma::kill),
            400 => chroma = away.take().and_then(|(data, port)| Chroma::on(&data, port)),
            _ => {}
        }
        living.clock.turn(chrono::TimeDelta::seconds(1));
        let id = world.remember(&format!("Rule {n}: open valve {n} before pump {n} starts"));
        let recalled = in_time(&world, &format!("open valve {n}"));
        let told = recalled.degraded.as_deref().unwrap_or_default();
        assert!(!(155..400).contains(&n) || told.starts_with("Chroma at"), "{n}: {told}");
        let mut report = world.report(&format!("r{n}"), &format!("open valve {n} again"), n % 3 > 0);
        report.recall = Some(recalled.recall);
        report.used =
            recalled.items.iter().filter(|item| item.id == id).map(|item| item.id.clone()).collect();
        world.ask(report);
        ids.push(id);
    }
    living.daemon.app().exchange().unwrap();
    let state = world.ask(Status {}).chroma.unwrap();
    assert_eq!((state.waiting, state.refused, state.trouble), (0, 0, None));
    agrees(&world);
    let told = chroma.unwrap().python(
        "default_database",
        "got = client.get_collection('agent_finder_improvements').get()\n\
         print(json.dumps(got['ids']))\n\
         print(client.get_collection('agent_finder_evaluations').count())",
    );
    let (there, evaluations) = told.split_once('\n').unwrap();
    let there: Vec<String> = serde_json::from_str(there).unwrap();
    assert_eq!(
        there,
        ids.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "in the order they were stored"
    );
    assert_eq!(evaluations.trim(), LESSONS.to_string());
}

#[test]
fn d3_a_server_that_hangs_holds_up_no_recall_and_is_told_later() {
    let Some(chroma) = Chroma::start() else { return };
    let living = Living::new(&chroma.config("default_database"));
    let world = living.world();
    world.remember("Retry a failed download with exponential backoff");
    living.daemon.app().exchange().unwrap();
    chroma.signal(Signal::STOP);
    for n in 0..5 {
        let recalled = in_time(&world, "retry the failed download");
        assert_eq!(recalled.items.len(), 1, "{n}");
        assert!(recalled.degraded.unwrap().contains("did not answer within 500 ms"), "{n}");
    }
    world.remember("Quote shell arguments that hold spaces");
    chroma.signal(Signal::CONT);
    living.daemon.app().exchange().unwrap();
    assert_eq!(in_time(&world, "quote shell arguments").degraded, None);
    agrees(&world);
}

#[test]
fn d3_what_waits_survives_a_crash_of_the_daemon() {
    let Some(chroma) = Chroma::start() else { return };
    let home = Home::new();
    let away = free_port();
    home.configure(&shared_at(away, "default_database"));
    let daemon = memoryd_tests::Process::start(&home);
    let call = memoryd_proto::Remember::new(
        agent("finder"),
        "error_handling",
        memoryd_tests::confidence(0.8),
        "Retry a failed download with exponential backoff",
    );
    let kept = daemon.client().call(call).unwrap();
    daemon.kill9();
    drop(chroma);
    let folder = home.folder("chroma");
    let chroma = Chroma::on(&folder, away).unwrap();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let daemon = home.daemon(&clock);
    daemon.app().exchange().unwrap();
    let told = chroma
        .python("default_database", "print(client.get_collection('agent_finder_improvements').get()['ids'])");
    assert!(told.contains(kept.kept[0].id.as_str()), "{told}");
}
