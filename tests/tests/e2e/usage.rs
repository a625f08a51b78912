//! What use and failure do to an improvement (spec I6).

use memoryd_proto::{Code, Standing};
use memoryd_tests::{documents, everywhere};

#[test]
fn i6_a_used_improvement_counts_and_keeps_its_instant() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        world.clock.turn(chrono::TimeDelta::hours(1));
        let learned = world.live_through("r1", "Retry the failed download", true, &[&id]);
        assert_eq!(learned.items.len(), 1);
        assert!(learned.items[0].used);
        assert_eq!((learned.items[0].usage_count, learned.items[0].success_rate), (1, Some(1.0)));
        let usage = world.find(&id).usage;
        assert_eq!((usage.usage_count, usage.success_count, usage.failure_count), (1, 1, 0));
        assert_eq!(usage.last_used, Some(learned.evaluation.at));
    });
}

#[test]
fn i6_ten_uses_below_four_tenths_deprecate_and_keep_the_statistics() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        // An item that fails is no longer recalled long before, so the uses are reported without a recall.
        let report = |n: u32, success: bool| {
            let mut report = world.report(&format!("r{n}"), "Retry the failed download", success);
            report.used = vec![id.clone()];
            world.ask(report)
        };
        for n in 1..=9 {
            assert!(!report(n, n <= 3).items[0].deprecated, "use {n}");
        }
        let tenth = report(10, false);
        assert!(tenth.items[0].deprecated);
        assert_eq!((tenth.items[0].usage_count, tenth.items[0].success_rate), (10, Some(0.3)));

        let kept = world.find(&id);
        let deprecation = kept.deprecation.unwrap();
        assert_eq!(deprecation.reason, "Low success rate after extensive usage");
        assert_eq!((kept.usage.usage_count, kept.usage.success_count, kept.usage.failure_count), (10, 3, 7));
        assert_eq!(documents(&world.recall("retry a failed download")), [""; 0]);
        let deprecated =
            memoryd_proto::Improvements { standing: Some(Standing::Deprecated), ..Default::default() };
        assert_eq!(world.ask(deprecated).total, 1);
    });
}

#[test]
fn i6_ten_uses_at_four_tenths_do_not_deprecate() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        for n in 1..=10 {
            let mut report = world.report(&format!("r{n}"), "Retry the failed download", n <= 4);
            report.used = vec![id.clone()];
            assert!(!world.ask(report).items[0].deprecated);
        }
        assert_eq!(world.find(&id).deprecation, None);
    });
}

#[test]
fn i6_a_use_of_what_is_not_there_is_an_error_that_changes_nothing() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        let before = world.export();
        let mut report = world.report("r1", "Retry the failed download", true);
        report.used = vec!["improvement_of_nobody".parse().unwrap()];
        let fault = world.fault(report);
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.message.contains("improvement_of_nobody"), "{fault}");
        assert_eq!(world.export(), before);
    });
}
