//! What leaves the memory is in the archive: found there, and brought back from there (spec S1, S6; faults 26, 28, 30).

use std::fs::File;

use chrono::TimeDelta;
use memoryd_proto::{
    ArchiveKind, ArchivePage, ArchivedRecord, Archives, Code, DeleteImprovement, Deprecate, Evaluations,
    Import, ImprovementId, JobName, Maintain, Record, Restore, RestoreEvaluation, SearchArchive, Undo,
};
use memoryd_tests::{World, agent, confidence, documents, everywhere};

use crate::maintenance::{there_and_back, use_it};

const LESSON: &str = "Retry a failed download with exponential backoff";

fn days(world: &World<'_>, days: i64) {
    world.clock.turn(TimeDelta::days(days));
}

fn found(world: &World<'_>, kind: ArchiveKind, text: &str) -> ArchivePage {
    world.ask(SearchArchive { kind: Some(kind), text: text.to_owned(), ..SearchArchive::default() })
}

fn deprecate(world: &World<'_>, id: &ImprovementId) {
    world.ask(Deprecate { agent: None, id: id.clone(), reason: "the server retries".to_owned() });
}

#[test]
fn s1_evaluations_leave_after_ninety_days_and_return_to_their_place() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        use_it(world, &agent("finder"), &id, 60, 0);
        use_it(world, &agent("writer"), &world.remember("Compare checksums before unpacking"), 0, 0);
        days(world, 89);
        world.ask(world.report("young", "Unpack the tarball", true));
        assert_eq!(there_and_back(world, JobName::ArchiveEvaluations).total, 0);
        days(world, 1);
        let done = there_and_back(world, JobName::ArchiveEvaluations);
        assert_eq!(done.total, 2, "{done:?}");
        assert_eq!(done.planned[0].why, "archive 50 evaluations of finder: older than 90 days");
        assert_eq!(done.planned[1].why, "archive 10 evaluations of finder: older than 90 days");
        assert_eq!(world.ask(Evaluations::default()).total, 1);
    });
}

#[test]
fn s1_what_is_deprecated_leaves_after_thirty_days_and_candidates_stay() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let mut candidate = world.lesson("Perhaps the cache is stale");
        candidate.confidence = confidence(0.6);
        let candidate = world.keep(candidate).kept[0].id.clone();
        deprecate(world, &id);
        days(world, 30);
        assert_eq!(there_and_back(world, JobName::RemoveDeprecated).total, 0);
        days(world, 1);
        let done = there_and_back(world, JobName::RemoveDeprecated);
        assert_eq!(done.total, 1);
        let why = format!("remove {id}: deprecated since 2026-01-05, the server retries");
        assert_eq!(done.planned[0].why, why);
        let left: Vec<_> = world.improvements().into_iter().map(|one| one.id).collect();
        assert_eq!(left, [candidate]);
        assert_eq!(found(world, ArchiveKind::Improvements, "").records.len(), 1);
    });
}

#[test]
fn s6_an_archived_evaluation_is_found_and_restored_and_stays() {
    everywhere(|world| {
        let evaluation = world.ask(world.report("r1", "Unpack the Tarball of the release", true)).evaluation;
        days(world, 91);
        there_and_back(world, JobName::ArchiveEvaluations);
        assert_eq!(found(world, ArchiveKind::Evaluations, "tarball moon").records, []);
        let page = found(world, ArchiveKind::Evaluations, "RELEASE tarball");
        assert_eq!(page.records.len(), 1, "what was archived twice is found once");
        assert_eq!(page.records[0].record, ArchivedRecord::Evaluation(evaluation.clone()));
        assert_eq!(page.records[0].file, "evaluations-2026-04.jsonl.zst");

        let call = RestoreEvaluation { agent: None, id: evaluation.id.clone() };
        let restored = world.ask(call.clone());
        assert_eq!(restored.evaluation, evaluation);
        assert_eq!(world.ask(Evaluations::default()).evaluations, [evaluation]);
        assert_eq!(world.ask(call).operation, None, "it is there already");
        assert_eq!(there_and_back(world, JobName::ArchiveEvaluations).total, 0, "what was asked for stays");
        world.ask(Undo { operation: restored.operation.unwrap() });
        assert_eq!(world.ask(Evaluations::default()).total, 0);
        let missing = RestoreEvaluation { agent: None, id: "eval_1".parse().unwrap() };
        assert_eq!(world.fault(missing).code, Code::NotFound);
    });
}

#[test]
fn s6_what_was_removed_as_deprecated_is_restored_to_be_recalled() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        world.live_through("r1", "retry the failed download", true, &[&id]);
        deprecate(world, &id);
        days(world, 31);
        there_and_back(world, JobName::RemoveDeprecated);
        assert_eq!(documents(&world.recall("retry a failed download")), [""; 0]);
        let restored = world.ask(Restore { agent: None, id: id.clone() });
        assert_eq!(restored.improvement.deprecation, None);
        assert_eq!(restored.improvement.usage.usage_count, 1);
        assert_eq!(documents(&world.recall("retry a failed download")), [LESSON]);
        assert_eq!(there_and_back(world, JobName::RemoveDeprecated).total, 0);
    });
}

