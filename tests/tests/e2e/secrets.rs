//! No secret is stored, by whichever way it comes (spec M14, fault 34).

use std::path::Path;

use memoryd_proto::{
    Capture, Category, Criterion, CriterionScore, DeleteImprovement, Deprecate, Edit, Evaluations, Explain,
    Feedback, Import, Insight, Journal, KeepCaptured, Profile, ProfileOf, ReceivePrinciple, Record, Report,
    SetProfile, TaskError, ToolOutcome,
};
use memoryd_tests::{World, agent, confidence, everywhere, quality};

/// A token as GitHub makes them, different at every place, and each ending as `EVERY`.
fn token(place: u32) -> String {
    format!("ghp_{place:06}Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY")
}

const EVERY: &[u8] = b"EVERY";

fn say(place: u32, words: &str) -> String {
    format!("{words} with {} at hand", token(place))
}

/// Every file below a folder, with its bytes; compressed ones unpacked.
fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let packed = path.extension().is_some_and(|extension| extension == "zst");
            all.push((path, if packed { zstd::decode_all(bytes.as_slice()).unwrap() } else { bytes }));
        }
    }
    all
}

fn nowhere(world: &World<'_>) {
    let found: Vec<_> = files(&world.home.data_dir());
    assert!(found.iter().any(|(path, _)| path.ends_with("memory.db")));
    for (path, bytes) in found {
        let at = bytes.windows(EVERY.len()).position(|window| window == EVERY);
        if let Some(at) = at {
            let around = &bytes[at.saturating_sub(80)..(at + EVERY.len()).min(bytes.len())];
            panic!("a secret is in {}: …{}", path.display(), String::from_utf8_lossy(around));
        }
    }
}

#[test]
fn m14_a_secret_is_redacted_wherever_it_comes_back() {
    everywhere(|world| {
        let mut lesson = world.lesson(&say(1, "Clone the private repository"));
        lesson.learned_from = Some(say(2, "a session"));
        lesson.tags = vec![token(3)];
        lesson.context_tags = vec![token(4)];
        lesson.attributes = [(token(5), say(6, "a value"))].into();
        lesson.category = token(7);
        let kept = world.keep(lesson);
        assert_eq!(kept.redacted.len(), 7, "{:?}", kept.redacted);
        assert!(kept.redacted.iter().all(|kind| kind == "github token"), "{:?}", kept.redacted);
        let id = kept.kept[0].id.clone();

        let recalled = world.recall(&say(8, "clone the private repository"));
        assert_eq!(
            recalled.items[0].document,
            "Clone the private repository with [redacted: github token] at hand"
        );
        let explained = world.ask(Explain { recall: recalled.recall.clone() });
        assert_eq!(explained.query, "clone the private repository with [redacted: github token] at hand");

        let mut report = world.report("r1", &say(9, "Clone it"), true);
        report.recall = Some(recalled.recall);
        report.used = vec![id.clone()];
        report.task_type = token(10);
        report.errors = vec![TaskError { kind: token(11), message: say(12, "refused") }];
        report.feedback = Some(Feedback { positive: true, comment: say(13, "well done") });
        report.optimization = Some(say(14, "Clone shallowly"));
        report.insights = vec![Insight {
            text: say(15, "Clone over HTTPS"),
            category: token(16),
            confidence: confidence(0.9),
        }];
        report.notes = Some(say(17, "a note"));
        let learned = world.ask(report);
        assert_eq!(learned.redacted.len(), 9, "{:?}", learned.redacted);
        assert_eq!(learned.evaluation.task, "Clone it with [redacted: github token] at hand");

        let edited = world.ask(Edit {
            agent: None,
            id: id.clone(),
            document: Some(say(18, "Clone the public repository")),
            category: Some(token(19)),
            confidence: None,
            tags: Some(vec![token(20)]),
            context_tags: Some(vec![token(21)]),
        });
        assert_eq!(edited.redacted.len(), 4, "{:?}", edited.redacted);
        world.ask(Deprecate { agent: None, id: id.clone(), reason: say(22, "leaked") });
        world.ask(ReceivePrinciple {
            agent: agent("finder"),
            document: say(23, "Rotate what leaked"),
            category: token(24),
            confidence: confidence(0.9),
            original_id: "original".parse().unwrap(),
        });
        world.ask(SetProfile {
            profile: Profile {
                agent: agent("finder"),
                criteria: vec![Criterion { name: token(25), weight: 100.0 }],
                categories: vec![Category { name: token(26), description: say(27, "described") }],
            },
        });
        world.ask(DeleteImprovement { agent: None, id });

        let shown = [
            world.export(),
            serde_json::to_string(&world.ask(Evaluations::default())).unwrap(),
            serde_json::to_string(&world.ask(Journal::default())).unwrap(),
            serde_json::to_string(&world.ask(ProfileOf { agent: agent("finder") })).unwrap(),
            serde_json::to_string(&world.improvements()).unwrap(),
        ];
        for text in shown {
            assert!(!text.contains("EVERY"), "{text}");
            assert!(text.contains("[redacted: github token]") || !text.contains("ghp_"), "{text}");
        }
        nowhere(world);
    });
}

