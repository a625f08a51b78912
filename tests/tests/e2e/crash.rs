//! Death at any moment: what was acknowledged is there, and what was not is whole or absent (spec E2; faults 1, 13).
//!
//! `MEMORYD_KILLS` sets how often the daemon is killed, `MEMORYD_SEED` repeats a run.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use memoryd_client::Client;
use memoryd_proto::{
    AgentName, Code, ContextName, Evaluation, Export, Fault, Import, Improvement, ImprovementId, Insight,
    Outcome, Recall, Record, Remember, Report, Scope,
};
use memoryd_tests::{Home, Process, agent, confidence, start_of_time};

const CLIENTS: u64 = 4;

/// Records of one import.
const BATCH: u64 = 40;

/// Numbers that are the same for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().unwrap())
}

/// What a client did.
enum Done {
    Remembered(ImprovementId, String),
    Reported(Box<Report>),
    Imported(u64),
    /// The daemon went away in the middle of this.
    Cut(Attempt),
}

enum Attempt {
    Remember,
    Recall,
    Report(Box<Report>),
    Import(u64),
}

fn insight(n: u64) -> String {
    format!("Insight {n}: open shutter {n} when lamp {n} is lit")
}

fn imported(batch: u64, n: u64) -> Improvement {
    let lesson = format!("Batch {batch} item {n}: grease bearing {batch}-{n} in spring");
    let record = serde_json::json!({
        "id": format!("batch_{batch}_{n}"), "agent": "importer", "scope": "global", "category": "code_quality",
        "document": lesson, "learned_from": null, "confidence": 0.8, "created_at": start_of_time(),
        "original_id": null, "cross_validation": null, "deprecation": null, "promotion": null,
    });
    serde_json::from_value(record).unwrap()
}

/// Remembers, recalls, reports and imports until the daemon is gone. Reports use the improvement `used`.
fn work(client: &Client, used: &ImprovementId, count: &AtomicU64, done: &Sender<Done>) {
    let tell = |what| done.send(what).is_ok();
    loop {
        let n = count.fetch_add(1, Ordering::Relaxed);
        let document = format!("Rule {n}: check pump {n} before valve {n}");
        let remember = Remember::new(agent("worker"), "error_handling", confidence(0.8), &document);
        match client.call(remember) {
            Ok(kept) => tell(Done::Remembered(kept.kept[0].id.clone(), document)),
            Err(fault) => return cut(done, Attempt::Remember, &fault),
        };
        let task = format!("Task {n}: tighten the conveyor belt");
        let recalled = match client.call(Recall::new(agent("worker"), "tighten the conveyor belt")) {
            Ok(recalled) => recalled,
            Err(fault) => return cut(done, Attempt::Recall, &fault),
        };
        let mut report = Report::new(format!("report-{n}").parse().unwrap(), agent("worker"), &task, true);
        report.recall = Some(recalled.recall);
        report.used = vec![used.clone()];
        report.insights.push(Insight {
            text: insight(n),
            category: "error_handling".to_owned(),
            confidence: confidence(0.8),
        });
        match client.call(report.clone()) {
            Ok(_) => tell(Done::Reported(Box::new(report))),
            Err(fault) => return cut(done, Attempt::Report(Box::new(report)), &fault),
        };
        if n.is_multiple_of(5) {
            let records = (0..BATCH).map(|item| Record::Improvement(imported(n, item))).collect();
            match client.call(Import { records, dry_run: false }) {
                Ok(answer) => {
                    assert_eq!((answer.added, answer.refused.len()), (BATCH, 0));
                    tell(Done::Imported(n));
                }
                Err(fault) => return cut(done, Attempt::Import(n), &fault),
            }
        }
    }
}

/// A call that the daemon's death cuts short fails at once, and says so.
fn cut(done: &Sender<Done>, attempt: Attempt, fault: &Fault) {
    assert_eq!(fault.code, Code::Unavailable, "{fault}");
    let _ = done.send(Done::Cut(attempt));
}