#[test]
fn s6_the_archive_is_listed_and_searched_newest_first() {
    everywhere(|world| {
        assert_eq!(world.ask(Archives {}).files, []);
        for n in 0..5 {
            let id = world.remember(&format!("Lesson {n}: water garden {n}"));
            world.ask(DeleteImprovement { agent: None, id });
            days(world, 20);
        }
        let list = world.ask(Archives {});
        let files: Vec<_> = list.files.iter().map(|file| (file.month.as_str(), file.records)).collect();
        assert_eq!(files, [("2026-01", 2), ("2026-02", 1), ("2026-03", 2)]);
        assert!(list.files.iter().all(|file| file.bytes > 0 && file.damaged == 0));
        let page = world.ask(SearchArchive { text: "garden".to_owned(), limit: 2, ..Default::default() });
        let texts: Vec<_> = page
            .records
            .iter()
            .map(|one| {
                let ArchivedRecord::Improvement(one) = &one.record else { panic!("{one:?}") };
                one.document.as_str()
            })
            .collect();
        assert_eq!(texts, ["Lesson 4: water garden 4", "Lesson 3: water garden 3"]);
        assert!(page.more);
        let other = SearchArchive { agent: Some(agent("writer")), ..Default::default() };
        assert_eq!(world.ask(other).records, []);
    });
}

#[test]
fn s6_a_write_that_was_cut_short_costs_nothing_but_itself() {
    everywhere(|world| {
        let ids = ["Water the tomatoes", "Prune the roses"].map(|text| world.remember(text));
        world.ask(DeleteImprovement { agent: None, id: ids[0].clone() });
        let path = world.home.data_dir().join("archive/improvements-2026-01.jsonl.zst");
        let whole = path.metadata().unwrap().len();
        let last = world.ask(DeleteImprovement { agent: None, id: ids[1].clone() });
        // As after a crash in the middle of the second write.
        world.ask(Undo { operation: last.operation });
        let cut = path.metadata().unwrap().len() - 5;
        File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
        let page = found(world, ArchiveKind::Improvements, "");
        assert_eq!(page.records.len(), 1);
        assert_eq!((page.damaged[0].at, page.damaged[0].bytes), (whole, cut - whole));
        assert_eq!(world.ask(Archives {}).files[0].damaged, cut - whole);

        world.ask(DeleteImprovement { agent: None, id: ids[1].clone() });
        let page = found(world, ArchiveKind::Improvements, "");
        assert_eq!((page.records.len(), page.damaged), (2, Vec::new()));
        assert_eq!(world.ask(Restore { agent: None, id: ids[0].clone() }).improvement.id, ids[0]);
        assert_eq!(world.ask(Restore { agent: None, id: ids[1].clone() }).improvement.id, ids[1]);
    });
}

#[test]
fn fault_26_a_month_untouched_loses_nothing_and_reports_every_removal() {
    everywhere(|world| {
        let kept = world.remember(LESSON);
        let failing = world.remember("Reboot the router at once");
        use_it(world, &agent("finder"), &failing, 1, 9);
        days(world, 35);
        let before = world.records();
        let done = world.ask(Maintain { job: None, dry_run: false });
        let removals: Vec<_> = done
            .jobs
            .iter()
            .flat_map(|job| &job.planned)
            .flat_map(|step| &step.changes)
            .filter(|change| change.starts_with("removed"))
            .collect();
        assert_eq!(removals, [&format!("removed improvement {failing}")]);
        world.find(&kept);
        let after = world.records();
        for record in before.iter().filter(|record| !after.contains(record)) {
            let Record::Improvement(one) = record else { panic!("lost {record:?}") };
            assert_eq!(one.id, failing, "only what was reported is gone");
        }
        assert_eq!(
            found(world, ArchiveKind::Improvements, "router").records[0].record.id(),
            failing.as_str()
        );
        let journal = world.ask(memoryd_proto::Journal::default());
        assert!(journal.operations.iter().any(|one| one.changes.iter().any(|line| line == removals[0])));
    });
}

#[test]
fn fault_28_what_was_deleted_can_be_stored_again() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        world.ask(DeleteImprovement { agent: None, id });
        days(world, 120);
        world.ask(Maintain { job: None, dry_run: false });
        world.remember(LESSON);
        assert_eq!(documents(&world.recall("retry a failed download")), [LESSON]);
    });
}

#[test]
fn fault_30_many_unused_imports_evict_nothing_that_is_recalled() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        for _ in 0..5 {
            world.recall("retry a failed download");
        }
        let template = world.find(&id);
        let records = (0..600).map(|n| {
            let mut one = template.clone();
            one.id = format!("imported_{n}").parse().unwrap();
            one.document = format!("Note {n}: label crate {n} with code {}", n * 7919);
            one.usage = memoryd_proto::Usage::default();
            Record::Improvement(one)
        });
        assert_eq!(world.ask(Import { records: records.collect(), dry_run: false }).added, 600);
        for _ in 0..13 {
            days(world, 30);
            let done = world.ask(Maintain { job: None, dry_run: false });
            let removed = |step: &memoryd_proto::PlannedChange| {
                step.changes.iter().any(|change| change.starts_with("removed"))
            };
            assert!(!done.jobs.iter().flat_map(|job| &job.planned).any(removed), "{done:?}");
        }
        assert_eq!(world.improvements().len(), 601);
        assert_eq!(documents(&world.recall("retry a failed download")), [LESSON]);
    });
}
