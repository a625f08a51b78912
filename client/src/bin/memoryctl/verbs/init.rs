//! `memoryctl init`

use std::path::PathBuf;

use clap::Args;
use memoryd_client::proto::{Fault, InitNotes, Project, Serve, Written};

use crate::arguments::project;
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint};

#[derive(Args, Debug)]
pub struct Arguments {
    /// Create the learnings of the project in this folder too
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, service: &impl Serve<InitNotes>, out: &mut Output) -> Outcome {
    let folder = |path: &PathBuf| match project(path)? {
        Project::Folder(folder) => Ok(folder),
        Project::Hash(_) => Err(Fault::invalid("A hash is no folder", "Give the project's folder.")),
    };
    let project = arguments.project.as_ref().map(folder).transpose()?;
    out.reply(&service.serve(InitNotes { project })?, render)
}

fn render(page: &mut Page, reply: &Written) {
    if reply.places.is_empty() {
        return page.line("Everything is there already.");
    }
    for place in &reply.places {
        page.line(format_args!("created {}", place.file));
    }
    if let Some(operation) = reply.operation {
        page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::shown;
    use memoryd_client::proto::{OperationId, Place};

    #[test]
    fn what_was_created_is_listed() {
        let place = Place { file: "/tree/memory.md".to_owned(), line: None };
        let created = Written { places: vec![place], operation: Some(OperationId(4)), ..Written::default() };
        assert_eq!(
            shown(|page| render(page, &created)),
            "created /tree/memory.md\nTo undo it: memoryctl undo 4\n"
        );
        assert_eq!(shown(|page| render(page, &Written::default())), "Everything is there already.\n");
    }
}
