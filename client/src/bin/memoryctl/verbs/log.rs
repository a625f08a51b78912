//! `memoryctl log`

use clap::{Args, Subcommand};
use memoryd_client::proto::{LearningKind, LogNote, NewNote, Place, Serve, Written};

use crate::arguments::Workplace;
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, faint, notable};

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// What the user put right; goes to corrections.md
    Correction(Correction),
    /// What failed; goes to the project's learnings
    Error(Learning),
    /// What works again and again; goes to the project's learnings
    Pattern(Learning),
    /// What was not known, or cannot be done yet; goes to the project's learnings
    Gap(Learning),
    /// What the user prefers; goes to memory.md
    Preference(Preference),
    /// What a task taught you; goes to the project's learnings, else to domains/reflections.md
    Reflection(Reflection),
}

#[derive(Args, Debug)]
pub struct Correction {
    /// What it is about, in a line
    summary: String,
    /// What was happening
    #[arg(long, value_name = "TEXT")]
    context: String,
    /// What the user said; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    said: String,
    /// The permanent takeaway
    #[arg(long, value_name = "TEXT")]
    rule: String,
    #[command(flatten)]
    workplace: Workplace,
}

#[derive(Args, Debug)]
pub struct Learning {
    /// What it is about, in a line
    summary: String,
    /// What was happening
    #[arg(long, value_name = "TEXT")]
    context: String,
    /// What went wrong, or what was learned; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    situation: String,
    /// The takeaway, in a sentence
    #[arg(long, value_name = "TEXT")]
    rule: String,
    #[command(flatten)]
    workplace: Workplace,
}

#[derive(Args, Debug)]
pub struct Preference {
    /// The preference, in a sentence
    rule: String,
    #[command(flatten)]
    workplace: Workplace,
}

#[derive(Args, Debug)]
pub struct Reflection {
    /// What to do differently
    lesson: String,
    /// The type of task
    #[arg(long, value_name = "TEXT")]
    context: String,
    /// What you noticed
    #[arg(long, value_name = "TEXT")]
    noticed: String,
    #[command(flatten)]
    workplace: Workplace,
}

pub fn run(verb: Verb, service: &impl Serve<LogNote>, out: &mut Output) -> Outcome {
    let (entry, workplace) = match verb {
        Verb::Correction(Correction { summary, context, said, rule, workplace }) => {
            let correction = input::argument(&said)?;
            (NewNote::Correction { summary, context, correction, rule }, workplace)
        }
        Verb::Error(learning) => learning.entry(LearningKind::Error)?,
        Verb::Pattern(learning) => learning.entry(LearningKind::Pattern)?,
        Verb::Gap(learning) => learning.entry(LearningKind::Gap)?,
        Verb::Preference(Preference { rule, workplace }) => (NewNote::Preference { rule }, workplace),
        Verb::Reflection(Reflection { lesson, context, noticed, workplace }) => {
            (NewNote::Reflection { context, reflection: noticed, lesson }, workplace)
        }
    };
    out.reply(&service.serve(LogNote { entry, project: workplace.folder()? })?, render)
}

impl Learning {
    fn entry(self, kind: LearningKind) -> Result<(NewNote, Workplace), memoryd_client::proto::Fault> {
        let Self { summary, context, situation, rule, workplace } = self;
        let situation = input::argument(&situation)?;
        Ok((NewNote::Learning { kind, summary, context, situation, rule }, workplace))
    }
}

/// Where something was written, and what was left out of it.
pub fn render(page: &mut Page, reply: &Written) {
    let how = if reply.operation.is_some() { "written to" } else { "there already, in" };
    for place in &reply.places {
        page.line(format_args!("{how} {}", cited(place)));
    }
    for kind in &reply.redacted {
        page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
    }
    if let Some(operation) = reply.operation {
        page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
    }
}

fn cited(place: &Place) -> String {
    match place.line {
        Some(line) => format!("{}:{line}", place.file),
        None => place.file.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::shown;
    use memoryd_client::proto::OperationId;

    #[test]
    fn what_was_written_is_cited_and_what_was_redacted_is_said() {
        let places = vec![Place { file: "/tree/memory.md".to_owned(), line: Some(7) }];
        let redacted = vec!["github token".to_owned()];
        let written = Written { places, redacted, operation: Some(OperationId(4)) };
        assert_eq!(
            shown(|page| render(page, &written)),
            "\
written to /tree/memory.md:7
A secret was redacted: github token
To undo it: memoryctl undo 4
"
        );
        let known = Written { operation: None, redacted: Vec::new(), ..written };
        assert_eq!(shown(|page| render(page, &known)), "there already, in /tree/memory.md:7\n");
    }
}
