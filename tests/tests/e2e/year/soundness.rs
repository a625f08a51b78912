//! What must hold of memory on every day.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;

use memoryd_proto::{AgentName, Record};

/// What was ever seen in memory, to be found there or in an archive for ever.
#[derive(Default)]
pub struct Books {
    seen: BTreeSet<(&'static str, AgentName, String)>,
}

impl Books {
    /// Checks that memory is sound, and that nothing that was seen before is lost. Returns how much is in the archives only.
    pub fn check(&mut self, records: &[Record], archive: &Path) -> usize {
        sound(records);
        let here: BTreeSet<_> = records.iter().filter_map(named).collect();
        self.seen.extend(here.iter().cloned());
        let gone: Vec<_> = self.seen.difference(&here).collect();
        if gone.is_empty() {
            return 0;
        }
        let archived = archived(archive);
        for one in &gone {
            assert!(archived.contains(*one), "{one:?} is neither in memory nor in an archive");
        }
        gone.len()
    }
}

fn named(record: &Record) -> Option<(&'static str, AgentName, String)> {
    match record {
        Record::Improvement(one) => Some(("improvement", one.agent.clone(), one.id.to_string())),
        Record::Evaluation(one) => Some(("evaluation", one.agent.clone(), one.id.to_string())),
        Record::Profile(_)
        | Record::Snapshot(_)
        | Record::Review(_)
        | Record::Outcome(_)
        | Record::Context(_) => None,
    }
}

fn sound(records: &[Record]) {
    let mut texts = HashSet::new();
    let mut days = HashSet::new();
    let mut uses: BTreeMap<(AgentName, String), u64> = BTreeMap::new();
    for record in records {
        match record {
            Record::Improvement(one) => {
                let text = one.document.to_lowercase();
                assert!(
                    texts.insert((one.agent.clone(), one.scope.clone(), text)),
                    "{} is stored twice",
                    one.document
                );
                let usage = &one.usage;
                assert_eq!(usage.success_count + usage.failure_count, usage.usage_count, "{one:?}");
                assert!(usage.usage_count <= usage.access_count, "{one:?}");
                if let Some(promotion) = &one.promotion {
                    assert!(promotion.uses >= 20 && one.confidence.get() <= 0.95 + 1e-9, "{one:?}");
                }
                uses.insert((one.agent.clone(), one.id.to_string()), usage.usage_count);
            }
            Record::Snapshot(one) => {
                assert!(days.insert((one.agent.clone(), one.day)), "two snapshots for {}", one.day);
                assert!(one.success_rate.is_finite() && one.total_tasks > 0, "{one:?}");
            }
            Record::Evaluation(_)
            | Record::Profile(_)
            | Record::Review(_)
            | Record::Outcome(_)
            | Record::Context(_) => {}
        }
    }
    let mut outcomes: BTreeMap<(AgentName, String), u64> = BTreeMap::new();
    for record in records {
        if let Record::Outcome(one) = record {
            *outcomes.entry((one.agent.clone(), one.improvement.to_string())).or_default() += 1;
        }
    }
    for (item, used) in &uses {
        let known = outcomes.get(item).copied().unwrap_or_default();
        assert!(known <= *used, "{item:?} has {known} outcomes of {used} uses");
    }
}

/// Everything that is in the archives.
fn archived(folder: &Path) -> HashSet<(&'static str, AgentName, String)> {
    #[derive(serde::Deserialize)]
    struct Named {
        agent: AgentName,
        id: String,
    }
    let mut found = HashSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let kind = match name.split('-').next().unwrap() {
            "improvements" => "improvement",
            "evaluations" => "evaluation",
            _ => continue,
        };
        let file = std::fs::File::open(&path).unwrap();
        for line in BufReader::new(zstd::Decoder::new(file).unwrap()).lines() {
            let Named { agent, id } = serde_json::from_str(&line.unwrap()).unwrap();
            found.insert((kind, agent, id));
        }
    }
    found
}
