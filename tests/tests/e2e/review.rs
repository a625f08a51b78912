//! The weekly review: its figures are those of the week that was lived through, and it is kept once (spec P3).

use chrono::TimeDelta;
use memoryd_proto::{
    Code, CriterionName, Figures, Graded, Import, JobName, Judgement, Maintain, Record, Report, Review,
    ReviewOf, Reviews, Undo,
};
use memoryd_tests::{World, agent, everywhere, everywhere_with, quality};

use crate::maintenance::{there_and_back, use_it};
use crate::notes::{init, insight, put};

const UTC: &str = "[maintenance]\nzone = \"UTC\"\n";

fn review(world: &World<'_>, week: Option<&str>) -> Review {
    world.ask(ReviewOf { week: week.map(|week| week.parse().unwrap()) })
}

fn judgement(review: &Review, name: CriterionName) -> (Judgement, &str) {
    let one = review.criteria.iter().find(|one| one.name == name).unwrap();
    (one.judgement, &one.figure)
}

/// A week from Monday on: a lesson that works, one that fails, and a task of another agent.
fn live_a_week(world: &World<'_>) {
    let good = world.remember("Retry a failed download with exponential backoff");
    let bad = world.remember("Restart the server when a download fails");
    for n in 0..4 {
        let recalled = world.recall("A download failed, retry it");
        let report = world.report(&format!("good-{n}"), &format!("Retry download {n}"), true);
        let used = vec![good.clone()];
        let quality = Graded::Overall(quality(70.0 + 5.0 * f64::from(n)));
        world.ask(Report { recall: Some(recalled.recall), used, quality, ..report });
        world.clock.turn(TimeDelta::hours(20));
    }
    let failed = world.report("bad", "Restart it", false);
    world.ask(Report { used: vec![bad], quality: Graded::Overall(quality(20.0)), ..failed });
    world.recall("Water the tomatoes");
    let other = Report::new("w".parse().unwrap(), agent("writer"), "Write the minutes", true);
    world.ask(Report { quality: Graded::Overall(quality(90.0)), ..other });
}

#[test]
fn p3_the_figures_are_those_of_the_week() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        let review = review(world, None);
        assert_eq!((review.week.to_string(), review.is_over()), ("2026-W02".to_owned(), false));
        let finder = Figures {
            tasks: 5,
            succeeded: 4,
            quality: Some(66.0),
            insights: 0,
            stored: 2,
            recalls: 5,
            reported: 4,
        };
        let agents: Vec<_> = review.agents.iter().map(|one| (one.agent.as_str(), one.week.tasks)).collect();
        assert_eq!(agents, [("finder", 5), ("writer", 1)]);
        assert_eq!(review.agents[0].week, finder);
        assert_eq!((review.all.tasks, review.all.quality), (6, Some(70.0)));
        assert_eq!(review.before, Figures::default());
        assert_eq!(review.agents[0].weeks.len(), 12);
        assert_eq!(review.agents[0].weeks[11].tasks, 5);
        assert!(review.agents[0].weeks[..11].iter().all(|point| point.quality.is_none()));
        // Newest first 20, 85, then 80, 75, 70.
        assert_eq!(review.agents[0].trend, Some(52.5 - 75.0));
        assert_eq!(review.agents[1].trend, None, "one task has no trend");
        let days: Vec<(u64, u64)> = review.days.iter().map(|day| (day.tasks, day.succeeded)).collect();
        assert_eq!(days, [(1, 1), (1, 1), (2, 2), (2, 1), (0, 0), (0, 0), (0, 0)]);
        assert_eq!(review.standing.active, 2);
        assert_eq!(review.q_values.iter().sum::<u64>(), 2);
        let coding = review.contexts.iter().find(|one| one.state.name.as_str() == "coding").unwrap();
        assert_eq!((coding.state.interactions, coding.grown), (4, 4));
    });
}

#[test]
fn p3_lessons_come_with_the_tasks_they_were_used_in() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        let review = review(world, None);
        let [best] = &review.best[..] else { panic!("{:?}", review.best) };
        assert_eq!(best.improvement.document, "Retry a failed download with exponential backoff");
        assert_eq!((best.uses, best.successes, best.recalled), (4, 4, true));
        let tasks: Vec<&str> = best.tasks.iter().map(|one| one.task.as_str()).collect();
        assert_eq!(tasks, ["Retry download 3", "Retry download 2", "Retry download 1"]);
        let [worst] = &review.worst[..] else { panic!("{:?}", review.worst) };
        assert_eq!(worst.improvement.document, "Restart the server when a download fails");
        assert_eq!((worst.uses, worst.successes, worst.recalled), (1, 0, false));
        assert_eq!(review.fallen, 1);
    });
}

