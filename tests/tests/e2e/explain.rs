//! Why a recall answered what it did, also for what it did not return (spec Q9).

use std::collections::BTreeMap;

use memoryd_proto::{Deprecate, Explain, Recall, RecallOutcome, Report, Verdict};
use memoryd_tests::{agent, confidence, everywhere};

#[test]
fn q9_every_item_is_explained_whether_it_passed_or_fell() {
    everywhere(|world| {
        let lesson = |metal: &str| format!("Check the {metal} pump before opening the valve");
        let returned = world.remember(&lesson("copper"));
        let outranked = world.remember(&lesson("zinc"));
        let deprecated = world.remember(&lesson("iron"));
        world.ask(Deprecate { agent: None, id: deprecated.clone(), reason: "sold".to_owned() });
        let mut unsure = world.lesson(&lesson("steel"));
        unsure.confidence = confidence(0.6);
        let candidate = world.keep(unsure).kept[0].id.clone();
        let failing = world.remember(&lesson("brass"));
        world.ask(Report { used: vec![failing.clone()], ..world.report("r1", "Paint the fence", false) });
        let irrelevant = world.remember("Pin the toolchain in continuous integration");

        let mut recall = Recall::new(agent("finder"), "check the copper pump before opening the valve");
        recall.limit = 1;
        let recalled = world.ask(recall);
        let explained = world.ask(Explain { recall: recalled.recall.clone() });
        let verdicts: BTreeMap<_, _> = explained.items.iter().map(|item| (&item.id, item.verdict)).collect();
        let expected = [
            (&returned, Verdict::Returned),
            (&outranked, Verdict::Outranked),
            (&deprecated, Verdict::Deprecated),
            (&candidate, Verdict::Candidate),
            (&failing, Verdict::LowSuccess),
            (&irrelevant, Verdict::Irrelevant),
        ];
        assert_eq!(verdicts, BTreeMap::from(expected));
        assert_eq!(explained.items[0].why, recalled.items[0].why, "the explanation is the recall's own");

        assert_eq!(explained.items[0].words, ["check", "copper", "pump", "before", "opening", "valve"]);
        let unrelated = explained.items.last().map(|item| item.words.len());
        assert_eq!(unrelated, Some(0), "an item that shares no word says so");

        assert_eq!(explained.recall, recalled.recall);
        assert_eq!(explained.agent, agent("finder"));
        assert_eq!(explained.query, "check the copper pump before opening the valve");
        assert_eq!((explained.context.as_str(), explained.gate), ("coding", 0.6));
        assert_eq!(explained.outcome, RecallOutcome::Open);
        for item in &explained.items {
            let why = &item.why;
            let score = ((1.0 - why.alpha) * why.relevance + why.alpha * why.q) * why.multiplier;
            assert!((why.score - score).abs() < 1e-12, "{why:?}");
            assert_eq!(item.verdict == Verdict::Irrelevant, why.relevance < explained.gate, "{item:?}");
        }
    });
}

#[test]
fn q9_an_explanation_tells_what_was_true_then() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        let recalled = world.recall("retry a failed download");
        let before = world.ask(Explain { recall: recalled.recall.clone() });
        world.ask(memoryd_proto::DeleteImprovement { agent: None, id });
        let after = world.ask(Explain { recall: recalled.recall });
        assert_eq!(after.items, before.items);
        assert_eq!(after.items[0].document, "Retry a failed download with exponential backoff");
    });
}
