//! A Chroma directory that agents filled, taken in without a server (spec D4). The directories were written by real
//! releases of chromadb, see `tests/data/chroma/make.py`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use memoryd_proto::{
    ChromaSource, Code, Evaluations, ImportChroma, ImportedChroma, Improvement, ProjectHash, Recall, Scope,
    Snapshots, Undo,
};
use memoryd_tests::{World, agent, documents, everywhere};

/// The releases whose directories are tested.
const RELEASES: [&str; 3] = ["0.4.24", "0.5.23", "1.5.9"];

/// A directory as this release wrote it.
fn directory(world: &World<'_>, release: &str) -> PathBuf {
    let directory = world.home.folder(&format!("chroma-{release}"));
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/chroma/{release}.sqlite3.zst"));
    let file = zstd::decode_all(fs::File::open(packed).unwrap()).unwrap();
    fs::write(directory.join("chroma.sqlite3"), file).unwrap();
    directory
}

fn import(world: &World<'_>, directory: &Path, dry_run: bool) -> ImportedChroma {
    let reply =
        world.ask(ImportChroma { source: ChromaSource::Directory(directory.to_owned()), after: 0, dry_run });
    assert_eq!(reply.next, None, "a small directory is one page");
    reply
}

fn by_id(world: &World<'_>) -> BTreeMap<String, Improvement> {
    world.improvements().into_iter().map(|one| (one.id.as_str().to_owned(), one)).collect()
}

#[test]
fn d4_a_chroma_directory_of_any_release_is_taken_in_once() {
    for release in RELEASES {
        everywhere(|world| {
            let directory = directory(world, release);
            let file = directory.join("chroma.sqlite3");
            let before = fs::read(&file).unwrap();
            let trial = import(world, &directory, true);
            assert_eq!((trial.added, trial.operation), (10, None), "{release}");
            assert!(world.records().is_empty(), "a trial changes nothing");

            let taken = import(world, &directory, false);
            assert_eq!((taken.added, taken.known, taken.refused.len()), (10, 0, 2), "{release}: {taken:?}");
            let reasons: BTreeMap<&str, &str> =
                taken.refused.iter().map(|one| (one.id.as_str(), one.reason.as_str())).collect();
            assert!(reasons["silent"].contains("no text"), "{reasons:?}");
            assert!(reasons["boastful"].contains("85"), "{reasons:?}");
            let left_out: Vec<&str> =
                taken.collections.iter().filter(|one| !one.taken).map(|one| one.name.as_str()).collect();
            assert_eq!(left_out, ["recipes"]);

            let records = world.records();
            let again = import(world, &directory, false);
            assert_eq!((again.added, again.known, again.operation), (0, 10, None), "{release}");
            assert_eq!(world.records(), records, "importing twice changes nothing");
            assert_eq!(fs::read(&file).unwrap(), before, "the directory is only read");
            let beside: Vec<_> = fs::read_dir(&directory).unwrap().collect();
            assert_eq!(beside.len(), 1, "{beside:?}");

            world.ask(Undo { operation: taken.operation.unwrap() });
            assert!(world.improvements().is_empty());
        });
    }
}

#[test]
fn d4_what_chroma_knew_of_a_record_is_known() {
    everywhere(|world| {
        import(world, &directory(world, "1.5.9"), false);
        let known = by_id(world);
        let used = &known["improvement_research_0"];
        assert_eq!((used.usage.usage_count, used.usage.success_count), (4, 3));
        assert_eq!(used.usage.last_used.unwrap().to_rfc3339(), "2025-12-01T08:00:00+00:00");
        assert_eq!(used.created_at.to_rfc3339(), "2025-11-18T15:30:00+00:00");
        assert_eq!(used.tags, ["recency", "search"]);
        assert_eq!(used.learned_from.as_deref(), Some("feedback_2025-11-18"));
        let failing = &known["improvement_research_1"];
        assert_eq!(failing.deprecation.as_ref().unwrap().reason, "Low success rate after extensive usage");
        assert!(!known.contains_key("improvement_research_2"), "it was deleted there");
        let project: ProjectHash = "0123456789ab".parse().unwrap();
        assert_eq!(known["improvement_project_1"].scope, Scope::Project(project));
        let expected = [("reviewed", "true"), ("ticket", "42"), ("weight", "0.5")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(known["foreign"].attributes, BTreeMap::from(expected));
        assert_eq!(known["bare"].tags, ["preprints", "dates"]);

        let evaluations = world.ask(Evaluations::default()).evaluations;
        assert_eq!(evaluations.len(), 2);
        assert_eq!((evaluations[0].task.as_str(), evaluations[0].success), ("Compare two vendors", false));
        assert_eq!(evaluations[1].insights[0].text, "Filter by date");
        let snapshots = world.ask(Snapshots::default()).snapshots;
        assert_eq!((snapshots[0].total_tasks, snapshots[0].avg_quality.get()), (2, 52.5));

        let recalled = world.ask(Recall::new(
            agent("research-specialist"),
            "The site answers 'too many requests', find the latest numbers this year",
        ));
        assert_eq!(
            documents(&recalled)[0],
            "Prefer sources from this year when the user asks for the latest information"
        );
        assert!(documents(&recalled).iter().all(|text| !text.contains("429")), "it is deprecated");
    });
}

#[test]
fn d4_what_is_no_chroma_directory_is_refused_and_named() {
    everywhere(|world| {
        let empty = world.home.folder("empty");
        let fault = world.fault(ImportChroma {
            source: ChromaSource::Directory(empty.clone()),
            after: 0,
            dry_run: false,
        });
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.message.contains(empty.to_str().unwrap()), "{fault}");
        fs::write(empty.join("chroma.sqlite3"), "no database").unwrap();
        let fault =
            world.fault(ImportChroma { source: ChromaSource::Directory(empty), after: 0, dry_run: false });
        assert_eq!(fault.code, Code::Invalid);
        assert!(world.records().is_empty());
    });
}