#[test]
fn p3_criteria_are_judged_by_what_happened() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        let running = review(world, None);
        assert_eq!(judgement(&running, CriterionName::Stored), (Judgement::Open, "2 stored so far"));
        assert_eq!(judgement(&running, CriterionName::Relevant), (Judgement::Met, "100 %: 4 of 4 helped"));
        assert_eq!(judgement(&running, CriterionName::Tracked), (Judgement::Met, "5 of 5 uses counted"));
        assert_eq!(judgement(&running, CriterionName::Deprecation).0, Judgement::Open);
        // Neither the last recall nor the one that nobody reported is a day old yet.
        assert_eq!(judgement(&running, CriterionName::Evaluated), (Judgement::Met, "100 %: 3 of 3 reported"));
        world.clock.turn(TimeDelta::days(5));
        let over = review(world, Some("2026-W02"));
        assert!(over.is_over());
        assert_eq!(judgement(&over, CriterionName::Stored), (Judgement::NotMet, "2 stored"));
        assert_eq!(judgement(&over, CriterionName::Evaluated), (Judgement::NotMet, "80 %: 4 of 5 reported"));
    });
}

#[test]
fn p3_deprecation_and_promotion_are_judged_by_what_waits() {
    everywhere_with(UTC, |world| {
        let good = world.remember("Retry a failed download with exponential backoff");
        let bad = world.remember("Restart the server when a download fails");
        use_it(world, &agent("finder"), &good, 20, 0);
        use_it(world, &agent("finder"), &bad, 3, 7);
        let before = review(world, None);
        let failing = (Judgement::Met, "1 of 1 failing improvements deprecated");
        assert_eq!(judgement(&before, CriterionName::Deprecation), failing);
        let waiting = (Judgement::NotMet, "0 of 1 succeeding improvements promoted");
        assert_eq!(judgement(&before, CriterionName::Promotion), waiting);
        world.ask(Maintain { job: Some(JobName::Promote), dry_run: false });
        let after = review(world, None);
        let promoted = (Judgement::Met, "1 of 1 succeeding improvements promoted");
        assert_eq!(judgement(&after, CriterionName::Promotion), promoted);
        world.ask(memoryd_proto::Restore { agent: None, id: bad });
        let restored = (Judgement::NotMet, "0 of 1 failing improvements deprecated");
        assert_eq!(judgement(&review(world, None), CriterionName::Deprecation), restored);
    });
}

#[test]
fn p3_a_review_is_kept_once_for_a_week() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        assert_eq!(there_and_back(world, JobName::Review).total, 0, "the week before had nothing in it");
        world.clock.turn(TimeDelta::days(5));
        let done = there_and_back(world, JobName::Review);
        assert_eq!(done.planned[0].why, "keep the review of 2026-W02: 6 tasks, 83 % succeeded");
        let kept = review(world, Some("2026-W02"));
        assert_eq!(kept.all.tasks, 6);
        // What happens later does not change what was kept.
        world.clock.turn(TimeDelta::hours(3));
        for one in world.improvements() {
            world.ask(memoryd_proto::DeleteImprovement { agent: None, id: one.id });
        }
        world.ask(world.report("later", "Another task", true));
        assert_eq!(review(world, Some("2026-W02")), kept);
        assert_eq!(world.ask(Maintain { job: Some(JobName::Review), dry_run: false }).jobs[0].total, 0);
        let list = world.ask(Reviews {}).reviews;
        assert_eq!(list, [kept.summary()]);
        // The next week looks back on it.
        let running = review(world, None);
        assert_eq!((running.week.to_string(), running.all.tasks), ("2026-W03".to_owned(), 1));
        assert_eq!(running.before.tasks, 6);
        assert_eq!(running.agents[0].weeks[10].tasks, 5);
    });
}

#[test]
fn p3_a_review_that_was_taken_back_stays_away() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        world.clock.turn(TimeDelta::days(5));
        let run = || world.ask(Maintain { job: Some(JobName::Review), dry_run: false }).jobs.swap_remove(0);
        world.ask(Undo { operation: run().operation.unwrap() });
        assert_eq!(world.ask(Reviews {}).reviews, []);
        assert_eq!(run().operation, None);
    });
}

