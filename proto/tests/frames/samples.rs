//! A call of every kind with its reply, each field set to something that shows.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeZone, Utc};
#[allow(clippy::wildcard_imports, reason = "nearly all of the vocabulary is sampled")]
use memoryd_proto::*;

mod notes;
mod review;

/// A call and its reply, encoded.
pub struct Sample {
    pub name: &'static str,
    pub request: Vec<u8>,
    pub reply: Vec<u8>,
    /// Decodes the payload of a reply and encodes it again.
    pub reencode: fn(&[u8]) -> Vec<u8>,
}

fn sample<C: Call>(call: C, reply: C::Reply) -> Sample {
    let request: Request = call.into();
    Sample {
        name: C::NAME,
        request: frame::encode(&request).unwrap(),
        reply: frame::encode(&Ok::<_, Fault>(reply)).unwrap(),
        reencode: |payload| {
            let reply = frame::decode::<Result<C::Reply, Fault>>(payload).unwrap();
            frame::encode(&reply).unwrap()
        },
    }
}

fn archives() -> ArchiveList {
    let file = ArchiveFile {
        name: "operations-2026-04.jsonl.zst".to_owned(),
        kind: ArchiveKind::Operations,
        month: "2026-04".to_owned(),
        records: 12,
        bytes: 3456,
        damaged: 7,
    };
    ArchiveList { folder: "/archive".to_owned(), files: vec![file] }
}

fn archived() -> ArchivePage {
    let records = [
        ArchivedRecord::Improvement(improvement()),
        ArchivedRecord::Evaluation(evaluation()),
        ArchivedRecord::Operation(operation()),
    ];
    let file = "operations-2026-04.jsonl.zst".to_owned();
    ArchivePage {
        records: records.map(|record| Archived { file: file.clone(), record }).into(),
        more: true,
        damaged: vec![Damage { file, at: 1024, bytes: 7 }],
    }
}

/// An answer that is a fault.
pub fn fault() -> Vec<u8> {
    frame::encode(&Err::<Pong, _>(Fault::new(Code::Busy, "What happened", "What to do."))).unwrap()
}

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn id<K>(text: &str) -> Id<K> {
    text.parse().unwrap()
}

fn hash() -> ProjectHash {
    "0123456789ab".parse().unwrap()
}

fn at() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 1, 5, 9, 0, 0).unwrap()
}

#[allow(clippy::unnecessary_wraps, reason = "it fills fields that may be absent")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn confidence() -> Confidence {
    Confidence::new(0.8).unwrap()
}

fn q() -> QValue {
    QValue::new(0.55).unwrap()
}

fn quality() -> Quality {
    Quality::new(85.0).unwrap()
}

fn context() -> ContextState {
    ContextState { name: "coding".parse().unwrap(), interactions: 100, warm_from: 100, mode: Mode::Warm }
}

fn attributes() -> BTreeMap<String, String> {
    BTreeMap::from([("reviewer".to_owned(), "Ann".to_owned())])
}

fn improvement() -> Improvement {
    Improvement {
        id: id("improvement_1"),
        agent: name("Code-Finder"),
        scope: Scope::Project(hash()),
        category: "api_usage".to_owned(),
        document: "Ünïcode lesson".to_owned(),
        learned_from: text("session 1"),
        confidence: confidence(),
        created_at: at(),
        tags: texts(&["a", "b"]),
        context_tags: texts(&["rust"]),
        source: Source::SystemPrinciples,
        original_id: Some(id("original_1")),
        corroborations: 2,
        evidence: texts(&["unstated", "abcdef"]),
        cross_validation: Some(CrossValidation { agents: vec![name("writer")], at: at() }),
        consolidation_eligible: true,
        deprecation: Some(Deprecation { reason: "because".to_owned(), at: at() }),
        promotion: Some(Promotion { at: at(), uses: 20 }),
        attributes: attributes(),
        usage: Usage {
            usage_count: 3,
            success_count: 2,
            failure_count: 1,
            success_rate: Some(2.0 / 3.0),
            last_used: Some(at()),
            access_count: 7,
            last_accessed: Some(at()),
            q_value: q(),
        },
    }
}

fn insight() -> Insight {
    Insight { text: "An insight".to_owned(), category: "code_quality".to_owned(), confidence: confidence() }
}

