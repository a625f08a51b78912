//! What agents do in a year: they recall, work, succeed or fail, report, and learn what is right and what is not.

use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};
use memoryd_client::Client;
use memoryd_proto::{
    AgentName, Graded, Import, Insight, LearningKind, LogNote, NewNote, PromoteNote, Recall, Remember,
    Report, ScopeChoice, ShareNote,
};
use memoryd_tests::{agent, confidence, quality};

const TOPICS: [&str; 16] = [
    "the upload of large files",
    "the nightly backup",
    "the login form",
    "the search index",
    "the mail queue",
    "the payment webhook",
    "the image cache",
    "the release script",
    "the database migration",
    "the log rotation",
    "the price feed",
    "the calendar sync",
    "the session store",
    "the report export",
    "the feature flags",
    "the address parser",
];

const TROUBLES: [&str; 6] = [
    "stalls after a few minutes",
    "fails with a timeout",
    "returns stale data",
    "leaks file handles",
    "breaks on leap days",
    "runs twice at once",
];

const GOOD: [&str; 4] = [
    "set a deadline on every call and retry with growing pauses",
    "hold a lock while it runs and release it in a finally block",
    "close what was opened in the reverse order",
    "keep instants in UTC and convert at the edges",
];

const BAD: [&str; 3] =
    ["raise the timeout to an hour", "restart the whole machine", "ignore the error and go on"];

/// Numbers that are the same for the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

/// The agents of one daemon.
pub struct Life {
    dice: Dice,
    agents: Vec<AgentName>,
    /// Tasks done so far.
    pub tasks: u64,
    /// What the user said they prefer.
    pub preferences: Vec<String>,
}

impl Life {
    pub fn new(seed: u64) -> Self {
        let agents = ["ada", "bert", "Cleo", "dora", "emil"].map(agent).to_vec();
        Self { dice: Dice::new(seed + 100), agents, tasks: 0, preferences: Vec::new() }
    }

    /// Some of the agents do a task each, and now and then somebody writes down a lesson.
    pub fn work(&mut self, client: &Client, now: DateTime<Utc>) {
        for whose in self.agents.clone() {
            if self.dice.below(3) > 0 {
                self.task(client, &whose);
            }
        }
        if self.dice.below(6) == 0 {
            let whose = self.agents[usize::try_from(self.dice.below(5)).unwrap()].clone();
            let (lesson, _) = self.lesson();
            let remember = Remember {
                context_tags: vec![self.dice.of(&["backend", "frontend", "data"]).to_owned()],
                learned_from: Some(format!("notes of {}", now.date_naive())),
                scope: Some(ScopeChoice::Global),
                ..Remember::new(whose, "error_handling", confidence(0.75), &lesson)
            };
            client.call(remember).unwrap();
        }
    }

    /// The user puts something right, or the project teaches something, and it is written down for others.
    pub fn note(&mut self, client: &Client, project: &Path) {
        let (lesson, _) = self.lesson();
        let (topic, trouble) = (self.dice.of(&TOPICS), self.dice.of(&TROUBLES));
        let summary = format!("{topic} {trouble}");
        let log = |entry| client.call(LogNote { entry, project: Some(project.to_owned()) }).unwrap();
        match self.dice.below(16) {
            0..7 => {
                let correction = format!("No. {lesson}");
                log(NewNote::Correction { summary, context: topic.to_owned(), correction, rule: lesson });
            }
            7..11 => {
                let (kind, context) = (LearningKind::Pattern, topic.to_owned());
                log(NewNote::Learning {
                    kind,
                    summary,
                    context,
                    situation: trouble.to_owned(),
                    rule: lesson,
                });
            }
            11 if self.preferences.len() < 40 => {
                let rule = format!(
                    "Prefer {} for {topic}, please",
                    ["tabs", "tests", "types"][self.preferences.len() % 3]
                );
                log(NewNote::Preference { rule: rule.clone() });
                self.preferences.push(rule);
            }
            _ => {
                let share = ShareNote {
                    title: summary,
                    from: "app".to_owned(),
                    relevance: "code".to_owned(),
                    insight: trouble.to_owned(),
                    rule: lesson,
                };
                let shared = client.call(share).unwrap();
                if self.dice.below(2) == 0 {
                    let file = Path::new(&shared.places[0].file);
                    let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
                    client.call(PromoteNote { name, domain: None }).unwrap();
                }
            }
        }
    }