/// What is stored, in the shape in which it is checked.
struct Stored {
    improvements: BTreeMap<(AgentName, String), Improvement>,
    evaluations: BTreeMap<String, Evaluation>,
    outcomes: Vec<Outcome>,
    interactions: BTreeMap<ContextName, u64>,
}

fn stored(client: &Client) -> Stored {
    let mut stored = Stored {
        improvements: BTreeMap::new(),
        evaluations: BTreeMap::new(),
        outcomes: Vec::new(),
        interactions: BTreeMap::new(),
    };
    let mut after = None;
    loop {
        let page = client.call(Export { agent: None, after }).unwrap();
        for record in page.records {
            match record {
                Record::Improvement(one) => {
                    assert_eq!(one.scope, Scope::Global);
                    let key = (one.agent.clone(), one.id.as_str().to_owned());
                    assert!(stored.improvements.insert(key, one).is_none());
                }
                Record::Evaluation(one) => {
                    let task = one.task.clone();
                    assert!(stored.evaluations.insert(task, one).is_none(), "a report counted twice");
                }
                Record::Outcome(one) => stored.outcomes.push(one),
                Record::Context(one) => {
                    stored.interactions.insert(one.context, one.interactions);
                }
                Record::Profile(_) | Record::Snapshot(_) | Record::Review(_) => panic!("nobody made one"),
            }
        }
        after = page.next;
        if after.is_none() {
            return stored;
        }
    }
}

#[derive(Default)]
struct Acknowledged {
    remembered: Vec<(ImprovementId, String)>,
    reported: Vec<Report>,
    imported: Vec<u64>,
    /// Imports that were cut short.
    open: Vec<u64>,
}

impl Acknowledged {
    fn check(&self, stored: &Stored, used: &ImprovementId) {
        let worker = agent("worker");
        for (id, document) in &self.remembered {
            let found = stored.improvements.get(&(worker.clone(), id.as_str().to_owned()));
            assert_eq!(found.map(|one| &one.document), Some(document), "{id} was acknowledged");
        }
        for report in &self.reported {
            let found = stored.evaluations.get(&report.task);
            assert_eq!(found.map(|one| &one.recall), Some(&report.recall), "{} was acknowledged", report.id);
        }
        let of_batch = |batch: u64| {
            let present = |n: &u64| {
                stored.improvements.contains_key(&(agent("importer"), format!("batch_{batch}_{n}")))
            };
            (0..BATCH).filter(present).count() as u64
        };
        for batch in &self.imported {
            assert_eq!(of_batch(*batch), BATCH, "import {batch} was acknowledged");
        }
        for batch in &self.open {
            assert!([0, BATCH].contains(&of_batch(*batch)), "import {batch} is neither whole nor absent");
        }

        // A report is whole: with each evaluation its insight, its use, its outcome and its interaction, and none of
        // them without it.
        let documents: HashSet<&str> =
            stored.improvements.values().map(|one| one.document.as_str()).collect();
        for evaluation in stored.evaluations.values() {
            assert_eq!(evaluation.insights.len(), 1);
            assert!(
                documents.contains(evaluation.insights[0].text.as_str()),
                "{} lost its insight",
                evaluation.task
            );
            let outcomes = stored.outcomes.iter().filter(|outcome| outcome.task == evaluation.task);
            assert_eq!(outcomes.count(), 1, "{} has not one outcome", evaluation.task);
        }
        let insights = documents.iter().filter(|document| document.starts_with("Insight ")).count();
        let reports = stored.evaluations.len();
        assert_eq!(insights, reports);
        assert_eq!(stored.outcomes.len(), reports);
        let usage = &stored.improvements[&(worker, used.as_str().to_owned())].usage;
        assert_eq!((usage.usage_count, usage.success_count), (reports as u64, reports as u64));
        assert_eq!(stored.interactions.values().sum::<u64>(), reports as u64);
    }
}

