//! `memoryctl notes`

mod improve;
mod stats;

use std::path::Path;

use clap::{Args, Subcommand};
use memoryd_client::proto::{
    ForgetNotes, Forgotten, LearnedNotes, Note, NoteFiles, NoteKind, NotePage, NoteStats, ProjectNotes,
    SearchNotes, Service, Shortcomings, ShowNotes,
};

use crate::arguments::SomeAgent;
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, count, faint, grouped, notable, word};

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// What is known about something
    Search(SearchArguments),
    /// List the files, or show one, or all of a tier
    Show(ShowArguments),
    /// Recent corrections, and the rules that are always loaded
    Learned,
    /// What is known of a project
    Patterns(PatternsArguments),
    /// Count what is there
    Stats,
    /// What could be done better, going by recent work
    Improve(ImproveArguments),
    /// Archive what is said about something
    Forget(ForgetArguments),
}

#[derive(Args, Debug)]
pub struct SearchArguments {
    /// Words; who shares more and rarer ones comes first
    #[arg(required = true)]
    words: Vec<String>,
    /// Search the archive too
    #[arg(long)]
    archive: bool,
    /// How many to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 20)]
    limit: u64,
}

#[derive(Args, Debug)]
pub struct ShowArguments {
    /// A file of the tree, or local, project, domain, shared, hot, corrections, index or cold
    #[arg(value_name = "FILE|TIER")]
    of: Option<String>,
}

#[derive(Args, Debug)]
pub struct PatternsArguments {
    /// The project's name, or a folder in it [default: the current directory]
    project: Option<String>,
}

#[derive(Args, Debug)]
pub struct ImproveArguments {
    /// How many days back [default: 14, or as configured]
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true)]
    days: u32,
    #[command(flatten)]
    agent: SomeAgent,
}