fn criterion_score() -> CriterionScore {
    CriterionScore { criterion: "speed".to_owned(), score: quality() }
}

fn evaluation() -> Evaluation {
    Evaluation {
        id: id("eval_1"),
        agent: name("finder"),
        project: Some(hash()),
        task: "A task".to_owned(),
        task_type: "research".to_owned(),
        success: true,
        quality: quality(),
        criteria: vec![criterion_score()],
        time_taken_ms: Some(900),
        tokens_used: Some(70_000),
        strengths: texts(&["quick"]),
        weaknesses: texts(&["loud"]),
        insights: vec![insight()],
        recall: Some(id("recall_1")),
        used: vec![id("improvement_1")],
        notes: text("a note"),
        at: at(),
    }
}

fn kept(how: Keeping) -> Kept {
    Kept { id: id("improvement_1"), scope: Scope::Global, how, confidence: confidence() }
}

fn remembered() -> Remembered {
    use Keeping::{Candidate, Confirmed, Corroborated, Known, Stored};
    Remembered {
        kept: [Stored, Candidate, Corroborated, Confirmed, Known].map(kept).into(),
        operation: Some(OperationId(300)),
        redacted: texts(&["github token"]),
        truncated: true,
        unknown_category: false,
    }
}

fn why() -> Why {
    Why {
        cosine: 0.5,
        case: text("a task"),
        case_cosine: Some(0.75),
        lexical: 0.25,
        neighbours: 0.125,
        similarity: 0.625,
        relevance: 0.875,
        q: 0.55,
        alpha: 0.3,
        multiplier: 1.2,
        score: 0.9,
        evidence: 1.5,
    }
}

fn considered(verdict: Verdict) -> Considered {
    Considered {
        id: id("improvement_1"),
        source: Origin::Improvement,
        scope: Scope::Global,
        document: "A lesson".to_owned(),
        words: texts(&["lesson"]),
        conflicts: vec![id("note:00112233445566778899aabbccddeeff")],
        why: why(),
        verdict,
    }
}

fn origin() -> Origin {
    let (tier, kind) = (Tier::Hot, NoteKind::Line);
    Origin::Note { file: "/tree/memory.md".to_owned(), line: 12, tier, kind }
}

fn hot_rule() -> HotRule {
    HotRule {
        id: id("note:00112233445566778899aabbccddeeff"),
        source: origin(),
        document: "A rule".to_owned(),
        section: text("Rules"),
        relevant: true,
        conflicts: vec![id("improvement_1")],
    }
}

fn snapshot() -> Snapshot {
    Snapshot {
        agent: name("finder"),
        day: at().date_naive(),
        at: at(),
        total_tasks: 4,
        successful_tasks: 3,
        success_rate: 0.75,
        avg_quality: Quality::new(80.0).unwrap(),
        quality_trend: -1.5,
        avg_time_ms: Some(1200.0),
        avg_tokens: Some(5000.0),
        total_insights: 2,
        improvements_stored: 1,
        improving: false,
    }
}

fn job_state() -> JobState {
    JobState {
        job: JobName::Consolidate,
        cadence: Cadence::Weekly,
        cron: "0 0 4 * * SUN".to_owned(),
        next: Some(at()),
        next_offset: 3600,
        running: true,
        last: Some(JobRun {
            started_at: at(),
            took_ms: 7,
            operation: Some(OperationId(5)),
            total: 2,
            failed: text("The disk is full"),
        }),
        failures: 1,
    }
}

fn maintained() -> Maintained {
    Maintained {
        dry_run: true,
        jobs: vec![JobReport {
            job: JobName::BackUp,
            operation: Some(OperationId(6)),
            planned: vec![PlannedChange {
                agent: Some(name("finder")),
                why: "because".to_owned(),
                changes: texts(&["added improvement improvement_1"]),
            }],
            total: 1,
            left_out: 2,
            notes: texts(&["A note"]),
            took_ms: 3,
        }],
    }
}

fn backup() -> Backup {
    Backup {
        name: "memory-2026-01-05T090000Z-by-hand.db".to_owned(),
        made_at: at(),
        bytes: 4096,
        kind: BackupKind::ByHand,
        improvements: Some(3),
        evaluations: None,
    }
}

