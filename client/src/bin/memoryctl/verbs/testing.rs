//! Replies to render, and what they look like.

use std::cell::RefCell;
use std::collections::VecDeque;

use clap::{Args, Command};
use memoryd_client::proto::{Call, Fault, Request, Serve, frame};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::Page;

/// A verb's arguments, as they are typed.
pub fn arguments<A: Args>(verb: &'static str, typed: &[&str]) -> A {
    let command = A::augment_args(Command::new(verb));
    let matches = command.try_get_matches_from([&[verb], typed].concat()).unwrap();
    A::from_arg_matches(&matches).unwrap()
}

/// A page as text without colours.
pub fn shown(render: impl FnOnce(&mut Page)) -> String {
    let mut page = Page::new(None);
    render(&mut page);
    anstream::adapter::strip_str(page.text()).to_string()
}

/// A service that gives prepared replies, in order, and keeps what it was asked.
#[derive(Default)]
pub struct Fake {
    replies: RefCell<VecDeque<Vec<u8>>>,
    asked: RefCell<Vec<Request>>,
}

impl Fake {
    /// Prepares the reply to the next call.
    pub fn reply<C: Call>(self, reply: C::Reply) -> Self {
        self.prepare::<C>(&Ok(reply))
    }

    /// Prepares a fault for the next call.
    pub fn fault<C: Call>(self, fault: Fault) -> Self {
        self.prepare::<C>(&Err(fault))
    }

    /// What it was asked.
    pub fn asked(self) -> Vec<Request> {
        self.asked.into_inner()
    }

    fn prepare<C: Call>(self, reply: &Result<C::Reply, Fault>) -> Self {
        self.replies.borrow_mut().push_back(frame::encode(reply).unwrap());
        self
    }
}

impl<C: Call> Serve<C> for Fake {
    fn serve(&self, call: C) -> Result<C::Reply, Fault> {
        self.asked.borrow_mut().push(call.into());
        let reply = self.replies.borrow_mut().pop_front().expect("a reply is prepared");
        frame::decode::<Result<C::Reply, Fault>>(&reply[frame::HEADER..]).unwrap()
    }
}

/// What a verb writes for a program (`json`) or for people, and how it ends.
pub fn written(json: bool, verb: impl FnOnce(&mut Output) -> Outcome) -> (String, Outcome) {
    let mut bytes = Vec::new();
    let outcome = verb(&mut Output::new(&mut bytes, json, None));
    (anstream::adapter::strip_str(&String::from_utf8(bytes).unwrap()).to_string(), outcome)
}

/// Replies made by hand.
pub mod sample {
    use chrono::{DateTime, Utc};
    use memoryd_client::proto::{
        Backup, BackupKind, Confidence, ContextState, Evaluation, HotRule, Improvement, Insight,
        InsightOutcome, Item, ItemOutcome, Keeping, Kept, Learned, Loaded, Mode, NoteKind, OperationId,
        Origin, QValue, Quality, Recalled, Remembered, Scope, Snapshot, Source, Tier, Usage, Why,
    };

    fn sure(confidence: f64) -> Confidence {
        Confidence::clamped(confidence)
    }

    pub fn recalled() -> Recalled {
        let why = Why {
            cosine: 0.62,
            case: Some("Make the uploader robust".to_owned()),
            case_cosine: Some(0.66),
            lexical: 0.41,
            neighbours: 0.03,
            similarity: 0.58,
            relevance: 0.51,
            q: 0.71,
            alpha: 0.3,
            multiplier: 1.2,
            score: 0.684,
            evidence: 3.2,
        };
        let note =
            |file: &str, line, tier| Origin::Note { file: file.to_owned(), line, tier, kind: NoteKind::Line };
        let rule = HotRule {
            id: "note:00112233445566778899aabbccddeeff".parse().unwrap(),
            source: note("/home/ada/self-improving/memory.md", 12, Tier::Hot),
            document: "Use tabs in makefiles.".to_owned(),
            section: Some("Rules".to_owned()),
            relevant: false,
            conflicts: Vec::new(),
        };
        let noted = Item {
            id: "note:ffeeddccbbaa99887766554433221100".parse().unwrap(),
            source: note("/home/ada/self-improving/projects/app.md", 3, Tier::Project),
            scope: Scope::Project("0123456789ab".parse().unwrap()),
            document: "Retry uploads 3 times.".to_owned(),
            category: "Uploads".to_owned(),
            confidence: sure(1.0),
            conflicts: vec!["note:0123456789abcdef0123456789abcdef".parse().unwrap()],
            why: Why {
                case: None,
                case_cosine: None,
                neighbours: 0.0,
                relevance: 0.52,
                alpha: 0.0,
                multiplier: 1.0,
                score: 0.52,
                ..why.clone()
            },
        };
        let loaded =
            |file: &str, tier| Loaded { file: format!("/home/ada/self-improving/{file}"), tier, notes: 1 };
        let item = Item {
            id: "imp_1".parse().unwrap(),
            source: Origin::Improvement,
            scope: Scope::Global,
            document:
                "Retry idempotent requests with backoff and jitter, and log the last error before giving up."
                    .to_owned(),
            category: "error_handling".to_owned(),
            confidence: sure(0.85),
            conflicts: Vec::new(),
            why,
        };
        Recalled {
            recall: "rec_1".parse().unwrap(),
            hot: vec![rule],
            items: vec![item, noted],
            context: ContextState {
                name: "debugging".parse().unwrap(),
                interactions: 120,
                warm_from: 100,
                mode: Mode::Warm,
            },
            alpha: 0.3,
            searched: 240,
            loaded: vec![loaded("memory.md", Tier::Hot), loaded("projects/app.md", Tier::Project)],
            skipped: vec!["2 more that others rank above".to_owned()],
            degraded: None,
        }
    }

