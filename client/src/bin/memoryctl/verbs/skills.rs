//! `memoryctl skills`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memoryd_client::proto::{
    ExtractSkill, Fault, Service, SkillCandidate, SkillCriterion, SkillList, Skills,
};

use crate::arguments::Workplace;
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, clean, count, faint, grouped, notable};
use crate::verbs::promote;

/// What stands below a candidate's title.
const MARGIN: &str = "  ";

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// List the learnings that are worth being a skill, and why
    List(ListArguments),
    /// Make a learning a skill: NAME/SKILL.md
    Extract(ExtractArguments),
}

#[derive(Args, Debug)]
pub struct ListArguments {
    /// How many to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 20)]
    limit: u64,
}

#[derive(Args, Debug)]
pub struct ExtractArguments {
    /// The learning: its id, the beginning of its id, or words that it alone has
    #[arg(required = true)]
    note: Vec<String>,
    /// The skill's name: lower-case letters, digits and hyphens [default: from the learning's title]
    #[arg(long)]
    name: Option<String>,
    /// The folder that the skill's folder is made in [default: skills in the memory tree]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    workplace: Workplace,
}

pub fn run(verb: Verb, service: &impl Service, out: &mut Output) -> Outcome {
    match verb {
        Verb::List(ListArguments { limit }) => out.reply(&service.serve(Skills { limit })?, list),
        Verb::Extract(ExtractArguments { note, name, into, dry_run, workplace }) => {
            let into = into.map(|folder| existing(&folder)).transpose()?;
            let call =
                ExtractSkill { note: note.join(" "), project: workplace.folder()?, name, into, dry_run };
            out.reply(&service.serve(call)?, |page, reply| promote::render(page, dry_run, reply))
        }
    }
}

/// A folder, as the daemon finds it too.
fn existing(folder: &std::path::Path) -> Result<PathBuf, Fault> {
    folder.canonicalize().map_err(|error| {
        Fault::not_found(
            format!("The folder {} cannot be used: {error}", folder.display()),
            "Only the skill's own folder is made. Make the folder that it goes into first.",
        )
    })
}

fn list(page: &mut Page, reply: &SkillList) {
    if reply.candidates.is_empty() {
        page.line("No learning is worth being a skill yet.");
    }
    for one in &reply.candidates {
        candidate(page, one);
    }
    for unread in &reply.unread {
        page.line(notable(format_args!("not read: {}", clean(unread))));
    }
    let left_out = reply.total - reply.candidates.len() as u64;
    if left_out > 0 {
        page.line(faint(format_args!("{} left out", grouped(left_out))));
    }
    if !reply.candidates.is_empty() {
        page.line(faint("To make one a skill: memoryctl skills extract ID"));
    }
}

fn candidate(page: &mut Page, one: &SkillCandidate) {
    let id = one.note.id.get(..12).unwrap_or(&one.note.id);
    let elsewhere = match one.places.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(", and in {}", count(more as u64, "other place", "other places")),
    };
    let about = format!("{id}  {}:{}{elsewhere}", one.note.file, one.note.line);
    page.line(faint(clean(&about)));
    page.prose(MARGIN, &one.note.title);
    if let Some(rule) = &one.note.rule {
        page.prose(&format!("{MARGIN}Rule: "), rule);
    }
    for met in &one.met {
        page.prose(&format!("{MARGIN}{}: ", word(met.criterion)), &met.evidence);
    }
}

/// What a criterion is called.
pub fn word(criterion: SkillCriterion) -> &'static str {
    match criterion {
        SkillCriterion::Recurring => "recurring",
        SkillCriterion::Verified => "verified",
        SkillCriterion::NonObvious => "non-obvious",
        SkillCriterion::Broad => "broadly applicable",
        SkillCriterion::Asked => "asked for",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{Fake, shown, written};
    use memoryd_client::proto::{Distilled, Note, NoteKind, Place, Request, SkillEvidence, Tier, Written};

    fn found() -> SkillCandidate {
        let note = Note {
            id: "0123456789abcdef".to_owned(),
            file: "/app/.learnings/LEARNINGS.md".to_owned(),
            line: 7,
            tier: Tier::Local,
            kind: NoteKind::Error,
            section: None,
            title: "Linking fails".to_owned(),
            date: None,
            rule: Some("Link with one job.".to_owned()),
            text: String::new(),
            words: Vec::new(),
        };
        let met = |criterion, evidence: &str| SkillEvidence { criterion, evidence: evidence.to_owned() };
        let place = Place { file: "x".to_owned(), line: Some(1) };
        SkillCandidate {
            note,
            places: vec![place.clone(), place],
            met: vec![
                met(SkillCriterion::Recurring, "used in 4 tasks"),
                met(SkillCriterion::NonObvious, "an error that took 40 words to tell"),
            ],
            name: Some("linking-fails".to_owned()),
        }
    }

    #[test]
    fn m12_candidates_are_shown_with_what_they_meet() {
        let reply = SkillList { candidates: vec![found()], total: 3, unread: Vec::new() };
        assert_eq!(
            shown(|page| list(page, &reply)),
            "\
0123456789ab  /app/.learnings/LEARNINGS.md:7, and in 1 other place
  Linking fails
  Rule: Link with one job.
  recurring: used in 4 tasks
  non-obvious: an error that took 40 words to tell
2 left out
To make one a skill: memoryctl skills extract ID
"
        );
        let none = shown(|page| list(page, &SkillList::default()));
        assert_eq!(none, "No learning is worth being a skill yet.\n");
    }

    #[test]
    fn m12_a_skill_goes_to_a_folder_that_is_there() {
        let places = vec![Place { file: "/skills/x/SKILL.md".to_owned(), line: None }];
        let reply = Distilled { written: Written { places, ..Written::default() }, additions: Vec::new() };
        let fake = Fake::default().reply::<ExtractSkill>(reply);
        let extract = |into: &str, fake: &Fake| {
            let arguments = ExtractArguments {
                note: vec!["0123".to_owned()],
                name: Some("x".to_owned()),
                into: Some(into.into()),
                dry_run: false,
                workplace: Workplace::default(),
            };
            written(false, |out| run(Verb::Extract(arguments), fake, out))
        };
        assert!(extract("/no/such/folder", &fake).1.is_err());
        let (text, outcome) = extract("/", &fake);
        assert!(outcome.is_ok());
        assert_eq!(text, "there already, in /skills/x/SKILL.md\n");
        let asked = fake.asked();
        assert!(
            matches!(&asked[..], [Request::ExtractSkill(call)] if call.into == Some("/".into()) && call.note == "0123")
        );
    }
}