fn profile() -> Profile {
    Profile {
        agent: name("finder"),
        criteria: vec![Criterion { name: "speed".to_owned(), weight: 100.0 }],
        categories: vec![Category { name: "code_quality".to_owned(), description: "Style".to_owned() }],
    }
}

fn records() -> Vec<Record> {
    vec![
        Record::Improvement(improvement()),
        Record::Evaluation(evaluation()),
        Record::Profile(profile()),
        Record::Snapshot(snapshot()),
        Record::Review(review::review()),
        Record::Outcome(Outcome {
            agent: name("finder"),
            improvement: id("improvement_1"),
            task: "A task".to_owned(),
            success: true,
            at: at(),
        }),
        Record::Context(ContextCount { context: "coding".parse().unwrap(), interactions: 12 }),
    ]
}

fn table() -> QTable {
    let memory = QMemory {
        q_value: q(),
        access_count: 12,
        last_accessed: text("2026-01-05"),
        success_count: 8,
        failure_count: 2,
    };
    QTable {
        memories: BTreeMap::from([("improvement_1".to_owned(), memory)]),
        contexts: BTreeMap::from([("coding".to_owned(), QContext { interactions: 50, mode: Mode::Cold })]),
        config: QConfig { learning_rate: 0.1, decay_factor: 0.99, warm_threshold: 100 },
    }
}

fn page() -> ImprovementPage {
    ImprovementPage { improvements: vec![improvement()], total: 300 }
}

fn edited() -> Edited {
    Edited { improvement: improvement(), operation: Some(OperationId(4)), redacted: texts(&["age key"]) }
}

fn report() -> Report {
    Report {
        project: Some(Project::Folder("/src/project".into())),
        task_type: "research".to_owned(),
        quality: Graded::Criteria(vec![criterion_score()]),
        time_taken_ms: Some(900),
        expected_ms: Some(1000),
        tokens_used: Some(70_000),
        validation_passed: Some(true),
        errors: vec![TaskError { kind: "Timeout".to_owned(), message: "late".to_owned() }],
        retries: 2,
        feedback: Some(Feedback { positive: true, comment: "well done".to_owned() }),
        optimization: text("sort first"),
        insights: vec![insight()],
        recall: Some(id("recall_1")),
        used: vec![id("improvement_1")],
        notes: text("a note"),
        ..Report::new(id("report_1"), name("finder"), "A task", true)
    }
}

fn learned() -> Learned {
    Learned {
        evaluation: evaluation(),
        insights: vec![
            InsightOutcome { insight: insight(), derived: true, kept: Some(remembered()), refused: None },
            InsightOutcome { insight: insight(), derived: false, kept: None, refused: text("too unsure") },
        ],
        items: vec![ItemOutcome {
            id: id("improvement_1"),
            used: true,
            q_before: QValue::START,
            q_after: q(),
            usage_count: 1,
            success_rate: Some(1.0),
            deprecated: false,
        }],
        context: Some(context()),
        operation: OperationId(5),
        repeated: true,
        redacted: texts(&["iban"]),
    }
}

fn status() -> StatusReport {
    StatusReport {
        version: "0.1.0".to_owned(),
        pid: 4711,
        started_at: at(),
        now: at(),
        data_dir: "/data".to_owned(),
        config_file: text("/memoryd.toml"),
        socket: "/run/memoryd.sock".to_owned(),
        store: "chroma".to_owned(),
        chroma: Some(ChromaState {
            url: "http://127.0.0.1:8000".to_owned(),
            trouble: text("It is away"),
            read_at: Some(at()),
            counted_at: None,
            waiting: 3,
            refused: 1,
            aside: vec![set_aside()],
        }),
        database_bytes: 1 << 33,
        model: "minilm".to_owned(),
        dimension: 384,
        degraded: text("no vectors"),
        estimator: Estimator::Contextual,
        agents: 1,
        improvements: 2,
        evaluations: 3,
        open_recalls: 4,
        last_operation: Some(5),
        tree: TreeState {
            files: 6,
            entries: 7,
            embedded: 8,
            left_seconds: Some(9),
            watched: true,
            polled: text("a network"),
        },
        failing: vec![job_state()],
        next_job: Some(job_state()),
        requests: 6,
        connections: 7,
        resident_bytes: Some(8),
    }
}

