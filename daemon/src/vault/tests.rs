#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn vault() -> (tempfile::TempDir, Vault, Pen) {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::new(folder.path().join("tree"));
    let pen = Pen::new(vault.clone(), folder.path().join("replaced"));
    pen.make_folders().unwrap();
    (folder, vault, pen)
}

#[test]
fn a_write_keeps_the_mode_and_leaves_no_draft() {
    let (_folder, vault, pen) = vault();
    let path = vault.root().join("memory.md");
    pen.write(&path, None, Some("one")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    pen.write(&path, Some("one"), Some("two")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(vault.read(&path).unwrap().as_deref(), Some("two"));
    assert_eq!(fs::read_dir(vault.root()).unwrap().count(), 5);
    pen.write(&path, Some("two"), None).unwrap();
    assert_eq!(vault.read(&path).unwrap(), None);
}

#[test]
fn what_a_person_changed_is_not_written_over() {
    let (_folder, vault, pen) = vault();
    let path = vault.root().join("memory.md");
    fs::write(&path, "theirs").unwrap();
    for (before, after) in [(None, Some("x")), (Some("mine"), Some("x")), (Some("mine"), None)] {
        assert!(matches!(pen.write(&path, before, after), Err(Error::Changed { .. })));
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
}

#[test]
fn no_link_and_no_path_leads_out_of_the_tree() {
    let (folder, vault, pen) = vault();
    let secret = folder.path().join("secret.md");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, vault.root().join("memory.md")).unwrap();
    symlink(folder.path(), vault.root().join("domains/out")).unwrap();
    symlink(folder.path().join("nothing.md"), vault.root().join("domains/dangling.md")).unwrap();
    let paths =
        ["memory.md", "domains/out/secret.md", "domains/out/new.md", "domains/dangling.md", "../secret.md"];
    for path in paths.map(|path| vault.root().join(path)).into_iter().chain([secret.clone()]) {
        assert!(matches!(vault.read(&path), Err(Error::Outside { .. })), "{}", path.display());
        for before in [None, Some("secret")] {
            let written = pen.write(&path, before, Some("x"));
            assert!(matches!(written, Err(Error::Outside { .. })), "{}", path.display());
        }
    }
    assert_eq!(vault.files().unwrap(), []);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[test]
fn no_link_and_no_path_leads_out_of_a_folder_that_was_named() {
    let (folder, vault, _) = vault();
    let project = folder.path().join("app");
    fs::create_dir(&project).unwrap();
    fs::write(folder.path().join("secret.md"), "secret").unwrap();
    fs::write(project.join("CLAUDE.md"), "rules").unwrap();
    symlink(folder.path(), project.join("out")).unwrap();
    symlink("CLAUDE.md", project.join("AGENTS.md")).unwrap();
    let named = vault.with(&project);
    let outside = |vault: &Vault, path: &str| {
        let path = project.join(path);
        matches!(vault.read(&path), Err(Error::Outside { .. }))
            && matches!(
                Pen::new(vault.clone(), folder.path().join("replaced")).write(&path, None, Some("x")),
                Err(Error::Outside { .. })
            )
    };
    assert!(outside(&vault, "CLAUDE.md"), "nobody named it");
    for path in ["out/secret.md", "out/new.md", "../secret.md", "../app-2/CLAUDE.md"] {
        assert!(outside(&named, path), "{path}");
    }
    for path in ["CLAUDE.md", "AGENTS.md"] {
        assert_eq!(named.read(&project.join(path)).unwrap().as_deref(), Some("rules"), "{path}");
    }
}

#[test]
fn a_link_in_the_place_of_a_draft_is_not_written_through() {
    let (folder, vault, pen) = vault();
    let outside = folder.path().join("outside");
    fs::write(&outside, "theirs").unwrap();
    symlink(&outside, vault.root().join(format!(".memory.md.{}.0.draft", std::process::id()))).unwrap();
    let path = vault.root().join("memory.md");
    pen.write(&path, None, Some("ours")).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
}

#[test]
fn a_link_within_the_tree_stays_a_link() {
    let (_folder, vault, pen) = vault();
    let (real, link) = (vault.root().join("domains/code.md"), vault.root().join("memory.md"));
    fs::write(&real, "one").unwrap();
    symlink("domains/code.md", &link).unwrap();
    pen.write(&link, Some("one"), Some("two")).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "two");
}

#[test]
fn m3_files_are_listed_by_tier() {
    let (_folder, vault, _) = vault();
    for name in [
        "memory.md",
        "projects/b.md",
        "projects/a.md",
        "archive/deep/old.md",
        "shared/.hidden.md",
        "shared/x.txt",
    ] {
        let path = vault.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let listed: Vec<(Tier, String)> = vault
        .files()
        .unwrap()
        .into_iter()
        .map(|leaf| (leaf.tier, leaf.path.strip_prefix(vault.root()).unwrap().display().to_string()))
        .collect();
    let names: Vec<&str> = listed.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["projects/a.md", "projects/b.md", "memory.md", "archive/deep/old.md"]);
    assert_eq!(listed[3].0, Tier::Cold);
}
