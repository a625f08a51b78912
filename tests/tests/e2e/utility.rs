//! Learned utility: when it counts, what moves it, and what time leaves of it (spec Q1, Q3, Q4).

use std::sync::Arc;

use chrono::TimeDelta;
use memoryd::clock::TurnedClock;
use memoryd_proto::{Contexts, ImprovementId, Mode, Recall};
use memoryd_tests::{Home, World, agent, everywhere, everywhere_with, start_of_time};

fn q(world: &World<'_>, id: &ImprovementId) -> f64 {
    world.find(id).usage.q_value.get()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn q1_a_context_is_cold_for_a_hundred_reported_recalls_and_warm_from_then_on() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        for n in 0..100 {
            let recalled = world.recall("retry the failed download");
            assert_eq!((recalled.context.mode, recalled.context.interactions), (Mode::Cold, n));
            assert!(close(recalled.alpha, 0.0));
            let why = &recalled.items[0].why;
            assert!(close(why.score, why.relevance), "a cold context ranks by relevance alone");
            let mut report = world.report(&format!("r{n}"), "Retry the failed download", true);
            report.recall = Some(recalled.recall);
            report.used = vec![id.clone()];
            let learned = world.ask(report);
            assert_eq!(learned.context.unwrap().interactions, n + 1);
        }
        let recalled = world.recall("retry the failed download");
        assert_eq!((recalled.context.mode, recalled.context.interactions), (Mode::Warm, 100));
        assert!(close(recalled.alpha, 0.3));
        let why = &recalled.items[0].why;
        assert!(why.q > 0.9, "{why:?}");
        assert!(close(why.score, 0.7 * why.relevance + 0.3 * why.q));

        // Contexts warm up one by one; a name that nobody configured is one too.
        let mut elsewhere = Recall::new(agent("finder"), "retry the failed download");
        elsewhere.context = Some("Gardening".parse().unwrap());
        let elsewhere = world.ask(elsewhere);
        assert_eq!((elsewhere.context.name.as_str(), elsewhere.context.mode), ("gardening", Mode::Cold));
        let listed: Vec<_> = world
            .ask(Contexts {})
            .contexts
            .into_iter()
            .map(|one| (one.name.as_str().to_owned(), one.interactions, one.warm_from))
            .collect();
        let expected = [("coding", 100), ("debugging", 0), ("research", 0)];
        assert_eq!(listed, expected.map(|(name, interactions)| (name.to_owned(), interactions, 100)));
    });
}

#[test]
fn q1_a_recall_that_nobody_reports_warms_nothing() {
    everywhere_with("[learning]\nwarm_threshold = 1\n", |world| {
        world.remember("Retry a failed download with exponential backoff");
        for _ in 0..3 {
            assert_eq!(world.recall("retry the failed download").context.mode, Mode::Cold);
        }
    });
}

#[test]
fn fault_31_only_the_used_item_gains_and_the_idle_ones_are_not_credited() {
    everywhere(|world| {
        let ids: Vec<_> = ["copper", "iron", "zinc", "steel", "brass"]
            .map(|metal| world.remember(&format!("Check the {metal} pump before opening the valve")))
            .into();
        let used = &ids[2];
        let learned = world.live_through("r1", "check the pump before opening the valve", true, &[used]);
        assert_eq!(learned.items.len(), 5);
        for id in &ids {
            // 0.5 + 0.1 · (1 − 0.5), and 0.5 + 0.1 · (0.1 − 0.5)
            let expected = if id == used { 0.55 } else { 0.46 };
            assert!(close(q(world, id), expected), "{id}: {}", q(world, id));
            let outcome = learned.items.iter().find(|item| item.id == *id).unwrap();
            assert!(close(outcome.q_before.get(), 0.5) && close(outcome.q_after.get(), expected));
            assert_eq!(outcome.usage_count, u64::from(id == used));
        }
    });
}

#[test]
fn q3_a_failure_blames_only_the_used_item() {
    everywhere(|world| {
        let used = world.remember("Check the copper pump before opening the valve");
        let idle = world.remember("Check the iron pump before opening the valve");
        world.live_through("r1", "check the pump before opening the valve", false, &[&used]);
        // 0.5 + 0.1 · (−0.2 − 0.5), and 0.46 as after a success
        assert!(close(q(world, &used), 0.43));
        assert!(close(q(world, &idle), 0.46));
        assert_eq!(world.find(&idle).usage.failure_count, 0);
    });
}

#[test]
fn q4_days_without_a_recall_decay_once_each_however_often_one_looks() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        world.live_through("r1", "retry the failed download", true, &[&id]);
        assert!(close(q(world, &id), 0.55));
        // The day of the recall and the day that is not over do not decay.
        world.clock.turn(TimeDelta::hours(14));
        assert!(close(q(world, &id), 0.55));
        world.clock.turn(TimeDelta::days(1));
        assert!(close(q(world, &id), 0.55));
        world.clock.turn(TimeDelta::days(5));
        for _ in 0..3 {
            assert!(close(q(world, &id), 0.55 * 0.99_f64.powi(5)), "{}", q(world, &id));
        }
        // A recall settles it: from here on it decays anew.
        world.recall("retry the failed download");
        assert!(close(q(world, &id), 0.55 * 0.99_f64.powi(5)));
        world.clock.turn(TimeDelta::days(3));
        assert!(close(q(world, &id), 0.55 * 0.99_f64.powi(7)));
        // A clock that is turned back neither decays nor restores.
        world.clock.turn(TimeDelta::days(-30));
        assert!(close(q(world, &id), 0.55 * 0.99_f64.powi(5)));
    });
}

#[test]
fn q4_a_daemon_that_slept_five_days_decays_five_days_once() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let id = {
        let daemon = home.daemon(&clock);
        let world = World { service: daemon.client(), clock: &clock, home: &home };
        let id = world.remember("Retry a failed download with exponential backoff");
        world.live_through("r1", "retry the failed download", true, &[&id]);
        id
    };
    clock.turn(TimeDelta::days(6));
    for _ in 0..2 {
        let daemon = home.daemon(&clock);
        let world = World { service: daemon.client(), clock: &clock, home: &home };
        assert!(close(q(&world, &id), 0.55 * 0.99_f64.powi(5)));
    }
}