#[test]
fn p3_what_maintenance_did_is_told() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        let done = world.ask(Maintain { job: Some(JobName::Metrics), dry_run: false }).jobs.swap_remove(0);
        let told = |undone| {
            let work: Vec<_> = review(world, None)
                .maintenance
                .into_iter()
                .map(|one| (one.job, Some(one.operation), one.changes, one.undone))
                .collect();
            assert_eq!(work, [(JobName::Metrics, done.operation, 2, undone)]);
        };
        told(false);
        world.ask(Undo { operation: done.operation.unwrap() });
        told(true);
    });
}

#[test]
fn p3_a_memory_without_anything_has_a_review_too() {
    everywhere(|world| {
        let review = review(world, None);
        assert_eq!((&review.all, &review.agents[..]), (&Figures::default(), &[][..]));
        assert_eq!((review.best.len(), review.worst.len(), review.fallen), (0, 0, 0));
        assert_eq!(judgement(&review, CriterionName::Relevant).0, Judgement::Open);
        assert_eq!(world.ask(Reviews {}).reviews, []);
    });
}

#[test]
fn p3_a_week_that_has_not_begun_has_no_review() {
    everywhere(|world| {
        let fault = world.fault(ReviewOf { week: "2026-W03".parse().ok() });
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.advice.contains("2026-W02"), "{fault}");
    });
}

#[test]
fn p3_weeks_go_by_local_time() {
    // It is Monday morning in London, and Monday evening ends there thirteen hours after it does on Kiritimati.
    everywhere_with("[maintenance]\nzone = \"Pacific/Kiritimati\"\n", |world| {
        world.clock.turn(TimeDelta::hours(24 * 6 + 2));
        world.ask(world.report("late", "A task", true));
        let review = review(world, None);
        assert_eq!(review.week.to_string(), "2026-W03");
        assert_eq!(review.from.to_rfc3339(), "2026-01-11T10:00:00+00:00");
        assert_eq!(review.days[0].tasks, 1);
    });
}

#[test]
fn d4_a_kept_review_travels_with_an_export() {
    let kept = std::cell::RefCell::new(Vec::new());
    everywhere_with(UTC, |world| {
        live_a_week(world);
        world.clock.turn(TimeDelta::days(5));
        world.ask(Maintain { job: Some(JobName::Review), dry_run: false });
        let records = world.records();
        let there = |record: &Record| matches!(record, Record::Review(_));
        assert_eq!(records.iter().filter(|record| there(record)).count(), 1);
        kept.replace(records);
    });
    let kept = kept.into_inner();
    everywhere_with(UTC, |world| {
        world.clock.turn(TimeDelta::days(8));
        let imported = world.ask(Import { records: kept.clone(), dry_run: false });
        assert_eq!((imported.added, imported.refused.len()), (kept.len() as u64, 0));
        assert_eq!(world.records().iter().filter(|one| kept.contains(one)).count(), kept.len());
        assert_eq!(world.ask(Import { records: kept.clone(), dry_run: false }).added, 0);
    });
}

#[test]
fn m14_a_review_that_is_imported_is_free_of_secrets() {
    everywhere_with(UTC, |world| {
        live_a_week(world);
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let mut tainted = review(world, None);
        tainted.best[0].improvement.document = format!("Log in with {token}");
        tainted.best[0].tasks[0].task = token.clone();
        tainted.criteria[0].figure = token.clone();
        let imported = world.ask(Import { records: vec![Record::Review(tainted)], dry_run: false });
        assert_eq!((imported.added, imported.redacted.len()), (1, 3), "{imported:?}");
        assert!(!world.export().contains(&token));
    });
}

#[test]
fn p3_shared_insights_and_skill_candidates_are_in_the_review_without_secrets() {
    everywhere_with(UTC, |world| {
        init(world);
        world.ask(insight("Auth headers", "Send it with ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY"));
        put(
            world,
            "domains/code.md",
            "# Code\n\n- Sort the imports\n- Keep ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY\n",
        );
        live_a_week(world);
        world.clock.turn(TimeDelta::days(7));
        world.ask(insight("Later", "Not of that week"));
        world.ask(Maintain { job: Some(JobName::Review), dry_run: false });
        let review = review(world, Some("2026-W02"));
        let shared: Vec<(&str, &str)> =
            review.shared.iter().map(|one| (one.title.as_str(), one.name.as_str())).collect();
        assert_eq!(shared, [("Auth headers", "2026-01-05-auth-headers")]);
        let ideas: Vec<&str> = review.skills.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(ideas, ["Sort the imports", "Keep [redacted: github token]"]);
        assert!(!serde_json::to_string(&review).unwrap().contains("EVERY"));
    });
}
