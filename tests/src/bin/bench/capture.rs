//! `capture`: does it know what is worth keeping of what is said, and leave the rest alone?

use memoryd_tests::sentences::{self, Score};
use serde_json::{Value, json};

use crate::arguments::Capture;
use crate::measure::rounded;
use crate::output::{self, Table};

/// Runs the bench.
pub fn run(wanted: &Capture) -> Value {
    let mut files = Vec::new();
    for file in &wanted.files {
        let score = Score::of(sentences::read(file));
        output::say(&file.display().to_string());
        print(&score);
        files.push(json!({
            "file": file.display().to_string(),
            "sentences": score.judged.len(),
            "precision": rounded(score.precision()),
            "recall": rounded(score.recall()),
            "signals": score.by_signal().into_iter().map(|(signal, [are, taken, right])| json!({
                "signal": signal, "sentences": are, "captured": taken, "right": right,
            })).collect::<Vec<_>>(),
            "wrong": score.wrong().map(|one| json!({
                "text": one.sentence.text, "is": one.sentence.is, "taken_for": one.taken_for, "by": one.by,
            })).collect::<Vec<_>>(),
        }));
    }
    json!({ "files": files })
}

fn print(score: &Score) {
    let mut table = Table::new(&["signal", "sentences", "captured", "right"]);
    for (signal, counts) in score.by_signal() {
        table.row(std::iter::once(signal.to_string()).chain(counts.map(|count| count.to_string())));
    }
    table.print();
    output::say(&format!(
        "{} sentences: precision {:.3}, recall {:.3}",
        score.judged.len(),
        score.precision(),
        score.recall()
    ));
    for one in score.wrong() {
        let is = one.sentence.is.first().map_or("nothing", |signal| signal.as_str());
        let taken_for = one.taken_for.map_or("nothing", |signal| signal.as_str());
        output::say(&format!("{:?}\n  is {is}, taken for {taken_for}  {}", one.sentence.text, one.by));
    }
}
