//! Whether nothing comes back where there is nothing to know: the questions of each conversation are asked of the
//! memories of the next.

use memoryd_client::Client;
use serde_json::{Value, json};

use super::library::{Library, Ranking};
use super::retrieval::found;
use crate::measure::{count, rounded};
use crate::output::{self, Table};

/// How many items each question is answered with.
const LIMIT: u32 = 10;

/// The same as a number of items.
const CUT: usize = LIMIT as usize;

/// What came back for questions that cannot be answered.
pub struct Foreign {
    /// Items for each question.
    items: f64,
    /// Share of the questions with no answer.
    empty: f64,
}

/// Asks the foreign questions.
pub fn foreign(client: &Client, libraries: &[Library]) -> anyhow::Result<Foreign> {
    let mut lengths = Vec::new();
    for (library, next) in libraries.iter().zip(libraries.iter().cycle().skip(1)) {
        output::note(&format!("asking {} what only {} knows", next.agent, library.agent));
        for question in &library.questions {
            lengths.push(next.ask(client, &question.text, LIMIT)?.len());
        }
    }
    let questions = count(lengths.len());
    let empty = count(lengths.iter().filter(|&&length| length == 0).count());
    Ok(Foreign { items: count(lengths.iter().sum()) / questions, empty: empty / questions })
}

/// The share of the evidence among the first ten that the gate lets pass.
pub fn kept(libraries: &[Library], ungated: &[Vec<Ranking>], gated: &[Vec<Ranking>]) -> f64 {
    let all = |answers: &[Vec<Ranking>]| -> usize {
        let pairs = libraries.iter().zip(answers);
        let pairs = pairs.flat_map(|(library, rankings)| library.questions.iter().zip(rankings));
        pairs.map(|(question, ranking)| found(question, ranking, CUT)).sum()
    };
    count(all(gated)) / count(all(ungated))
}

/// The figures.
pub fn report(kept: f64, foreign: &Foreign) -> Value {
    json!({ "kept": rounded(kept), "foreign_items": rounded(foreign.items), "empty": rounded(foreign.empty) })
}

/// Prints the table.
pub fn print(kept: f64, foreign: &Foreign) {
    let mut table =
        Table::new(&["abstention", "evidence kept", "foreign items of 10", "foreign questions empty"]);
    let row = |name: &str, kept: f64, items: f64, empty: f64| {
        [
            name.to_owned(),
            format!("{:.1} %", 100.0 * kept),
            format!("{items:.2}"),
            format!("{:.1} %", 100.0 * empty),
        ]
    };
    table.row(row("cosine alone", 0.95, 1.50, 0.53));
    table.row(row("BM25 alone", 0.95, 1.81, 0.46));
    table.row(row("0.5 cosine + 0.5 BM25 / ceiling", 0.95, 0.49, 0.80));
    table.row(row("memoryd", kept, foreign.items, foreign.empty));
    table.print();
}
