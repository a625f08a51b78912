//! `locomo`: does recall bring the evidence, and nothing where there is none?

mod abstention;
mod library;
mod retrieval;

use memoryd_client::Client;
use serde_json::{Value, json};

use crate::arguments::Locomo;
use crate::daemon::Home;
use crate::measure::{Durations, millis, shown};
use crate::output::{self, Table};
use crate::{jsonl, measure};

use library::{Library, Ranking};
use retrieval::{CUTS, Recalls};

/// Settings under which every text passes, so that the ranking alone shows.
const UNGATED: &str = "recall.threshold = -1.0";

/// How many items each question is answered with.
const LIMIT: u32 = 20;

/// Other rankings of the same files with the same embedding model, in percent.
const REFERENCES: &[(&str, [f64; 4])] = &[
    ("dense only", [17.8, 41.0, 50.6, 60.4]),
    ("BM25 only", [33.8, 55.2, 62.4, 69.2]),
    ("reciprocal rank fusion", [26.2, 50.4, 60.1, 70.1]),
    ("0.5 cosine + 0.5 BM25", [35.2, 59.1, 66.2, 73.9]),
    ("0.3 cosine + 0.3 with neighbours + 0.4 BM25, + neighbour", [37.8, 65.0, 75.0, 81.1]),
];

/// Runs the bench.
pub fn run(wanted: &Locomo, home: &Home) -> anyhow::Result<Value> {
    let conversations = jsonl::conversations(&wanted.dir)?;

    let daemon = home.start("")?;
    let client = daemon.client();
    let mut libraries = Vec::new();
    for conversation in conversations {
        output::note(&format!("importing {}", conversation.name));
        libraries.push(Library::import(&client, conversation)?);
    }
    let (gated, durations) = ask_all(&client, &libraries)?;
    let foreign = abstention::foreign(&client, &libraries)?;
    daemon.stop()?;

    let daemon = home.start(UNGATED)?;
    let (ungated, _) = ask_all(&daemon.client(), &libraries)?;
    daemon.stop()?;

    let figures = json!({
        "questions": libraries.iter().map(|library| library.questions.len()).sum::<usize>(),
        "memories": libraries.iter().map(|library| library.memories).sum::<usize>(),
        "folded": libraries.iter().map(|library| library.folded).sum::<usize>(),
        "ungated": Recalls::of(&libraries, &ungated).figures(),
        "gated": Recalls::of(&libraries, &gated).figures(),
        "abstention": abstention::report(abstention::kept(&libraries, &ungated, &gated), &foreign),
        "recall_p50_ms": millis(durations.median()),
    });
    print(&libraries, &Recalls::of(&libraries, &ungated), &Recalls::of(&libraries, &gated), &durations);
    abstention::print(abstention::kept(&libraries, &ungated, &gated), &foreign);
    Ok(figures)
}

/// The answers to every question, by conversation and question, and how long they took.
fn ask_all(client: &Client, libraries: &[Library]) -> anyhow::Result<(Vec<Vec<Ranking>>, Durations)> {
    let mut durations = Vec::new();
    let mut answers = Vec::new();
    for library in libraries {
        output::note(&format!("asking {}", library.agent));
        let mut rankings = Vec::new();
        for question in &library.questions {
            let (duration, ranking) = measure::timed(|| library.ask(client, &question.text, LIMIT))?;
            durations.push(duration);
            rankings.push(ranking);
        }
        answers.push(rankings);
    }
    Ok((answers, Durations::in_turn(durations)))
}

fn print(libraries: &[Library], ungated: &Recalls, gated: &Recalls, durations: &Durations) {
    let mut table = Table::new(&["ranking", "R@1", "R@5", "R@10", "R@20"]);
    for (name, shares) in REFERENCES {
        table
            .row(std::iter::once((*name).to_owned()).chain(shares.iter().map(|share| format!("{share:.1}"))));
    }
    table.row(ungated.row("memoryd, ungated: its ranking alone, to be compared with the above"));
    table.row(gated.row("memoryd, gated: what a user gets"));
    table.print();
    let folded: usize = libraries.iter().map(|library| library.folded).sum();
    output::say(&format!(
        "Recall at {CUTS:?} in percent, over {} questions. {folded} of {} memories say the same as an earlier one of \
         their conversation and folded into it; they count as found where it is found. A recall with {LIMIT} items took \
         {} (median).",
        libraries.iter().map(|library| library.questions.len()).sum::<usize>(),
        libraries.iter().map(|library| library.memories).sum::<usize>(),
        shown(durations.median()),
    ));
}