fn recall() -> (Recall, Recalled) {
    let call = Recall {
        project: Some(Project::Hash(hash())),
        context: Some("research".parse().unwrap()),
        limit: 300,
        category: text("api_usage"),
        tags: texts(&["a"]),
        archive: true,
        ..Recall::new(name("finder"), "A question")
    };
    let item = Item {
        id: id("improvement_1"),
        source: origin(),
        scope: Scope::Global,
        document: "A lesson".to_owned(),
        category: "api_usage".to_owned(),
        confidence: confidence(),
        conflicts: vec![id("improvement_2")],
        why: why(),
    };
    let loaded = Loaded { file: "/tree/memory.md".to_owned(), tier: Tier::Hot, notes: 1 };
    let reply = Recalled {
        recall: id("recall_1"),
        hot: vec![hot_rule()],
        items: vec![item],
        context: context(),
        alpha: 0.3,
        searched: 9,
        loaded: vec![loaded],
        skipped: texts(&["2 notes: others ranked higher"]),
        degraded: None,
    };
    (call, reply)
}

fn explanation() -> Explanation {
    use Verdict::{Candidate, Deprecated, Duplicate, Irrelevant, LowSuccess, Outranked, Overruled, Returned};
    let verdicts = [Returned, Outranked, Duplicate, Overruled, Irrelevant, Deprecated, Candidate, LowSuccess];
    Explanation {
        recall: id("recall_1"),
        agent: name("finder"),
        query: "A question".to_owned(),
        at: at(),
        context: "coding".parse().unwrap(),
        alpha: 0.3,
        estimator: Estimator::Global,
        gate: 0.6,
        outcome: RecallOutcome::Expired,
        hot: vec![hot_rule()],
        loaded: 7,
        items: verdicts.map(considered).into(),
    }
}

fn remember() -> Remember {
    Remember {
        project: Some(Project::Hash(hash())),
        scope: Some(ScopeChoice::Both),
        learned_from: text("session 1"),
        tags: texts(&["a"]),
        context_tags: texts(&["rust"]),
        attributes: attributes(),
        id: Some(id("improvement_1")),
        created_at: Some(at()),
        ..Remember::new(name("finder"), "api_usage", confidence(), "A lesson")
    }
}

fn capture() -> Capture {
    Capture {
        text: "Always use tabs".to_owned(),
        tool: Some(ToolOutcome { name: "Bash".to_owned(), exit_code: Some(2), failed: true }),
        keep: Some(KeepCaptured { agent: name("finder"), project: Some(Project::Hash(hash())) }),
    }
}

fn captured() -> Captured {
    Captured {
        finding: Some(Finding {
            signal: Signal::Preference,
            confidence: confidence(),
            pattern: "always".to_owned(),
            words: "Always use tabs".to_owned(),
            sentence: "Always use tabs.".to_owned(),
            rule: text("Use tabs"),
        }),
        vetoed: vec![Vetoed {
            pattern: "never".to_owned(),
            words: "never commit".to_owned(),
            veto: "once".to_owned(),
            because: "an instruction for this once".to_owned(),
        }],
        kept: Some(remembered()),
        noted: Some(notes::written()),
        redacted: texts(&["iban"]),
    }
}

fn edit() -> Edit {
    Edit {
        agent: Some(name("finder")),
        id: id("improvement_1"),
        document: text("A better lesson"),
        category: text("code_quality"),
        confidence: Some(confidence()),
        tags: Some(texts(&["b"])),
        context_tags: Some(Vec::new()),
    }
}

fn watched() -> Watched {
    let (job, agent) = (JobName::Metrics, Some(name("finder")));
    let (operation, reason, failed) = (OperationId(4), "a lesson".to_owned(), text("no space"));
    let events = [
        Happening::Committed { operation, actor: "remember".to_owned(), reason, agent, changes: 1 },
        Happening::Undone { undone: operation, operation: OperationId(5) },
        Happening::JobStarted { job },
        Happening::JobProgress { job, phase: Phase::Changing, done: 1, of: 2 },
        Happening::JobEnded { job, operation: Some(operation), total: 2, failed },
        Happening::NotesRead { files: 1, entries: 2 },
        Happening::NotesEmbedded { done: 1, of: 2, left_seconds: Some(3) },
    ];
    let events = (8..).zip(events).map(|(number, what)| Event { number, at: at(), what }).collect();
    Watched { since: at(), events, next: 12, missed: 1 }
}

