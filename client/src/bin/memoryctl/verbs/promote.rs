//! `memoryctl promote`

use std::path::PathBuf;

use clap::Args;
use memoryd_client::proto::{Distilled, PromoteLearning, Serve};

use super::log;
use crate::arguments::Workplace;
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, clean, faint, good};

#[derive(Args, Debug)]
pub struct Arguments {
    /// The learning: its id, the beginning of its id, or words that it alone has
    #[arg(required = true)]
    note: Vec<String>,
    /// The markdown file that gets the rule, from the project's root [default: CLAUDE.md]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// The rule, in a line [default: that of the learning]
    #[arg(long, value_name = "TEXT")]
    rule: Option<String>,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    workplace: Workplace,
}

pub fn run(arguments: Arguments, service: &impl Serve<PromoteLearning>, out: &mut Output) -> Outcome {
    let Arguments { note, to, rule, dry_run, workplace } = arguments;
    let project = workplace.folder()?;
    let call = PromoteLearning { note: note.join(" "), project, to, rule, dry_run };
    out.reply(&service.serve(call)?, |page, reply| render(page, dry_run, reply))
}

/// What was made of a note, or would be.
pub fn render(page: &mut Page, dry_run: bool, reply: &Distilled) {
    for added in &reply.additions {
        page.line(faint(format_args!("{}:{}", clean(&added.file), added.line)));
        for line in &added.lines {
            page.line(good(format!("+ {}", clean(line)).trim_end()));
        }
    }
    if dry_run && !reply.additions.is_empty() {
        page.line("Nothing was written: this is a dry run.");
    } else {
        log::render(page, &reply.written);
    }
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{AddedLines, OperationId, Place, Request, Written};

    use super::*;
    use crate::verbs::testing::{Fake, arguments, written};

    fn promoted(operation: Option<OperationId>) -> Distilled {
        let lines = vec!["## Learned".to_owned(), String::new(), "- Link with\u{1b}[2J one job.".to_owned()];
        let places = vec![Place { file: "/app/CLAUDE.md".to_owned(), line: Some(7) }];
        Distilled {
            written: Written { places, redacted: Vec::new(), operation },
            additions: vec![AddedLines { file: "/app/CLAUDE.md".to_owned(), line: 5, lines }],
        }
    }

    const ADDED: &str = "/app/CLAUDE.md:5\n+ ## Learned\n+\n+ - Link with [2J one job.\n";

    #[test]
    fn m11_what_was_added_is_shown() {
        let fake = Fake::default().reply::<PromoteLearning>(promoted(Some(OperationId(4))));
        let line = ["linking", "fails", "--to", "AGENTS.md", "--project", "/"];
        let (text, outcome) = written(false, |out| run(arguments("promote", &line), &fake, out));
        assert!(outcome.is_ok());
        assert_eq!(text, format!("{ADDED}written to /app/CLAUDE.md:7\nTo undo it: memoryctl undo 4\n"));
        let asked = fake.asked();
        let Request::PromoteLearning(call) = &asked[0] else { panic!("{asked:?}") };
        assert_eq!((call.note.as_str(), call.dry_run), ("linking fails", false));
        assert_eq!((call.to.clone(), call.project.clone()), (Some("AGENTS.md".into()), Some("/".into())));
    }

    #[test]
    fn m11_a_dry_run_and_what_is_there_already_say_so() {
        let fake = Fake::default().reply::<PromoteLearning>(promoted(None));
        let (text, _) =
            written(false, |out| run(arguments("promote", &["linking", "--dry-run"]), &fake, out));
        assert_eq!(text, format!("{ADDED}Nothing was written: this is a dry run.\n"));
        let fake =
            Fake::default().reply::<PromoteLearning>(Distilled { additions: Vec::new(), ..promoted(None) });
        let (text, _) =
            written(false, |out| run(arguments("promote", &["linking", "--dry-run"]), &fake, out));
        assert_eq!(text, "there already, in /app/CLAUDE.md:7\n");
    }
}
