//! Agents and projects: whose memory it is, and where it applies (spec I2, I3).

use std::path::Path;

use memoryd_proto::{AgentName, Code, Improvements, Project, Recall, Remember, Scope, ScopeChoice, Status};
use memoryd_tests::{World, agent, confidence, documents, everywhere};

fn in_folder(world: &World<'_>, name: &str, folder: &Path, document: &str) {
    let mut lesson = Remember::new(agent(name), "api_usage", confidence(0.8), document);
    lesson.project = Some(Project::Folder(folder.to_owned()));
    lesson.scope = Some(ScopeChoice::Project);
    world.keep(lesson);
}

fn seen_from(world: &World<'_>, name: &str, folder: &Path, query: &str) -> Vec<String> {
    let mut recall = Recall::new(agent(name), query);
    recall.project = Some(Project::Folder(folder.to_owned()));
    documents(&world.ask(recall)).into_iter().map(str::to_owned).collect()
}

#[test]
fn i2_an_agent_without_memory_recalls_nothing_and_is_not_created_by_asking() {
    everywhere(|world| {
        let recalled = world.recall("How do I retry a failed download?");
        assert_eq!(recalled.items, []);
        assert_eq!(recalled.searched, 0);
        assert_eq!(world.ask(Status {}).agents, 0);
    });
}

#[test]
fn i3_a_name_that_breaks_the_rule_is_refused_with_the_rule() {
    for wrong in ["../x", "", "-a", "a-", "a b", "ä", &"a".repeat(65)] {
        let fault = wrong.parse::<AgentName>().unwrap_err();
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains("is no agent name"), "{fault}");
        assert!(fault.advice.contains("A-Z, a-z, 0-9, _ and -"), "{fault}");
    }
    assert!("a".repeat(64).parse::<AgentName>().is_ok());
}

#[test]
fn i3_names_that_differ_only_in_case_are_one_agent() {
    everywhere(|world| {
        let remember = |name, document| {
            world.keep(Remember::new(agent(name), "error_handling", confidence(0.8), document));
        };
        remember("Code-Finder", "Retry a failed download with exponential backoff");
        remember("code-finder", "retry a failed download with exponential backoff.");
        assert_eq!(world.improvements().len(), 1);
        let recalled = world.ask(Recall::new(agent("CODE-FINDER"), "retry a failed download"));
        assert_eq!(documents(&recalled), ["Retry a failed download with exponential backoff"]);
        assert_eq!(world.improvements()[0].agent.as_str(), "Code-Finder");
    });
}

#[test]
fn i3_a_repository_its_folders_links_and_worktrees_are_one_project() {
    everywhere(|world| {
        let repository =
            world.home.folder("repository/.git/worktrees/side").ancestors().nth(3).unwrap().to_owned();
        let deep = world.home.folder("repository/src/deep");
        let worktree = world.home.folder("worktree");
        let pointer = format!("gitdir: {}/.git/worktrees/side\n", repository.display());
        std::fs::write(worktree.join(".git"), pointer).unwrap();
        let link = world.home.path().join("link");
        std::os::unix::fs::symlink(&repository, &link).unwrap();

        in_folder(world, "finder", &repository, "Call the ledger API with an idempotency key");
        for folder in [&repository, &deep, &worktree, &link] {
            let found = seen_from(world, "finder", folder, "call the ledger API");
            assert_eq!(found, ["Call the ledger API with an idempotency key"], "from {}", folder.display());
        }
        let elsewhere = world.home.folder("elsewhere");
        assert_eq!(seen_from(world, "finder", &elsewhere, "call the ledger API"), [""; 0]);
    });
}

#[test]
fn i3_a_folder_that_does_not_exist_or_is_relative_is_named() {
    everywhere(|world| {
        for folder in ["/no/such/folder", "src"] {
            let mut recall = Recall::new(agent("finder"), "anything");
            recall.project = Some(Project::Folder(folder.into()));
            let fault = world.fault(recall);
            assert_eq!(fault.code, Code::Invalid);
            assert!(fault.message.contains(folder), "{fault}");
        }
    });
}

#[test]
fn i3_projects_and_agents_whose_names_share_a_beginning_are_kept_apart() {
    everywhere(|world| {
        let (a, ab) = (world.home.folder("a"), world.home.folder("a-b"));
        let all = [("x", &a), ("x", &ab), ("x_y", &a), ("x_y", &ab)];
        let text = |name: &str, folder: &Path| {
            format!("Deploy the service through stage {name} {}", folder.file_name().unwrap().display())
        };
        for (name, folder) in all {
            in_folder(world, name, folder, &text(name, folder));
        }
        for (name, folder) in all {
            let found = seen_from(world, name, folder, "deploy the service through its stage");
            assert_eq!(found, [text(name, folder)]);
            let listed = world.ask(Improvements {
                agent: Some(agent(name)),
                project: Some(Project::Folder(folder.clone())),
                ..Improvements::default()
            });
            assert_eq!(listed.total, 1);
            assert!(matches!(listed.improvements[0].scope, Scope::Project(_)));
        }
    });
}
