//! What is kept, and what counts as evidence for it (spec I4, I5).

use memoryd_proto::{Code, Keeping, Standing};
use memoryd_tests::{confidence, documents, everywhere};

#[test]
fn i4_the_bands_of_confidence() {
    everywhere(|world| {
        let keep = |value: f64, document: &str| {
            let mut lesson = world.lesson(document);
            lesson.confidence = confidence(value);
            lesson
        };
        let sure = world.keep(keep(0.7, "Read the schema before writing a query"));
        assert_eq!(sure.kept[0].how, Keeping::Stored);
        let unsure = world.keep(keep(0.69, "Warm the cache before measuring latency"));
        assert_eq!(unsure.kept[0].how, Keeping::Candidate);
        let before = world.export();
        let fault = world.fault(keep(0.49, "Guess the port of the staging server"));
        assert_eq!(fault.code, Code::Invalid);
        assert!(
            fault.message.contains("0.49") && fault.advice.contains("0.5") && fault.advice.contains("0.7"),
            "{fault}"
        );
        assert_eq!(world.export(), before);
    });
}

#[test]
fn i4_a_candidate_is_recalled_once_another_source_lifts_it_past_the_band() {
    everywhere(|world| {
        let stated = |source: &str| {
            let mut lesson = world.lesson("Warm the cache before measuring latency");
            lesson.confidence = confidence(0.5);
            lesson.learned_from = Some(source.to_owned());
            lesson
        };
        let query = "warm the cache before measuring latency";
        let first = world.keep(stated("task 1"));
        assert_eq!(first.kept[0].how, Keeping::Candidate);
        assert_eq!(documents(&world.recall(query)), [""; 0]);

        // The same source says nothing new.
        let again = world.keep(stated("task 1"));
        assert_eq!((again.kept[0].how, again.operation), (Keeping::Known, None));
        assert_eq!(documents(&world.recall(query)), [""; 0]);

        // 1 − (1 − 0.5)² = 0.75
        let other = world.keep(stated("task 2"));
        assert_eq!(other.kept[0].how, Keeping::Confirmed);
        assert_eq!(other.kept[0].id, first.kept[0].id);
        assert!((other.kept[0].confidence.get() - 0.75).abs() < 1e-12);
        assert_eq!(documents(&world.recall(query)), ["Warm the cache before measuring latency"]);
    });
}

#[test]
fn i5_independent_sources_raise_confidence_up_to_the_cap() {
    everywhere(|world| {
        for source in 0..6 {
            let mut lesson = world.lesson("Pin the toolchain in continuous integration");
            lesson.learned_from = Some(format!("task {source}"));
            world.keep(lesson);
        }
        let all = world.improvements();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].confidence, confidence(0.95));
        assert_eq!(all[0].corroborations, 5);
    });
}

#[test]
fn i5_one_text_stored_a_thousand_times_is_one_improvement_and_no_gain() {
    everywhere(|world| {
        let id = world.remember("Pin the toolchain in continuous integration");
        let before = world.export();
        for _ in 1..1000 {
            let again = world.keep(world.lesson("  pin the toolchain in CONTINUOUS integration. "));
            assert_eq!(again.kept[0].id, id);
            assert_eq!((again.kept[0].how, again.operation), (Keeping::Known, None));
        }
        assert_eq!(world.export(), before);
    });
}

#[test]
fn i5_recalled_text_fed_back_fifty_times_is_one_improvement_and_no_gain() {
    everywhere(|world| {
        let id = world.remember("Pin the toolchain in continuous integration");
        let before = world.find(&id);
        for round in 0..50 {
            let recalled = world.recall("which toolchain does continuous integration use? pin the toolchain");
            assert_eq!(recalled.items.len(), 1);
            let mut lesson = world.lesson(&recalled.items[0].document);
            lesson.learned_from = Some(format!("session {round}"));
            lesson.confidence = confidence(0.9);
            assert_eq!(world.keep(lesson).kept[0].how, Keeping::Known);
        }
        let all = world.improvements();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].confidence, before.confidence);
        assert_eq!(all[0].usage.q_value, before.usage.q_value);
        assert_eq!(all[0].corroborations, 0);
        assert_eq!(all[0].usage.access_count, 50);
    });
}

#[test]
fn i5_a_paraphrase_corroborates_and_a_number_or_a_negation_does_not() {
    everywhere(|world| {
        let id = world.remember("Always retry the download 3 times before giving up");
        let mut paraphrase = world.lesson("Always retry the download 3 times before you give up");
        paraphrase.learned_from = Some("another task".to_owned());
        let kept = world.keep(paraphrase);
        assert_eq!(kept.kept[0].id, id);
        assert_eq!(kept.kept[0].how, Keeping::Corroborated);
        for other in [
            "Always retry the download 5 times before giving up",
            "Never retry the download 3 times before giving up",
            "Always retry the download 3 times after giving up",
        ] {
            assert_eq!(world.keep(world.lesson(other)).kept[0].how, Keeping::Stored, "{other}");
        }
        assert_eq!(world.improvements().len(), 4);
    });
}

#[test]
fn i4_standing_shows_what_waits() {
    everywhere(|world| {
        let mut lesson = world.lesson("Warm the cache before measuring latency");
        lesson.confidence = confidence(0.6);
        world.keep(lesson);
        world.remember("Read the schema before writing a query");
        let with = |standing| {
            let asked = memoryd_proto::Improvements { standing: Some(standing), ..Default::default() };
            world.ask(asked).improvements.into_iter().map(|one| one.document).collect::<Vec<_>>()
        };
        assert_eq!(with(Standing::Candidate), ["Warm the cache before measuring latency"]);
        assert_eq!(with(Standing::Active), ["Read the schema before writing a query"]);
        assert_eq!(with(Standing::Deprecated), [""; 0]);
    });
}
