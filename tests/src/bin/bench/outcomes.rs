//! `outcomes`: does recall learn from outcomes which memories help?

use std::collections::HashMap;

use anyhow::Context;
use memoryd_client::Client;
use memoryd_proto::{AgentName, Confidence, ImprovementId, Recall, Remember, Report, ScopeChoice};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{Estimator, Outcomes};
use crate::daemon::Home;
use crate::jsonl;
use crate::measure::{count, rounded};
use crate::output::{self, Table};

/// Tasks at the start and at the end that are looked at by themselves.
const WINDOW: usize = 1000;

/// The key of the attribute that holds a lesson's action.
const ACTION: &str = "action";

/// A lesson or a task, and the action that it names or asks for.
#[derive(Deserialize)]
struct Line {
    id: String,
    text: String,
    action: String,
}

/// Runs the bench.
pub fn run(wanted: &Outcomes, home: &Home) -> anyhow::Result<Value> {
    let lessons: Vec<Line> = jsonl::lines(&wanted.dir.join("lessons.jsonl"))?;
    let tasks: Vec<Line> = jsonl::lines(&wanted.dir.join("tasks.jsonl"))?;
    let daemon = home.start(&settings(wanted))?;
    let mut agent = Agent { client: daemon.client(), name: "banker".parse()?, actions: HashMap::new() };
    for lesson in &lessons {
        agent.learn(lesson)?;
    }
    let mut successes = Vec::new();
    let mut empty = 0;
    for (number, task) in tasks.iter().enumerate() {
        let success = agent.work(task).with_context(|| format!("Task {}", task.id))?;
        empty += usize::from(success.is_none());
        successes.push(success.unwrap_or(false));
        if (number + 1) % WINDOW == 0 {
            let last = share(&successes[successes.len() - WINDOW..]);
            output::note(&format!("{} tasks, success of the last {WINDOW}: {last:.3}", number + 1));
        }
    }
    daemon.stop()?;

    let first = share(&successes[..WINDOW.min(successes.len())]);
    let last = share(&successes[successes.len().saturating_sub(WINDOW)..]);
    let (all, folded) = (share(&successes), lessons.len() - agent.actions.len());
    let mut table = Table::new(&["success", "all", "first 1,000", "last 1,000"]);
    let cells = |name: &str, numbers: [f64; 3]| {
        std::iter::once(name.to_owned())
            .chain(numbers.map(|number| format!("{number:.3}")))
            .collect::<Vec<_>>()
    };
    let dashes = |last: &str| [String::from("-"), String::from("-"), last.to_owned()];
    table.row(std::iter::once("similarity alone".to_owned()).chain(dashes("0.53")));
    table.row(std::iter::once("rules of other published systems".to_owned()).chain(dashes("0.74-0.82")));
    table.row(cells(&title(wanted), [all, first, last]));
    table.print();
    output::say(&format!(
        "{} lessons, of which {folded} folded into another one; {} tasks, for {empty} of which nothing was recalled.",
        lessons.len(),
        tasks.len(),
    ));
    Ok(json!({
        "estimator": estimator(wanted.estimator),
        "whole": wanted.whole,
        "all": rounded(all),
        "first_1000": rounded(first),
        "last_1000": rounded(last),
        "lessons": lessons.len(),
        "folded": folded,
        "tasks": tasks.len(),
        "nothing_recalled": empty,
    }))
}

/// Unless the whole system is wanted, nothing is deprecated or gated by its past: ranking alone shows.
fn settings(wanted: &Outcomes) -> String {
    let learning = format!("learning.estimator = \"{}\"\n", estimator(wanted.estimator));
    if wanted.whole {
        return learning;
    }
    format!("{learning}deprecation.enabled = false\nrecall.success_rate = 0.0\n")
}

fn estimator(wanted: Estimator) -> &'static str {
    match wanted {
        Estimator::Global => "global",
        Estimator::Contextual => "contextual",
    }
}

fn title(wanted: &Outcomes) -> String {
    let what = if wanted.whole { "the whole system" } else { "ranking alone" };
    format!("memoryd, {}, {what}", estimator(wanted.estimator))
}

fn share(successes: &[bool]) -> f64 {
    count(successes.iter().filter(|&&success| success).count()) / count(successes.len().max(1))
}

/// An agent that does what the first recalled lesson says.
struct Agent {
    client: Client,
    name: AgentName,
    /// The action of every lesson that is stored.
    actions: HashMap<ImprovementId, String>,
}

impl Agent {
    fn learn(&mut self, lesson: &Line) -> anyhow::Result<()> {
        let mut remember = Remember::new(self.name.clone(), "lesson", Confidence::new(0.8)?, &lesson.text);
        remember.scope = Some(ScopeChoice::Global);
        remember.id = Some(lesson.id.parse()?);
        remember.attributes.insert(ACTION.to_owned(), lesson.action.clone());
        let remembered = self.client.call(remember).with_context(|| format!("Lesson {}", lesson.id))?;
        for kept in remembered.kept {
            self.actions.entry(kept.id).or_insert_with(|| lesson.action.clone());
        }
        Ok(())
    }

    /// Recalls, acts and reports; whether the task succeeded, or nothing when nothing was recalled.
    fn work(&self, task: &Line) -> anyhow::Result<Option<bool>> {
        let mut recall = Recall::new(self.name.clone(), &task.text);
        recall.limit = 5;
        recall.context = Some("coding".parse()?);
        let recalled = self.client.call(recall)?;
        let first = recalled.items.first().map(|item| item.id.clone());
        let success = first.as_ref().map(|id| self.actions.get(id) == Some(&task.action));
        let mut report =
            Report::new(task.id.parse()?, self.name.clone(), &task.text, success.unwrap_or(false));
        report.recall = Some(recalled.recall);
        report.used = first.into_iter().collect();
        self.client.call(report)?;
        Ok(success)
    }
}