#[test]
fn m14_an_import_is_redacted_in_every_field() {
    everywhere(|world| {
        let mut lesson = world.lesson("Clone the private repository");
        lesson.tags = vec!["git".to_owned()];
        let id = world.keep(lesson).kept[0].id.clone();
        world.ask(SetProfile {
            profile: Profile {
                agent: agent("finder"),
                criteria: vec![Criterion { name: "speed".to_owned(), weight: 100.0 }],
                categories: Vec::new(),
            },
        });
        world.ask(Report { used: vec![id], ..world.report("r1", "Clone it", true) });
        let records = world.records();
        everywhere(|other| {
            let tainted: Vec<Record> = records
                .iter()
                .map(|record| match record.clone() {
                    Record::Improvement(mut one) => {
                        one.document = say(1, &one.document);
                        one.category = token(2);
                        one.learned_from = Some(token(3));
                        one.tags = vec![token(4)];
                        one.context_tags = vec![token(5)];
                        one.evidence = vec![token(6)];
                        one.attributes = [(token(7), token(8))].into();
                        one.deprecation =
                            Some(memoryd_proto::Deprecation { reason: token(9), at: one.created_at });
                        Record::Improvement(one)
                    }
                    Record::Evaluation(mut one) => {
                        one.task = token(10);
                        one.task_type = token(11);
                        one.strengths = vec![token(12)];
                        one.weaknesses = vec![token(13)];
                        one.notes = Some(token(14));
                        one.criteria = vec![CriterionScore { criterion: token(15), score: quality(9.0) }];
                        one.insights = vec![Insight {
                            text: token(16),
                            category: token(17),
                            confidence: confidence(0.9),
                        }];
                        Record::Evaluation(one)
                    }
                    Record::Profile(mut one) => {
                        one.criteria[0].name = token(18);
                        one.categories = vec![Category { name: token(19), description: token(20) }];
                        Record::Profile(one)
                    }
                    Record::Outcome(mut one) => {
                        one.task = token(21);
                        Record::Outcome(one)
                    }
                    Record::Snapshot(one) => Record::Snapshot(one),
                    Record::Review(one) => Record::Review(one),
                    Record::Context(one) => Record::Context(one),
                })
                .collect();
            let imported = other.ask(Import { records: tainted, dry_run: false });
            assert_eq!(imported.refused, []);
            assert_eq!(imported.redacted.len(), 21);
            assert!(!other.export().contains("EVERY"), "{}", other.export());
            nowhere(other);
        });
    });
}

#[test]
fn m14_a_secret_in_the_place_of_an_id_is_not_stored_either() {
    everywhere(|world| {
        let mut lesson = world.lesson("Clone the private repository");
        lesson.id = Some(token(1).parse().unwrap());
        world.fault(lesson);
        world.fault(Report { id: token(2).parse().unwrap(), ..world.report("r", "Clone it", true) });
        nowhere(world);
    });
}

