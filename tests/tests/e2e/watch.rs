//! Watching what happens (spec C4).

use chrono::TimeDelta;
use memoryd_proto::{Event, Happening, JobName, Maintain, Phase, Ping, Pong, Report, Undo, Watch, Watched};
use memoryd_tests::{Home, World, everywhere, start_of_time};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memoryd::clock::TurnedClock;

fn after(world: &World<'_>, number: u64) -> Watched {
    world.ask(Watch { after: Some(number), wait_ms: 10_000 })
}

#[test]
fn c4_changes_and_jobs_are_told_in_order() {
    everywhere(|world| {
        let now = world.ask(Watch { after: None, wait_ms: 0 });
        assert_eq!((now.events.len(), now.missed), (0, 0));
        let kept = world.keep(world.lesson("Retry a failed download with exponential backoff"));
        let operation = kept.operation.unwrap();
        let watched = after(world, now.next);
        assert_eq!(watched.events.len(), 1);
        assert_eq!(watched.events[0].at, start_of_time());
        let Happening::Committed { operation: told, actor, agent, changes, .. } = &watched.events[0].what
        else {
            panic!("{watched:?}")
        };
        assert_eq!((*told, actor.as_str(), *changes), (operation, "remember", 1));
        assert_eq!(agent.as_ref(), Some(&memoryd_tests::agent("finder")));

        world.clock.turn(TimeDelta::hours(1));
        world.ask(Report { ..world.report("r1", "Retry the failed download", true) });
        let reported = after(world, watched.next).next;
        let job = JobName::Metrics;
        let done = world.ask(Maintain { job: Some(job), dry_run: false }).jobs.swap_remove(0);
        let told: Vec<Happening> =
            after(world, reported).events.into_iter().map(|event| event.what).collect();
        let progress = |phase, done| Happening::JobProgress { job, phase, done, of: 1 };
        let committed = Happening::Committed {
            operation: done.operation.unwrap(),
            actor: "job metrics".to_owned(),
            reason: "how each agent does".to_owned(),
            agent: None,
            changes: 1,
        };
        let expected = [
            Happening::JobStarted { job },
            progress(Phase::Planning, 1),
            progress(Phase::Changing, 0),
            progress(Phase::Changing, 1),
            committed,
            Happening::JobEnded { job, operation: done.operation, total: 1, failed: None },
        ];
        assert_eq!(told, expected);

        let before = after(world, 0).next;
        let undone = world.ask(Undo { operation });
        let watched = after(world, before);
        let expected = Happening::Undone { undone: operation, operation: undone.operation };
        assert_eq!(watched.events.iter().map(|event| &event.what).collect::<Vec<_>>(), [&expected]);
    });
}

#[test]
fn c4_what_fell_out_of_the_ring_is_counted() {
    let home = Home::new();
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    for _ in 0..1100 {
        let what = Happening::JobStarted { job: JobName::Metrics };
        daemon.app().journal.events().publish(start_of_time(), what);
    }
    let watched = daemon.client().call(Watch { after: Some(10), wait_ms: 0 }).unwrap();
    let numbers: Vec<u64> = watched.events.iter().map(|event: &Event| event.number).collect();
    assert_eq!(numbers, (77..=1100).collect::<Vec<u64>>());
    assert_eq!((watched.missed, watched.next), (66, 1100));
}

#[test]
fn c4_who_watches_holds_up_nobody_and_is_let_go_when_the_daemon_stops() {
    let home = Home::new();
    home.configure("[server]\nworkers = 1\n");
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    let watching = |n: u64| daemon.app().counters.requests.load(Ordering::Relaxed) < n;
    let client = home.client();
    let watchers: Vec<_> = (0..8)
        .map(|_| {
            let client = home.client();
            std::thread::spawn(move || client.call(Watch { after: None, wait_ms: 25_000 }))
        })
        .collect();
    while watching(8) {
        std::thread::yield_now();
    }
    assert_eq!(client.call(Ping {}), Ok(Pong {}));
    client.call(memoryd_proto::Status {}).unwrap();
    drop(daemon);
    for watcher in watchers {
        // Woken and answered, not cut off.
        assert_eq!(watcher.join().unwrap().unwrap().events, []);
    }
}
