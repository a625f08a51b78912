//! How much of the evidence a ranking brings.

use serde_json::{Value, json};

use super::library::{Library, Question, Ranking};
use crate::measure::{count, rounded};

/// How many of the first items are looked at.
pub const CUTS: [usize; 4] = [1, 5, 10, 20];

/// Recall at each of [`CUTS`], in percent.
pub struct Recalls([f64; 4]);

impl Recalls {
    /// The mean over all questions of all conversations.
    pub fn of(libraries: &[Library], answers: &[Vec<Ranking>]) -> Self {
        let pairs = || {
            libraries
                .iter()
                .zip(answers)
                .flat_map(|(library, rankings)| library.questions.iter().zip(rankings))
        };
        let questions = count(pairs().count());
        Self(CUTS.map(|cut| {
            100.0 * pairs().map(|(question, ranking)| share(question, ranking, cut)).sum::<f64>() / questions
        }))
    }

    /// A row of a table.
    pub fn row(&self, name: &str) -> Vec<String> {
        std::iter::once(name.to_owned()).chain(self.0.iter().map(|share| format!("{share:.1}"))).collect()
    }

    /// The figures.
    pub fn figures(&self) -> Value {
        let [one, five, ten, twenty] = self.0.map(rounded);
        json!({ "r1": one, "r5": five, "r10": ten, "r20": twenty })
    }
}

/// How many of the texts that answer a question are among the first `cut` of a ranking.
pub fn found(question: &Question, ranking: &Ranking, cut: usize) -> usize {
    let first = &ranking[..cut.min(ranking.len())];
    question.gold.iter().filter(|gold| first.contains(gold)).count()
}

fn share(question: &Question, ranking: &Ranking, cut: usize) -> f64 {
    count(found(question, ranking, cut)) / count(question.gold.len().max(1))
}
