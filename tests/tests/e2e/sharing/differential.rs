//! The same operations lead to the same memory with and without a server, whatever they are, and the server holds it.
//!
//! `MEMORYD_CASES` sets how many sequences are tried.

use memoryd::clock::TurnedClock;
use memoryd_proto::{
    Deprecate, Edit, Export, ImprovementId, Journal, Project, Recall, Remember, Report, Restore, Serve,
    Service, Undo,
};
use memoryd_tests::{Running, agent, confidence};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Living, Shared, agrees};
use crate::crash::number;

/// What agents do. Items are named by their place among those that were stored.
#[derive(Clone, Debug)]
enum Act {
    Remember { agent: u8, text: u8, confidence: u8, project: bool },
    Edit { item: u8, text: u8 },
    Deprecate { item: u8 },
    Restore { item: u8 },
    Delete { item: u8 },
    Report { text: u8, used: u8, success: bool },
    Undo { back: u8 },
    Wait { hours: u8 },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..3_u8, 0..12_u8, 50..100_u8, any::<bool>())
            .prop_map(|(agent, text, confidence, project)| Act::Remember { agent, text, confidence, project }),
        1 => (0..8_u8, 0..12_u8).prop_map(|(item, text)| Act::Edit { item, text }),
        1 => (0..8_u8).prop_map(|item| Act::Deprecate { item }),
        1 => (0..8_u8).prop_map(|item| Act::Restore { item }),
        1 => (0..8_u8).prop_map(|item| Act::Delete { item }),
        3 => (0..12_u8, 0..8_u8, any::<bool>())
            .prop_map(|(text, used, success)| Act::Report { text, used, success }),
        1 => (0..3_u8).prop_map(|back| Act::Undo { back }),
        1 => (1..50_u8).prop_map(|hours| Act::Wait { hours }),
    ]
}

const AGENTS: [&str; 3] = ["finder", "coder", "Tester"];
const THINGS: [&str; 6] = ["valve", "pump", "lamp", "belt", "gauge", "cable"];

fn text(n: u8) -> String {
    let thing = THINGS[usize::from(n) % THINGS.len()];
    if n.is_multiple_of(2) {
        format!("Check the {thing} before it starts")
    } else {
        format!("Replace a worn {thing} at once")
    }
}

struct Side<'a> {
    daemon: &'a Running,
    clock: &'a TurnedClock,
    ids: Vec<(memoryd_proto::AgentName, ImprovementId)>,
    reports: u32,
}

impl<'a> Side<'a> {
    fn service(&self) -> &'a (dyn Service + 'static) {
        self.daemon.app()
    }

    fn item(&self, n: u8) -> Option<(memoryd_proto::AgentName, ImprovementId)> {
        self.ids.get(usize::from(n) % self.ids.len().max(1)).cloned()
    }

    /// Does it, and tells what was answered.
    fn act(&mut self, act: &Act) -> String {
        let service = self.service();
        match act {
            Act::Remember { agent: who, text: what, confidence: sure, project } => {
                let who = agent(AGENTS[usize::from(*who)]);
                let mut call = Remember::new(
                    who.clone(),
                    "error_handling",
                    confidence(f64::from(*sure) / 100.0),
                    &text(*what),
                );
                call.project = project.then(|| Project::Hash("0123456789ab".parse().unwrap()));
                let answer = Serve::serve(service, call);
                if let Ok(kept) = &answer {
                    let known = kept.kept.iter().map(|one| (who.clone(), one.id.clone()));
                    self.ids.extend(known.collect::<Vec<_>>());
                }
                format!("{answer:?}")
            }
            Act::Edit { item, text: what } => self.item(*item).map_or_else(String::new, |(who, id)| {
                let call = Edit {
                    agent: Some(who),
                    id,
                    document: Some(text(*what)),
                    category: None,
                    confidence: None,
                    tags: Some(vec!["edited".to_owned(), "a,b".to_owned()]),
                    context_tags: None,
                };
                format!("{:?}", Serve::serve(service, call))
            }),
            Act::Deprecate { item } => self.item(*item).map_or_else(String::new, |(who, id)| {
                format!(
                    "{:?}",
                    Serve::serve(service, Deprecate { agent: Some(who), id, reason: "old".to_owned() })
                )
            }),
            Act::Restore { item } => self.item(*item).map_or_else(String::new, |(who, id)| {
                format!("{:?}", Serve::serve(service, Restore { agent: Some(who), id }))
            }),
            Act::Delete { item } => self.item(*item).map_or_else(String::new, |(who, id)| {
                let call = memoryd_proto::DeleteImprovement { agent: Some(who), id };
                format!("{:?}", Serve::serve(service, call))
            }),
            Act::Report { text: what, used, success } => {
                self.reports += 1;
                let (who, id) =
                    self.item(*used).unwrap_or_else(|| (agent("finder"), "none".parse().unwrap()));
                let recalled = Serve::serve(service, Recall::new(who.clone(), &text(*what))).unwrap();
                let id_of_report = format!("r{}", self.reports).parse().unwrap();
                let mut report = Report::new(id_of_report, who, &text(*what), *success);
                report.used =
                    recalled.items.iter().map(|item| item.id.clone()).filter(|one| *one == id).collect();
                report.recall = Some(recalled.recall.clone());
                format!("{recalled:?} {:?}", Serve::serve(service, report))
            }
            Act::Undo { back } => {
                let page = Serve::serve(service, Journal::default()).unwrap();
                let Some(operation) = page.operations.get(usize::from(*back)) else { return String::new() };
                format!("{:?}", Serve::serve(service, Undo { operation: operation.id }))
            }
            Act::Wait { hours } => {
                self.clock.turn(chrono::TimeDelta::hours(i64::from(*hours)));
                String::new()
            }
        }
    }

    fn everything(&self) -> String {
        let page = Serve::serve(self.service(), Export { agent: None, after: None }).unwrap();
        page.records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
    }
}

#[test]
fn d2_the_same_operations_lead_to_the_same_memory_with_and_without_a_server() {
    let cases = u32::try_from(number("MEMORYD_CASES", 12)).unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let tried = runner.run(&prop::collection::vec(act(), 1..40), |acts| {
        let Some(shared) = Shared::new() else { return Ok(()) };
        let alone = Living::new("");
        let mut with = Side { daemon: &shared.daemon, clock: &shared.clock, ids: Vec::new(), reports: 0 };
        let mut without = Side { daemon: &alone.daemon, clock: &alone.clock, ids: Vec::new(), reports: 0 };
        for act in &acts {
            let (here, there) = (with.act(act), without.act(act));
            let there = there
                .replace(&alone.home.path().display().to_string(), &shared.home.path().display().to_string());
            prop_assert_eq!(here, there, "{:?}", act);
        }
        shared.daemon.app().exchange().unwrap();
        prop_assert_eq!(with.everything(), without.everything());
        agrees(&shared.world());
        // What is read back says nothing new.
        shared.settle();
        alone.clock.turn(chrono::TimeDelta::minutes(11));
        prop_assert_eq!(with.everything(), without.everything());
        Ok(())
    });
    eprintln!("{cases} sequences of up to 39 operations, the same in both");
    tried.unwrap();
}
