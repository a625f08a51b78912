//! `scale`: how cost grows with the number of memories in one collection, with the embedding left out.

mod parts;
mod served;
mod stored;

use memoryd::config::Config;
use memoryd_proto::AgentName;
use serde_json::{Value, json};

use crate::arguments::Scale;
use crate::daemon::Home;
use crate::output::{self, Table};
use crate::random::Random;
use crate::texts::Texts;

use parts::Parts;
use served::Served;
use stored::Stored;

/// Components of the vectors: as many as the bundled model gives.
const DIMENSION: usize = 384;

/// Memories that follow one another, as the turns of a session do.
const SESSION: usize = 20;

/// How many memories there are, and what they are made of.
struct Crowd {
    agent: AgentName,
    size: usize,
    texts: Texts,
}

impl Crowd {
    fn id(number: usize) -> String {
        format!("s{number}")
    }

    fn session(number: usize) -> String {
        format!("session {}", number / SESSION)
    }

    fn vector(number: usize) -> Vec<f32> {
        Random::new(number as u64).direction(DIMENSION)
    }
}

/// Runs the bench.
pub fn run(wanted: &Scale, set: &[String]) -> anyhow::Result<Value> {
    let mut sizes = Vec::new();
    for &size in &wanted.memories {
        let crowd =
            Crowd { agent: "archivist".parse()?, size: usize::try_from(size)?, texts: Texts::Synthetic };
        sizes.push(measure(&crowd, wanted.searches, set)?);
    }
    print(&sizes);
    Ok(json!({ "sizes": sizes.iter().map(Size::figures).collect::<Vec<_>>() }))
}

fn measure(crowd: &Crowd, searches: usize, set: &[String]) -> anyhow::Result<Size> {
    let home = Home::new(set)?;
    output::note(&format!("{} memories: storing", crowd.size));
    let stored = stored::write(&home, crowd)?;
    output::note("serving");
    let served = served::measure(&home, crowd, searches)?;
    output::note("searching");
    let parts = parts::measure(&home, crowd, &Config::default(), searches)?;
    Ok(Size { memories: crowd.size, stored, served, parts })
}

/// What was measured with so many memories.
struct Size {
    memories: usize,
    stored: Stored,
    served: Served,
    parts: Parts,
}

impl Size {
    fn figures(&self) -> Value {
        json!({
            "memories": self.memories,
            "stored": self.stored.figures(),
            "served": self.served.figures(),
            "search": self.parts.figures(),
        })
    }
}

fn print(sizes: &[Size]) {
    let titles: Vec<String> = std::iter::once("memories".to_owned())
        .chain(sizes.iter().map(|size| size.memories.to_string()))
        .collect();
    let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    let columns: Vec<Vec<(&str, String)>> = sizes
        .iter()
        .map(|size| [size.parts.rows(), size.served.rows(), size.stored.rows()].concat())
        .collect();
    let names = columns.first().map_or(&[][..], Vec::as_slice);
    for (row, (name, _)) in names.iter().enumerate() {
        table.row(
            std::iter::once((*name).to_owned()).chain(columns.iter().map(|column| column[row].1.clone())),
        );
    }
    table.print();
}