    pub fn improvement() -> Improvement {
        Improvement {
            id: "imp_1".parse().unwrap(),
            agent: "ada".parse().unwrap(),
            scope: Scope::Global,
            category: "error_handling".to_owned(),
            document: "Retry idempotent requests with backoff".to_owned(),
            learned_from: Some("task 4711".to_owned()),
            confidence: sure(0.85),
            created_at: noon(),
            tags: vec!["http".to_owned(), "retry".to_owned()],
            context_tags: Vec::new(),
            source: Source::Own,
            original_id: None,
            corroborations: 1,
            evidence: Vec::new(),
            cross_validation: None,
            consolidation_eligible: true,
            deprecation: None,
            promotion: None,
            attributes: [("ticket".to_owned(), "OPS-7".to_owned())].into(),
            usage: Usage {
                usage_count: 3,
                success_count: 2,
                failure_count: 1,
                success_rate: Some(2.0 / 3.0),
                last_used: None,
                access_count: 5,
                last_accessed: None,
                q_value: QValue::clamped(0.55),
            },
        }
    }

    pub fn noon() -> DateTime<Utc> {
        "2026-01-26T12:00:00Z".parse().unwrap()
    }

    pub fn snapshot() -> Snapshot {
        Snapshot {
            agent: "ada".parse().unwrap(),
            day: noon().date_naive(),
            at: noon(),
            total_tasks: 40,
            successful_tasks: 30,
            success_rate: 0.75,
            avg_quality: Quality::new(81.6).unwrap(),
            quality_trend: 4.24,
            avg_time_ms: Some(1500.0),
            avg_tokens: Some(5200.0),
            total_insights: 7,
            improvements_stored: 5,
            improving: true,
        }
    }

    pub fn backup() -> Backup {
        Backup {
            name: "memory-2026-01-26T120000Z-by-hand.db".to_owned(),
            made_at: noon(),
            bytes: 1_572_864,
            kind: BackupKind::ByHand,
            improvements: Some(1204),
            evaluations: Some(1),
        }
    }

    pub fn remembered() -> Remembered {
        Remembered {
            kept: vec![Kept {
                id: "imp_3".parse().unwrap(),
                scope: Scope::Global,
                how: Keeping::Stored,
                confidence: sure(0.8),
            }],
            operation: None,
            redacted: Vec::new(),
            truncated: false,
            unknown_category: false,
        }
    }

    pub fn learned() -> Learned {
        let item = |id: &str, used, q, usage_count, success_rate| ItemOutcome {
            id: id.parse().unwrap(),
            used,
            q_before: QValue::START,
            q_after: QValue::clamped(q),
            usage_count,
            success_rate,
            deprecated: false,
        };
        let insight = |text: &str, category: &str, confidence| Insight {
            text: text.to_owned(),
            category: category.to_owned(),
            confidence: sure(confidence),
        };
        let kept = remembered();
        Learned {
            evaluation: Evaluation {
                id: "eval_1".parse().unwrap(),
                agent: "ada".parse().unwrap(),
                project: None,
                task: "Make the uploader robust".to_owned(),
                task_type: "debug".to_owned(),
                success: true,
                quality: Quality::new(85.0).unwrap(),
                criteria: Vec::new(),
                time_taken_ms: None,
                tokens_used: None,
                strengths: vec!["Task completed successfully".to_owned()],
                weaknesses: Vec::new(),
                insights: Vec::new(),
                recall: None,
                used: Vec::new(),
                notes: None,
                at: noon(),
            },
            insights: vec![
                InsightOutcome {
                    insight: insight("Measure before tuning", "code_quality", 0.8),
                    derived: false,
                    kept: Some(kept),
                    refused: None,
                },
                InsightOutcome {
                    insight: insight("Retry on timeouts", "error_handling", 0.4),
                    derived: true,
                    kept: None,
                    refused: Some("The confidence is below 0.5".to_owned()),
                },
            ],
            items: vec![item("imp_1", true, 0.55, 3, Some(2.0 / 3.0)), item("imp_2", false, 0.46, 0, None)],
            context: Some(ContextState {
                warm_from: 100,
                name: "debugging".parse().unwrap(),
                interactions: 12,
                mode: Mode::Cold,
            }),
            operation: OperationId(17),
            repeated: false,
            redacted: vec!["github token".to_owned()],
        }
    }
}