fn operation() -> Operation {
    Operation {
        id: OperationId(4),
        at: at(),
        actor: "remember".to_owned(),
        reason: "a lesson".to_owned(),
        agent: Some(name("finder")),
        undone_by: Some(OperationId(5)),
        changes: texts(&["added improvement improvement_1"]),
    }
}

fn journal() -> JournalPage {
    JournalPage { operations: vec![operation()], more: true, archived: Some(OperationId(3)) }
}

fn dashboard() -> DashboardView {
    DashboardView {
        agent: Some(name("finder")),
        at: at(),
        total_improvements: 4,
        active_improvements: 2,
        deprecated_improvements: 1,
        candidates: 1,
        total_evaluations: 9,
        recent_success_rate: Some(0.5),
        recent_quality: Some(70.0),
        improvements_last_7_days: 3,
        latest_snapshot: Some(snapshot()),
        top_improvements: vec![improvement()],
        top_q: Vec::new(),
        contexts: vec![context()],
    }
}

fn lists() -> (Improvements, Evaluations) {
    let improvements = Improvements {
        agent: Some(name("finder")),
        project: Some(Project::Hash(hash())),
        standing: Some(Standing::Candidate),
        category: text("api_usage"),
        tag: text("a"),
        since: Some(at()),
        offset: 1,
        limit: 2,
    };
    let evaluations = Evaluations {
        agent: Some(name("finder")),
        success: Some(false),
        since: Some(at()),
        offset: 1,
        limit: 2,
    };
    (improvements, evaluations)
}