#[test]
fn kill_9_under_load_loses_nothing_acknowledged_and_leaves_every_report_whole_or_absent() {
    let (kills, seed) = (number("MEMORYD_KILLS", 8), number("MEMORYD_SEED", 0x5eed));
    let mut dice = Dice(seed);
    let home = Home::new();
    let count = AtomicU64::new(0);
    let mut all = Acknowledged::default();
    let mut daemon = Process::start(&home);
    let belt = "Loosen the screws, tighten the conveyor belt, fasten the screws";
    let belt = Remember::new(agent("worker"), "error_handling", confidence(0.8), belt);
    let used = daemon.client().call(belt).unwrap().kept[0].id.clone();
    let mut cut_short = 0;
    for _ in 0..kills {
        let (tell, told) = mpsc::channel();
        let mut open = Vec::new();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let (home, used, count, tell) = (&home, &used, &count, tell.clone());
                scope.spawn(move || work(&home.client(), used, count, &tell));
            }
            drop(tell);
            // Anywhere in the work: after so many acknowledgements, and a moment more.
            let until = 1 + dice.below(60);
            let mut acknowledged = 0;
            let mut victim = Some(daemon);
            while let Ok(done) = told.recv() {
                match done {
                    Done::Remembered(id, document) => all.remembered.push((id, document)),
                    Done::Reported(report) => all.reported.push(*report),
                    Done::Imported(batch) => all.imported.push(batch),
                    Done::Cut(attempt) => {
                        cut_short += 1;
                        match attempt {
                            Attempt::Report(report) => open.push(*report),
                            Attempt::Import(batch) => all.open.push(batch),
                            Attempt::Remember | Attempt::Recall => {}
                        }
                    }
                }
                acknowledged += 1;
                if acknowledged >= until
                    && let Some(victim) = victim.take()
                {
                    std::thread::sleep(Duration::from_micros(dice.below(20_000)));
                    victim.kill9();
                }
            }
        });
        daemon = Process::start(&home);
        all.check(&stored(daemon.client()), &used);
        // Whoever got no answer sends the report again; then it counts once, whether it had arrived or not.
        for report in open {
            daemon.client().call(report.clone()).unwrap();
            all.reported.push(report);
        }
        all.check(&stored(daemon.client()), &used);
    }
    println!(
        "{kills} kills with seed {seed:#x}: {} memories, {} reports and {} imports acknowledged, {cut_short} calls cut short",
        all.remembered.len(),
        all.reported.len(),
        all.imported.len()
    );
}

#[test]
fn kill_9_during_an_import_leaves_it_whole_or_absent() {
    let mut dice = Dice(number("MEMORYD_SEED", 0x1a9));
    let home = Home::new();
    for batch in 0..3 {
        let daemon = Process::start(&home);
        let records: Vec<Record> = (0..BATCH).map(|n| Record::Improvement(imported(batch, n))).collect();
        let answered = std::thread::scope(|scope| {
            let client = home.client();
            client.greet().unwrap();
            let import = scope.spawn(move || client.call(Import { records, dry_run: false }));
            std::thread::sleep(Duration::from_micros(dice.below(400_000)));
            daemon.kill9();
            import.join().unwrap()
        });
        let daemon = Process::start(&home);
        let stored = stored(daemon.client());
        let present = stored.improvements.keys().filter(|(_, id)| id.starts_with(&format!("batch_{batch}_")));
        let present = present.count() as u64;
        match answered {
            Ok(answer) => assert_eq!((answer.added, present), (BATCH, BATCH)),
            Err(fault) => {
                assert_eq!(fault.code, Code::Unavailable);
                assert!([0, BATCH].contains(&present), "{present} of {BATCH} records are there");
            }
        }
        // What is there is found.
        let recall = Recall::new(agent("importer"), "grease the bearing in spring");
        let recalled = daemon.client().call(recall).unwrap();
        assert_eq!(recalled.items.len(), stored.improvements.len().min(5));
    }
}