#[derive(Args, Debug)]
pub struct ForgetArguments {
    /// Words that a note must all have
    #[arg(required = true)]
    words: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub fn run(verb: Verb, service: &impl Service, out: &mut Output) -> Outcome {
    match verb {
        Verb::Search(SearchArguments { words, archive, limit }) => {
            out.reply(&service.serve(SearchNotes { words: words.join(" "), archive, limit })?, found)
        }
        Verb::Show(ShowArguments { of }) => out.reply(&service.serve(ShowNotes { of })?, files),
        Verb::Learned => out.reply(&service.serve(LearnedNotes::default())?, found),
        Verb::Patterns(PatternsArguments { project }) => {
            let named = project.unwrap_or_else(|| ".".to_owned());
            let folder = Path::new(&named).canonicalize().ok().filter(|path| path.is_dir());
            let project = folder.map_or(named, |folder| folder.display().to_string());
            out.reply(&service.serve(ProjectNotes { project })?, found)
        }
        Verb::Stats => out.reply(&service.serve(NoteStats {})?, stats::render),
        Verb::Improve(ImproveArguments { days, agent }) => {
            out.reply(&service.serve(Shortcomings { agent: agent.agent, days })?, improve::render)
        }
        Verb::Forget(arguments) => forget(&arguments, service, out),
    }
}

/// Shows what would go, asks, and lets go of what was shown.
fn forget(arguments: &ForgetArguments, service: &impl Service, out: &mut Output) -> Outcome {
    let words = arguments.words.join(" ");
    let shown = service.serve(ForgetNotes { words: words.clone(), confirmed: Vec::new() })?;
    if shown.notes.is_empty() {
        return out.reply(&shown, forgotten);
    }
    if !arguments.yes {
        out.reply(&shown, forgotten)?;
        if !out.is_for_people() {
            return Ok(());
        }
        let question = format!("Move {} to {}? [y/N] ", notes(&shown.notes), shown.archive);
        input::confirmed(&question, "Nothing was archived yet")?;
    }
    let confirmed = shown.notes.into_iter().map(|note| note.id).collect();
    out.reply(&service.serve(ForgetNotes { words, confirmed })?, forgotten)
}

fn notes(notes: &[Note]) -> String {
    count(notes.len() as u64, "note", "notes")
}

fn forgotten(page: &mut Page, reply: &Forgotten) {
    if reply.notes.is_empty() {
        return page.line("Nothing is said about that.");
    }
    let Some(operation) = reply.operation else {
        return reply.notes.iter().for_each(|note| entry(page, note));
    };
    page.line(format_args!("{} moved to {}", notes(&reply.notes), reply.archive));
    page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
}

/// Notes with their sources.
pub fn found(page: &mut Page, reply: &NotePage) {
    reply.notes.iter().for_each(|note| entry(page, note));
    for unread in &reply.unread {
        page.line(notable(format_args!("not read: {}", clean(unread))));
    }
    let left_out = reply.total - reply.notes.len() as u64;
    let rest = if left_out > 0 { format!("; {} left out", grouped(left_out)) } else { String::new() };
    let from = count(reply.files, "file", "files");
    page.line(faint(format_args!("{} from {from}{rest}", notes(&reply.notes))));
}

/// A note with its source.
fn entry(page: &mut Page, note: &Note) {
    let kind = match note.kind {
        NoteKind::Line | NoteKind::Prose => note.section.clone().unwrap_or_else(|| word(&note.kind)),
        NoteKind::Correction
        | NoteKind::Error
        | NoteKind::Pattern
        | NoteKind::Gap
        | NoteKind::Insight
        | NoteKind::Reflection => word(&note.kind),
    };
    let date = note.date.map_or_else(String::new, |date| format!(", {date}"));
    let about = format!("{}:{}  {kind}{date}", note.file, note.line);
    page.line(faint(clean(&about)));
    page.prose("  ", &note.title);
    if let Some(rule) = &note.rule {
        page.prose("  Rule: ", rule);
    }
}

fn files(page: &mut Page, reply: &NoteFiles) {
    if reply.files.iter().any(|file| file.text.is_some()) {
        for file in &reply.files {
            page.heading(&clean(&file.file));
            page.line(clean(file.text.as_deref().unwrap_or_default().trim_end()));
        }
    } else {
        let rows = reply
            .files
            .iter()
            .map(|file| [word(&file.tier), grouped(file.lines), grouped(file.entries), file.file.clone()]);
        page.table(["tier", "lines", "entries", "file"], rows);
    }
    for skipped in &reply.skipped {
        page.line(notable(format_args!("skipped: {}", clean(skipped))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{Fake, shown, written};
    use memoryd_client::proto::{NoteFile, OperationId, Request, Tier};

    fn note() -> Note {
        Note {
            id: "0123".to_owned(),
            file: "/tree/corrections.md".to_owned(),
            line: 7,
            tier: Tier::Corrections,
            kind: NoteKind::Correction,
            section: Some("Corrections Log".to_owned()),
            title: "Tabs in\u{1b}[2J makefiles".to_owned(),
            date: "2026-01-05".parse().ok(),
            rule: Some("Use tabs.".to_owned()),
            text: "### [2026-01-05] Tabs".to_owned(),
            words: vec!["tabs".to_owned()],
        }
    }

    const ENTRY: &str = "\
/tree/corrections.md:7  correction, 2026-01-05
  Tabs in [2J makefiles
  Rule: Use tabs.
";

    #[test]
    fn m15_every_note_is_shown_with_its_file_and_line() {
        let unread = vec!["/tree/x.md is no UTF-8 text".to_owned()];
        let reply = NotePage { notes: vec![note()], total: 3, files: 2, unread };
        let rest = "not read: /tree/x.md is no UTF-8 text\n1 note from 2 files; 2 left out\n";
        assert_eq!(shown(|page| found(page, &reply)), format!("{ENTRY}{rest}"));
    }

    #[test]
    fn m13_only_what_was_shown_is_forgotten() {
        let archive = "/tree/archive/forgotten-2026-01.md".to_owned();
        let shown = Forgotten { notes: vec![note()], archive, operation: None };
        let gone = Forgotten { operation: Some(OperationId(4)), ..shown.clone() };
        let fake = Fake::default().reply::<ForgetNotes>(shown.clone()).reply::<ForgetNotes>(gone);
        let arguments = ForgetArguments { words: vec!["tabs".to_owned()], yes: true };
        let (text, outcome) = written(false, |out| run(Verb::Forget(arguments), &fake, out));
        assert!(outcome.is_ok());
        assert_eq!(
            text,
            "1 note moved to /tree/archive/forgotten-2026-01.md\nTo undo it: memoryctl undo 4\n"
        );
        let asked = fake.asked();
        assert!(matches!(&asked[1], Request::ForgetNotes(call) if call.confirmed == ["0123"]));
        let fake = Fake::default().reply::<ForgetNotes>(shown);
        let arguments = ForgetArguments { words: vec!["tabs".to_owned()], yes: false };
        let (text, outcome) = written(true, |out| run(Verb::Forget(arguments), &fake, out));
        assert!(outcome.is_ok() && text.contains("\"operation\": null"), "{text}");
        assert_eq!(fake.asked().len(), 1);
    }

    #[test]
    fn files_are_listed_or_shown_whole() {
        let file = NoteFile {
            file: "/tree/memory.md".to_owned(),
            tier: Tier::Hot,
            lines: 9,
            entries: 1,
            text: None,
        };
        let reply = |text| NoteFiles {
            root: "/tree".to_owned(),
            files: vec![NoteFile { text, ..file.clone() }],
            skipped: vec!["/tree/x.md".to_owned()],
        };
        assert_eq!(
            shown(|page| files(page, &reply(None))),
            "tier  lines  entries  file\nhot   9      1        /tree/memory.md\nskipped: /tree/x.md\n"
        );
        let text = shown(|page| files(page, &reply(Some("# Global Memory\n".to_owned()))));
        assert_eq!(text, "/tree/memory.md\n# Global Memory\nskipped: /tree/x.md\n");
    }
}