/// A sample of every call, in the order of the table.
#[allow(clippy::too_many_lines, reason = "it has an entry for each call")]
pub fn all() -> Vec<Sample> {
    let (recall, recalled) = recall();
    let (improvements, evaluations) = lists();
    let (agent, one, operation) = (Some(name("finder")), id("improvement_1"), OperationId(4));
    let summary = AgentSummary { name: name("finder"), improvements: 4, evaluations: 9, projects: 1 };
    let mut samples = vec![
        sample(Ping {}, Pong {}),
        sample(Status {}, status()),
        sample(Shutdown {}, ShuttingDown { pid: 4711 }),
        sample(recall, recalled),
        sample(report(), learned()),
        sample(Explain { recall: id("recall_1") }, explanation()),
        sample(remember(), remembered()),
        sample(capture(), captured()),
        sample(improvements, page()),
        sample(FindImprovement { agent: agent.clone(), id: one.clone() }, improvement()),
        sample(edit(), edited()),
        sample(Deprecate { agent: agent.clone(), id: one.clone(), reason: "because".to_owned() }, edited()),
        sample(Restore { agent: agent.clone(), id: one.clone() }, edited()),
        sample(
            DeleteImprovement { agent: agent.clone(), id: one.clone() },
            Deleted { improvement: improvement(), operation, archive: "/archive".to_owned() },
        ),
        sample(evaluations, EvaluationPage { evaluations: vec![evaluation()], total: 9 }),
        sample(ProfileOf { agent: name("finder") }, profile()),
        sample(SetProfile { profile: profile() }, profile()),
        sample(Agents {}, AgentList { agents: vec![summary] }),
        sample(
            Initialise {
                agent: name("finder"),
                file: Some("/finder.md".into()),
                project: Some(Project::Hash(hash())),
            },
            Initialised {
                agent: name("finder"),
                static_text: text("# Finder"),
                learned_improvements: vec![improvement()],
                memory_enabled: true,
            },
        ),
        sample(Consolidatable { agent: name("finder") }, page()),
        sample(
            MarkCrossValidated {
                agent: name("finder"),
                id: one.clone(),
                validating_agents: vec![name("writer")],
            },
            CrossValidated { improvement: improvement() },
        ),
        sample(
            ReceivePrinciple {
                agent: name("finder"),
                document: "A principle".to_owned(),
                category: "code_quality".to_owned(),
                confidence: confidence(),
                original_id: id("original_1"),
            },
            remembered(),
        ),
        sample(Contexts {}, ContextList { contexts: vec![context()] }),
        sample(Dashboard { agent: agent.clone() }, dashboard()),
        sample(
            Snapshots { agent: agent.clone(), since: Some(at().date_naive()), offset: 1, limit: 2 },
            SnapshotPage { snapshots: vec![snapshot()], total: 3 },
        ),
        sample(ReviewOf { week: Some(review::week()) }, review::review()),
        sample(Reviews {}, ReviewList { reviews: vec![review::review().summary()] }),
        sample(Maintain { job: Some(JobName::Metrics), dry_run: true }, maintained()),
        sample(
            Schedule {},
            ScheduleView { now: at(), zone: "Europe/Dublin".to_owned(), jobs: vec![job_state()] },
        ),
        sample(Watch { after: Some(6), wait_ms: 1000 }, watched()),
        sample(Journal { agent: agent.clone(), before: Some(operation), limit: 3 }, journal()),
        sample(
            Undo { operation },
            Undone { undone: operation, operation: OperationId(5), changes: texts(&["removed it"]) },
        ),
        sample(Archives {}, archives()),
        sample(
            SearchArchive {
                kind: Some(ArchiveKind::Operations),
                agent: agent.clone(),
                id: text("4"),
                text: "lesson".to_owned(),
                limit: 3,
            },
            archived(),
        ),
        sample(
            RestoreEvaluation { agent: agent.clone(), id: id("eval_1") },
            RestoredEvaluation { evaluation: evaluation(), operation: Some(operation) },
        ),
        sample(
            BackUp {},
            BackedUp { backup: backup(), folder: "/data/backups".to_owned(), removed: texts(&["older"]) },
        ),
        sample(Backups {}, BackupList { folder: "/data/backups".to_owned(), backups: vec![backup()] }),
        sample(
            Import { records: records(), dry_run: true },
            Imported {
                added: 3,
                known: 2,
                refused: vec![Refused { index: 1, reason: "no text".to_owned() }],
                redacted: texts(&["iban"]),
                operation: Some(operation),
            },
        ),
        sample(
            Export { agent: agent.clone(), after: text("improvement:7") },
            ExportPage { records: records(), next: text("outcome:1"), total: 5 },
        ),
        sample(
            ImportQ { agent: name("finder"), table: table() },
            ImportedQ { memories: 1, contexts: 1, unknown: texts(&["x"]), operation: Some(operation) },
        ),
        sample(ExportQ { agent: name("finder") }, table()),
    ];
    samples.extend(notes::all());
    samples.extend(notes::distilling());
    samples.push(sample(
        ImportChroma {
            source: ChromaSource::Server("http://chroma:8000".to_owned()),
            after: 200,
            dry_run: true,
        },
        ImportedChroma {
            added: 3,
            known: 2,
            refused: vec![RefusedRecord {
                collection: "agent_x_improvements".to_owned(),
                id: "improvement_1".to_owned(),
                reason: "no text".to_owned(),
            }],
            redacted: texts(&["iban"]),
            operation: Some(operation),
            next: Some(400),
            collections: vec![ChromaCollection { name: "recipes".to_owned(), records: 1, taken: false }],
        },
    ));
    samples.push(sample(
        Migrate { to: StoreKind::Chroma, after: text("telling") },
        Migrated {
            url: "http://127.0.0.1:8000".to_owned(),
            step: MigrationStep::Comparing,
            done: 2,
            of: 3,
            next: text("comparing"),
            collections: vec![ComparedCollection {
                name: "agent_x_improvements".to_owned(),
                here: 2,
                there: 3,
                digest_here: "ab".to_owned(),
                digest_there: "cd".to_owned(),
            }],
            aside: vec![set_aside()],
        },
    ));
    samples.push(sample(
        Examine {},
        Examined {
            checks: texts(&["disk"]),
            findings: vec![Trouble {
                check: "disk".to_owned(),
                problem: "full".to_owned(),
                advice: "Make room".to_owned(),
                open: text("/data"),
            }],
        },
    ));
    samples
}

fn set_aside() -> SetAside {
    SetAside {
        collection: "agent_x_improvements".to_owned(),
        id: "improvement_1".to_owned(),
        reason: "400".to_owned(),
    }
}
