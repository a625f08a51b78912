//! The layers of the daemon: a module imports from its own layer and those below, never from above. The table is the
//! one in the crate's documentation; this test reads the sources, so that it cannot rot.

#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module's layer. Adding a module means deciding where it belongs.
const LAYERS: &[(u8, &[&str])] = &[
    (0, &["clock", "domain"]),
    (
        1,
        &[
            "archive", "backup", "chroma", "config", "database", "embed", "events", "index", "ledger",
            "lock", "notes", "project", "store", "vault",
        ],
    ),
    (2, &["error", "view"]),
    (3, &["journal"]),
    (4, &["jobs"]),
    (5, &["service"]),
    (6, &["courier", "manager", "scheduler", "server", "shutdown", "watch"]),
    (7, &["boot", "lib", "logging", "main"]),
];

/// The most lines that a file may have, its tests not counted.
const LONGEST: usize = 450;

struct Source {
    /// Relative to `src`.
    path: String,
    module: String,
    /// Without its tests and its comments.
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            let is_code = path.extension().is_some_and(|extension| extension == "rs");
            // Files that hold nothing but tests.
            if !is_code || relative.contains("tests/") || relative.ends_with("tests.rs") {
                continue;
            }
            let module = relative.trim_end_matches(".rs").split('/').next().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            sources.push(Source { path: relative, module, code: code.collect::<Vec<_>>().join("\n") });
        }
    }
    assert!(sources.len() > 30, "the sources are not where this test looks");
    sources
}

/// The modules that a file names as `crate::…`, those in braces too.
fn imports(code: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        let Some(group) = after.strip_prefix('{') else {
            found.push(word(after));
            continue;
        };
        let (mut depth, mut fresh) = (0_u32, true);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => fresh = true,
                c if fresh && depth == 0 && c.is_alphabetic() => {
                    found.push(word(&group[at..]));
                    fresh = false;
                }
                _ => {}
            }
        }
    }
    found
}

fn layers() -> BTreeMap<&'static str, u8> {
    LAYERS.iter().flat_map(|(layer, modules)| modules.iter().map(|module| (*module, *layer))).collect()
}

#[test]
fn no_module_imports_from_a_layer_above() {
    let layers = layers();
    let mut wrong = Vec::new();
    for source in sources() {
        let own = layers.get(source.module.as_str());
        let own = own.unwrap_or_else(|| panic!("{} is in no layer: add it to the table", source.path));
        for import in imports(&source.code) {
            let theirs = layers.get(import.as_str());
            let theirs =
                theirs.unwrap_or_else(|| panic!("{} imports {import}, which is in no layer", source.path));
            if theirs > own {
                wrong.push(format!("{} (layer {own}) imports {import} (layer {theirs})", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "imports from above:\n{}", wrong.join("\n"));
}

#[test]
fn no_import_climbs_past_its_own_module() {
    for source in sources() {
        let nested = source.path.matches('/').count();
        let climbs = "super::".repeat(nested + 1);
        assert!(!source.code.contains(&climbs), "{} imports {climbs}: write crate::", source.path);
    }
}

#[test]
fn the_rules_import_nothing_but_rules() {
    for source in sources().iter().filter(|source| source.module == "domain") {
        for import in imports(&source.code) {
            assert_eq!(import, "domain", "{} imports {import}", source.path);
        }
        for outside in ["std::fs", "std::net", "std::time", "Utc::now", "rusqlite", "tokio"] {
            assert!(!source.code.contains(outside), "{} touches {outside}", source.path);
        }
    }
}

#[test]
fn only_the_edges_know_the_runtime() {
    // The crate that speaks to Chroma is asynchronous, and has a runtime of its own.
    for source in sources().iter().filter(|source| source.path != "chroma/http.rs") {
        let layer = layers()[source.module.as_str()];
        // The token that stops the daemon is shared with the services; it needs no runtime.
        let code = source.code.replace("tokio_util::sync::CancellationToken", "");
        assert!(layer >= 6 || !code.contains("tokio"), "{} knows the runtime", source.path);
    }
}

#[test]
fn only_the_clock_reads_the_time() {
    for source in sources().iter().filter(|source| source.module != "clock") {
        for reading in ["Utc::now", "Local::now", "SystemTime::now"] {
            assert!(!source.code.contains(reading), "{} reads the time by {reading}", source.path);
        }
    }
}

#[test]
fn a_file_holds_one_idea() {
    for source in sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let text = fs::read_to_string(root.join(&source.path)).unwrap();
        let lines = text.split("#[cfg(test)]\nmod tests {").next().unwrap().lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines without its tests", source.path);
        assert!(!source.path.ends_with("mod.rs"), "{} is a mod.rs", source.path);
        assert!(!text.contains("#[path"), "{} moves a module by #[path]", source.path);
    }
}

#[test]
fn the_table_in_the_documentation_is_this_one() {
    let documentation = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    for (layer, modules) in LAYERS {
        let row = documentation.lines().find(|line| line.starts_with(&format!("//! | {layer} ")));
        let row = row.unwrap_or_else(|| panic!("layer {layer} is not documented"));
        for module in modules.iter().filter(|module| !["lib", "main"].contains(*module)) {
            assert!(row.contains(&format!("[`{module}`]")), "{module} is not in the row of layer {layer}");
        }
    }
}

#[test]
fn imports_are_found_however_they_are_written() {
    let code = "use crate::store::{Memory, rows};\nuse crate::{archive, embed::{Embed, Onnx}, error};\n\
                let x = crate::project::resolve(crate::domain::text::hex);";
    assert_eq!(imports(code), ["store", "archive", "embed", "error", "project", "domain"]);
}
