//! Other writers: agents that talk to Chroma directly, and other daemons.

use memoryd_proto::{Archives, Edit, Journal, Undo};

use super::{Living, Shared, agrees};

const LESSON: &str = "Retry a failed download with exponential backoff";

#[test]
fn d2_pythons_own_client_and_memoryd_write_in_turns() {
    let Some(shared) = Shared::new() else { return };
    let world = shared.world();
    let id = world.remember(LESSON);
    shared.settle();
    let there = shared.at_server();
    assert_eq!(there[id.as_str()]["document"], LESSON);
    assert_eq!(there[id.as_str()]["confidence"], 0.8);
    assert_eq!(there[id.as_str()]["usage_count"], 0);
    assert!(there[id.as_str()].get("success_rate").is_none(), "absent while untested");

    shared.python(&format!(
        "c = client.get_collection('agent_finder_improvements')\n\
         c.add(ids=['improvement_py'], documents=['Quote shell arguments that hold spaces'], \
               embeddings=[[0.05] * 384], metadatas=[{{'category': 'code_quality', 'ticket': 7}}])\n\
         c.update(ids=['{id}'], metadatas=[{{'tags': 'web,net', 'confidence': 0.9}}])"
    ));
    shared.settle();
    let taken = world.find(&"improvement_py".parse().unwrap());
    assert_eq!((taken.category.as_str(), taken.attributes["ticket"].as_str()), ("code_quality", "7"));
    let edited = world.find(&id);
    assert_eq!((edited.tags.join(" "), edited.confidence.get()), ("web net".to_owned(), 0.9));
    assert_eq!(world.recall("quote shell arguments with spaces").items[0].id.as_str(), "improvement_py");

    world.live_through("r1", "quote the shell arguments", true, &[&taken.id]);
    let unchanged = Edit {
        agent: None,
        id: id.clone(),
        document: None,
        category: None,
        confidence: None,
        tags: None,
        context_tags: None,
    };
    world.ask(Edit { category: Some("network".to_owned()), ..unchanged });
    shared.settle();
    let there = shared.at_server();
    assert_eq!(there["improvement_py"]["usage_count"], 1);
    assert_eq!(there["improvement_py"]["success_rate"], 1.0);
    assert_eq!(there["improvement_py"]["ticket"], 7, "what is theirs stays as it was");
    assert!(there["improvement_py"].get("source").is_none(), "and is not filled up with defaults");
    assert_eq!(
        (&there[id.as_str()]["category"], &there[id.as_str()]["tags"]),
        (&"network".into(), &"web,net".into())
    );

    shared.python(&format!(
        "c = client.get_collection('agent_finder_improvements')\n\
         c.update(ids=['{id}'], documents=['Retry a failed upload, twice'], embeddings=[[0.01] * 384])\n\
         m = c.get(ids=['improvement_py'])['metadatas'][0]\n\
         c.update(ids=['improvement_py'], metadatas=[dict(m, usage_count=m['usage_count'] + 1, \
                  success_count=m['success_count'], success_rate=0.5)])"
    ));
    shared.settle();
    assert_eq!(world.find(&id).document, "Retry a failed upload, twice");
    let usage = world.find(&taken.id).usage;
    assert_eq!((usage.usage_count, usage.success_count, usage.failure_count), (2, 1, 1));
    agrees(&world);
}

#[test]
fn d2_a_recall_finds_what_another_wrote_a_moment_ago() {
    let Some(shared) = Shared::new() else { return };
    let world = shared.world();
    world.remember(LESSON);
    shared.settle();
    shared.python(
        "c = client.get_collection('agent_finder_improvements')\n\
         c.add(ids=['fresh'], documents=['Drain the queue before the worker is replaced'], embeddings=[[0.05] * 384])",
    );
    let recalled = world.recall("replace a worker whose queue is not empty");
    assert_eq!(recalled.items[0].id.as_str(), "fresh");
    assert_eq!(recalled.degraded, None);
}

