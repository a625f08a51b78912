//! Telling learned utilities in the QAVR format from records.

use std::io::BufRead;
use std::path::Path;

use memoryd_client::proto::{Fault, QTable, Record};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::input;

/// What only a QAVR file has.
#[derive(Deserialize)]
struct Mark {
    #[serde(rename = "memories")]
    _memories: IgnoredAny,
}

/// The utilities in a file of which the first line was read; `None` if it holds records, and then nothing more was
/// read of it.
pub fn table(first: &str, rest: &mut impl BufRead, path: &Path) -> Result<Option<QTable>, Fault> {
    let opens_object = first.trim_start().starts_with('{');
    if !opens_object || serde_json::from_str::<Record>(first).is_ok() {
        return Ok(None);
    }
    let complete = serde_json::from_str::<IgnoredAny>(first).is_ok();
    if complete && serde_json::from_str::<Mark>(first).is_err() {
        return Ok(None);
    }
    let mut text = first.to_owned();
    rest.read_to_string(&mut text).map_err(|error| input::unreadable(path, &error))?;
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Fault::invalid(
            format!("{} holds neither records nor learned utilities: {error}", path.display()),
            "Give a file as `memoryctl export` writes it, or a QAVR JSON with `memories`, `contexts` and `config`.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"{
        "memories": {"imp_1": {"q_value": 0.75, "access_count": 12, "last_accessed": "2026-01-26", "success_count": 9, "failure_count": 3}},
        "contexts": {"debugging": {"interactions": 82, "mode": "cold"}},
        "config": {"learning_rate": 0.1, "decay_factor": 0.99, "warm_threshold": 100}
    }"#;

    fn read(text: &str) -> Result<Option<QTable>, Fault> {
        let mut rest = text.as_bytes();
        let mut first = String::new();
        rest.read_line(&mut first).unwrap();
        table(&first, &mut rest, Path::new("file"))
    }

    #[test]
    fn a_table_is_recognised_on_one_line_and_on_many() {
        assert_eq!(read(TABLE).unwrap().unwrap().memories.len(), 1);
        assert_eq!(read(&TABLE.replace('\n', " ")).unwrap().unwrap().contexts.len(), 1);
    }

    #[test]
    fn records_are_left_alone() {
        assert_eq!(read("{\"context\":{\"context\":\"coding\",\"interactions\":3}}\n"), Ok(None));
        assert_eq!(read("{\"unknown\":1}\n"), Ok(None));
        assert_eq!(read(""), Ok(None));
        assert!(read("{\n\"unknown\": 1}\n").is_err());
    }
}