#[test]
fn m14_ordinary_text_is_left_alone() {
    everywhere(|world| {
        let text = "Set GITHUB_TOKEN in the environment; its value starts with ghp_ and is never logged";
        let kept = world.keep(world.lesson(text));
        assert_eq!(kept.redacted, [""; 0]);
        assert_eq!(world.find(&kept.kept[0].id).document, text);
    });
}

/// Made-up credentials of many kinds, each ending as `EVERY`. They are put together here, so that the source itself
/// holds nothing that looks like one.
fn credentials() -> Vec<String> {
    const HEX: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9";
    const MIXED: &str = "Zq8rT5wLk2VbN7xJc4Md9Hf1sGp6Ry3Ue0Wa7Kt5Bn2Xv8Qm4Cj1Dz6Fh9Ls3EVERY";
    let tail = |length: usize| &MIXED[MIXED.len() - length..];
    let prefixed = [
        ("ghp_", 36),
        ("gho_", 36),
        ("ghs_", 36),
        ("glpat-", 20),
        ("sk_live_", 24),
        ("rk_test_", 24),
        ("whsec_", 32),
        ("AIza", 35),
        ("GOCSPX-", 28),
        ("sk-proj-", 60),
        ("hf_", 34),
        ("npm_", 36),
        ("cio", 32),
        ("dckr_pat_", 27),
        ("nfp_", 36),
        ("gsk_", 52),
        ("r8_", 37),
        ("pplx-", 48),
        ("figd_", 40),
        ("lin_api_", 40),
        ("secret_", 43),
        ("ntn_", 46),
        ("fo1_", 43),
        ("HRKU-", 36),
        ("dp.pt.", 43),
        ("sq0atp-", 22),
        ("pscale_tkn_", 43),
    ];
    let stated = [
        "Authorization: Bearer ",
        "api_key = ",
        "X-API-Key: ",
        "client_secret=",
        "password = ",
        "DB_PASSWORD=",
        "auth_token: ",
        "AWS_SECRET_ACCESS_KEY=",
        "Cookie: sid=",
        "CLOUDFLARE_API_TOKEN=",
    ];
    let urls = ["postgres://app:", "redis://:", "https://bob:"];
    prefixed
        .iter()
        .map(|(prefix, length)| format!("{prefix}{}", tail(*length)))
        .chain(stated.iter().map(|name| format!("{name}{}", tail(40))))
        .chain(urls.iter().map(|scheme| format!("{scheme}{}@db.internal:5432/app", tail(24))))
        .chain([format!("password: {}EVERY", &HEX[..20])])
        .collect()
}

#[test]
fn m14_credentials_of_all_kinds_never_come_back() {
    everywhere(|world| {
        let all = credentials();
        assert!(all.len() >= 30);
        for (number, credential) in all.iter().enumerate() {
            let text = format!("Deploy number {number} used {credential} and it worked");
            let kept = world.keep(world.lesson(&text));
            assert!(!kept.redacted.is_empty(), "{credential}");
            let keep = || Some(KeepCaptured { agent: agent("finder"), project: None });
            let said = Capture {
                text: format!("Always deploy with {credential} at hand"),
                tool: None,
                keep: keep(),
            };
            let captured = world.ask(said);
            assert!(!captured.redacted.is_empty() && captured.kept.is_some(), "{credential}");
            let tool = Some(ToolOutcome { name: "Bash".to_owned(), exit_code: Some(1), failed: true });
            let failed = world.ask(Capture { text: format!("refused: {credential}"), tool, keep: keep() });
            let answers = format!("{kept:?} {captured:?} {failed:?} {:?}", world.recall(&text));
            assert!(!answers.contains("EVERY"), "{credential}: {answers}");
        }
        for improvement in world.improvements() {
            assert!(!improvement.document.contains("EVERY"), "{}", improvement.document);
        }
        let removed = world.improvements()[0].id.clone();
        world.ask(DeleteImprovement { agent: None, id: removed });
        assert!(!world.export().contains("EVERY"));
        assert!(!format!("{:?}", world.ask(Journal::default())).contains("EVERY"));
        nowhere(world);
    });
}