#[test]
fn d2_what_another_removed_is_archived_and_can_be_brought_back() {
    let Some(shared) = Shared::new() else { return };
    let world = shared.world();
    let id = world.remember(LESSON);
    shared.settle();
    shared.python(&format!("client.get_collection('agent_finder_improvements').delete(ids=['{id}'])"));
    shared.settle();
    assert!(world.improvements().is_empty());
    assert_eq!(world.ask(Archives {}).files.len(), 1);
    let operation = world.ask(Journal::default()).operations[0].clone();
    assert_eq!(operation.actor, "chroma");
    world.ask(Undo { operation: operation.id });
    shared.settle();
    assert_eq!(shared.at_server()[id.as_str()]["document"], LESSON);
}

#[test]
fn d2_a_collection_that_is_gone_as_a_whole_is_told_again() {
    let Some(shared) = Shared::new() else { return };
    let world = shared.world();
    let id = world.remember(LESSON);
    shared.settle();
    shared.python("client.delete_collection('agent_finder_improvements')");
    shared.settle();
    assert_eq!(world.improvements().len(), 1);
    assert_eq!(shared.at_server()[id.as_str()]["document"], LESSON);
    shared.python(
        "client.delete_collection('agent_finder_improvements')\n\
         client.create_collection('agent_finder_improvements')",
    );
    shared.settle();
    assert_eq!(world.improvements().len(), 1, "another collection of that name does not know it yet");
    assert_eq!(shared.at_server()[id.as_str()]["document"], LESSON);
}

#[test]
fn d2_records_without_a_text_or_with_a_broken_rule_are_left_as_they_are() {
    let Some(shared) = Shared::new() else { return };
    let world = shared.world();
    world.remember(LESSON);
    shared.settle();
    let before = shared.python(
        "c = client.get_collection('agent_finder_improvements')\n\
         c.add(ids=['silent'], embeddings=[[0.05] * 384])\n\
         c.add(ids=['boastful'], documents=['Never fails'], embeddings=[[0.05] * 384], metadatas=[{'confidence': 85}])\n\
         print(c.get(ids=['silent', 'boastful']))",
    );
    shared.settle();
    assert_eq!(world.improvements().len(), 1);
    assert_eq!(world.recall("retry a failed download").items.len(), 1, "one without a text harms no recall");
    let after = shared
        .python("print(client.get_collection('agent_finder_improvements').get(ids=['silent', 'boastful']))");
    assert_eq!(before, after);
}

#[test]
fn m14_a_secret_that_another_wrote_does_not_come_in() {
    let Some(shared) = Shared::new() else { return };
    let world = shared.world();
    world.remember(LESSON);
    shared.settle();
    shared.python(
        "c = client.get_collection('agent_finder_improvements')\n\
         c.add(ids=['leaky'], documents=['Log in with ghp_abcdefghijklmnopqrstuvwxyz0123456789'], embeddings=[[0.05] * 384])",
    );
    shared.settle();
    let taken = world.find(&"leaky".parse().unwrap());
    assert!(taken.document.contains("[redacted"), "{}", taken.document);
    let there = shared.at_server();
    assert!(there["leaky"]["document"].as_str().unwrap().contains("ghp_"), "theirs stays as it is");
    assert!(!world.export().contains("ghp_"));
}

#[test]
fn d2_two_daemons_that_share_a_server_count_what_each_saw() {
    let Some(one) = Shared::new() else { return };
    let two = Living::new(&one.chroma.config(&one.database));
    // Ids are made from the time, and no two machines do the same at the same millisecond.
    two.clock.turn(chrono::TimeDelta::seconds(7));
    let other = two.world();
    let world = one.world();
    let id = world.remember(LESSON);
    one.settle();
    two.settle();
    assert_eq!(other.find(&id).document, LESSON);

    for n in 0..3 {
        world.live_through(&format!("one{n}"), "retry the failed download", true, &[&id]);
    }
    one.settle();
    for n in 0..2 {
        other.live_through(&format!("other{n}"), "retry the failed download", n == 0, &[&id]);
    }
    two.settle();
    one.settle();
    for world in [&world, &other] {
        let usage = world.find(&id).usage;
        assert_eq!((usage.usage_count, usage.success_count), (5, 4));
        agrees(world);
    }
}