    /// Lines that somebody pastes into a file.
    pub fn lines(&mut self, count: usize, day: NaiveDate) -> Vec<String> {
        (0..count).map(|_| format!("- **{}** (from: app, first noted: {day})\n", self.lesson().0)).collect()
    }

    /// Somebody brings along what failed elsewhere: it is deprecated at the next occasion.
    pub fn bring(&mut self, client: &Client, now: DateTime<Utc>) {
        let whose = self.agents[usize::try_from(self.dice.below(5)).unwrap()].clone();
        let record = serde_json::json!({ "improvement": {
            "id": format!("brought_{}", now.date_naive()), "agent": whose, "scope": "global",
            "category": "error_handling", "document": format!("Brought along on {}: reboot twice", now.date_naive()),
            "learned_from": null, "confidence": 0.8, "created_at": now, "original_id": null,
            "cross_validation": null, "deprecation": null, "promotion": null,
            "usage": {
                "usage_count": 12, "success_count": 2, "failure_count": 10, "success_rate": 2.0 / 12.0,
                "last_used": now, "access_count": 12, "last_accessed": now, "q_value": 0.2,
            },
        }});
        let records = vec![serde_json::from_value(record).unwrap()];
        assert_eq!(client.call(Import { records, dry_run: false }).unwrap().added, 1);
    }

    /// What is found for a question, to be compared.
    pub fn probe(&self, client: &Client) -> Vec<String> {
        let recalled =
            client.call(Recall::new(self.agents[0].clone(), "The nightly backup fails with a timeout"));
        recalled.unwrap().items.into_iter().map(|item| item.document).collect()
    }

    /// A lesson, and whether it is right. The same lesson is put in several ways.
    fn lesson(&mut self) -> (String, bool) {
        let (topic, trouble) = (self.dice.of(&TOPICS), self.dice.of(&TROUBLES));
        let right = self.dice.below(3) > 0;
        let remedy = if right { self.dice.of(&GOOD) } else { self.dice.of(&BAD) };
        let lesson = match self.dice.below(3) {
            0 => format!("When {topic} {trouble}, {remedy}."),
            1 => format!("If {topic} {trouble}, then {remedy}."),
            _ => format!("Whenever {topic} {trouble}, please {remedy}."),
        };
        (lesson, right)
    }

    fn task(&mut self, client: &Client, whose: &AgentName) {
        self.tasks += 1;
        let (topic, trouble) = (self.dice.of(&TOPICS), self.dice.of(&TROUBLES));
        let task = format!("{topic} {trouble}");
        let recalled = client.call(Recall::new(whose.clone(), &task)).unwrap();
        let used = recalled.items.first();
        let misled = used.is_some_and(|item| BAD.iter().any(|bad| item.document.contains(bad)));
        let success = self.dice.below(100) < if misled { 15 } else { 92 };
        let mut report =
            Report::new(format!("task-{}", self.tasks).parse().unwrap(), whose.clone(), &task, success);
        report.quality = Graded::Overall(quality(if success { 85.0 } else { 40.0 }));
        report.time_taken_ms = Some(1000 + self.dice.below(9000));
        report.used = used.map(|item| item.id.clone()).into_iter().collect();
        // One task in twelve is never reported.
        if self.dice.below(12) == 0 {
            return;
        }
        report.recall = Some(recalled.recall);
        if self.dice.below(4) == 0 {
            let (text, _) = self.lesson();
            report.insights.push(Insight {
                text,
                category: "error_handling".to_owned(),
                confidence: confidence(0.8),
            });
        }
        client.call(report).unwrap();
    }
}
