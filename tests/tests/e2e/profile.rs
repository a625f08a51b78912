//! How an agent judges its own work (spec E3).

use memoryd_proto::{Category, Code, Criterion, CriterionScore, Graded, Profile, ProfileOf, SetProfile};
use memoryd_tests::{agent, everywhere, quality};

fn profile(weights: &[(&str, f64)]) -> Profile {
    Profile {
        agent: agent("finder"),
        criteria: weights.iter().map(|&(name, weight)| Criterion { name: name.to_owned(), weight }).collect(),
        categories: vec![Category {
            name: "error_handling".to_owned(),
            description: "When something failed".to_owned(),
        }],
    }
}

fn scores(given: &[(&str, f64)]) -> Graded {
    let score =
        |&(name, score): &(&str, f64)| CriterionScore { criterion: name.to_owned(), score: quality(score) };
    Graded::Criteria(given.iter().map(score).collect())
}

#[test]
fn e3_quality_is_the_weighted_mean_and_every_criterion_must_be_scored_once() {
    everywhere(|world| {
        world.ask(SetProfile { profile: profile(&[("accuracy", 60.0), ("speed", 40.0)]) });
        let report = |id, graded| {
            let mut report = world.report(id, "Find the function", true);
            report.quality = graded;
            report
        };
        let learned = world.ask(report("r1", scores(&[("speed", 50.0), ("accuracy", 90.0)])));
        assert_eq!(learned.evaluation.quality, quality(74.0));
        assert_eq!(learned.evaluation.criteria.len(), 2);
        for (wrong, named) in [
            (scores(&[("accuracy", 90.0)]), "speed"),
            (scores(&[("accuracy", 90.0), ("speed", 50.0), ("style", 1.0)]), "style"),
            (scores(&[("accuracy", 90.0), ("speed", 50.0), ("speed", 60.0)]), "speed"),
        ] {
            let fault = world.fault(report("r2", wrong));
            assert_eq!(fault.code, Code::Invalid);
            assert!(fault.message.contains(named) && fault.advice.contains("accuracy, speed"), "{fault}");
        }
    });
}

#[test]
fn e3_weights_that_do_not_sum_to_a_hundred_are_refused() {
    everywhere(|world| {
        let good = profile(&[("accuracy", 60.0), ("speed", 40.0)]);
        world.ask(SetProfile { profile: good.clone() });
        for wrong in
            [&[("accuracy", 60.0), ("speed", 41.0)][..], &[("a", 150.0), ("b", -50.0)], &[("a", f64::NAN)]]
        {
            let fault = world.fault(SetProfile { profile: profile(wrong) });
            assert_eq!(fault.code, Code::Invalid);
        }
        assert_eq!(world.ask(ProfileOf { agent: agent("FINDER") }), good);
    });
}

#[test]
fn e3_a_category_that_the_profile_lacks_is_stored_and_flagged() {
    everywhere(|world| {
        let gardening = |text: &str| {
            let mut lesson = world.lesson(text);
            lesson.category = "gardening".to_owned();
            lesson
        };
        assert!(!world.keep(gardening("Water the tomatoes early")).unknown_category);
        world.ask(SetProfile { profile: profile(&[]) });
        let flagged = world.keep(gardening("Prune the roses in spring"));
        assert!(flagged.unknown_category);
        assert_eq!(flagged.kept.len(), 1);
        assert!(!world.keep(world.lesson("Retry a failed download")).unknown_category);
    });
}

#[test]
fn e3_an_agent_without_a_profile_has_an_empty_one() {
    everywhere(|world| {
        let empty = Profile { agent: agent("finder"), criteria: Vec::new(), categories: Vec::new() };
        assert_eq!(world.ask(ProfileOf { agent: agent("finder") }), empty);
    });
}
