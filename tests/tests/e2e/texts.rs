//! Texts, tags and ids are kept as they are (faults 28, 32, 33).

use memoryd_proto::{Code, DeleteImprovement, Improvements, Keeping, Recall};
use memoryd_tests::{agent, documents, everywhere};

#[test]
fn fault_28_a_text_that_was_deleted_can_be_stored_again() {
    everywhere(|world| {
        let text = "Retry a failed download with exponential backoff";
        for _ in 0..3 {
            let kept = world.keep(world.lesson(text));
            assert_eq!(kept.kept[0].how, Keeping::Stored);
            assert_eq!(documents(&world.recall("retry a failed download")), [text]);
            world.ask(DeleteImprovement { agent: None, id: kept.kept[0].id.clone() });
            assert_eq!(documents(&world.recall("retry a failed download")), [""; 0]);
            world.clock.turn(chrono::TimeDelta::seconds(1));
        }
    });
}

#[test]
fn fault_32_tags_come_back_as_they_were_given() {
    everywhere(|world| {
        let tags = ["a,b", "release notes", "c++", "日本"].map(str::to_owned);
        let mut lesson = world.lesson("Write the release notes before tagging");
        lesson.tags = tags.to_vec();
        lesson.context_tags = vec!["rust, tokio".to_owned()];
        let id = world.keep(lesson).kept[0].id.clone();
        assert_eq!(world.find(&id).tags, tags);
        assert_eq!(world.find(&id).context_tags, ["rust, tokio"]);
        let with = |tag: &str| {
            world.ask(Improvements { tag: Some(tag.to_owned()), ..Improvements::default() }).total
        };
        for tag in &tags {
            assert_eq!(with(tag), 1, "{tag}");
            let mut recall = Recall::new(agent("finder"), "write the release notes");
            recall.tags = vec![tag.clone()];
            assert_eq!(world.ask(recall).items.len(), 1, "{tag}");
        }
        for part in ["a", "b", "release", "c", "rust"] {
            assert_eq!(with(part), 0, "{part}");
        }
    });
}

#[test]
fn fault_32_five_thousand_items_asked_for_is_what_there_is() {
    everywhere(|world| {
        for n in 0..7 {
            world.remember(&format!("Check pump {n} before opening valve {n}"));
        }
        let mut recall = Recall::new(agent("finder"), "check the pump before opening the valve");
        recall.limit = 5000;
        assert_eq!(world.ask(recall).items.len(), 7);
        let page = world.ask(Improvements { limit: 5000, ..Improvements::default() });
        assert_eq!((page.improvements.len(), page.total), (7, 7));
    });
}

#[test]
fn fault_33_a_text_beyond_the_models_window_is_said_to_be_and_found_by_its_last_words() {
    everywhere(|world| {
        let filler: Vec<String> = (0..400).map(|n| format!("paragraph {n} concerns gardens")).collect();
        let long = format!("{}. The quokka guards the zymurgy vault.", filler.join(", "));
        let kept = world.keep(world.lesson(&long));
        assert!(kept.truncated);
        assert!(!world.keep(world.lesson("A short lesson on boats")).truncated);
        assert_eq!(documents(&world.recall("quokka zymurgy vault")), [long.as_str()]);
        assert_eq!(world.find(&kept.kept[0].id).document, long);
    });
}

#[test]
fn texts_of_any_script_come_back_byte_for_byte() {
    everywhere(|world| {
        for text in [
            "データベースの接続を再利用する",
            "Переиспользуйте соединение 🦀",
            "line one\n\tline two\u{1F600}",
        ] {
            let id = world.remember(text);
            assert_eq!(world.find(&id).document, text);
        }
        assert_eq!(documents(&world.recall("データベースの接続")), ["データベースの接続を再利用する"]);
    });
}

#[test]
fn an_empty_or_endless_text_is_refused_with_the_bound() {
    everywhere(|world| {
        assert_eq!(world.fault(world.lesson(" \n\t")).code, Code::Invalid);
        let fault = world.fault(world.lesson(&"word ".repeat(60_000)));
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains("262144"), "{fault}");
        assert_eq!(world.improvements(), []);
    });
}

#[test]
fn an_id_that_is_taken_by_another_text_is_a_conflict() {
    everywhere(|world| {
        let mut lesson = world.lesson("Retry a failed download with exponential backoff");
        lesson.id = Some("my-id".parse().unwrap());
        world.keep(lesson.clone());
        lesson.document = "Pin the toolchain in continuous integration".to_owned();
        let fault = world.fault(lesson);
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains("my-id"), "{fault}");
    });
}
