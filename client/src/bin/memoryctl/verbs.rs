//! The verbs, one file each.

use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use memoryd_client::Client;
use memoryd_client::proto::Service;

use crate::arguments::seconds;
use crate::exit::{self, Outcome};
use crate::output::Output;

mod agents;
mod archive;
mod backup;
mod capture;
mod completions;
mod contexts;
mod dashboard;
mod doctor;
mod evaluations;
mod explain;
mod export;
mod import;
mod improvements;
mod init;
mod initialise;
mod journal;
mod log;
mod maintain;
mod man;
mod migrate;
mod notes;
mod performance;
mod ping;
mod profile;
mod projects;
mod promote;
mod recall;
mod remember;
mod report;
mod restart;
mod restore;
mod review;
mod schedule;
mod service;
mod share;
mod skills;
mod start;
mod status;
mod stop;
#[cfg(test)]
mod testing;
mod undo;
mod watch;

/// How long a call may take, unless told otherwise.
const DEADLINE: Duration = Duration::from_secs(30);

/// Ask memoryd, the memory daemon for AI agents
#[derive(Parser, Debug)]
#[command(name = "memoryctl", version, after_help = exit::CODES, max_term_width = 100)]
pub struct Command {
    /// Answer with one JSON document
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
    /// Give up after this long [default: 30, for migrate 600, for maintain 3600, for a hook 2]
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_name = "SECONDS",
        value_parser = seconds
    )]
    timeout: Option<Duration>,
    #[command(subcommand)]
    verb: Verb,
}

impl Command {
    /// The command that was given to this process.
    pub fn from_arguments() -> Result<Self, clap::Error> {
        Self::try_parse()
    }
}

#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant, reason = "a process has one")]
enum Verb {
    #[command(flatten)]
    Question(Question),
    #[command(flatten)]
    Errand(Errand),
}

/// What the service answers.
#[derive(Subcommand, Debug)]
enum Question {
    /// Find what was learned about a task, before it
    Recall(recall::Arguments),
    /// Report how a task went, and learn from it
    Report(report::Arguments),
    /// Keep a learned pattern
    Remember(remember::Arguments),
    /// Decide whether what was said is worth keeping
    Capture(capture::Arguments),
    /// Show why a recall answered what it did
    Explain(explain::Arguments),
    /// List and change what was learned
    #[command(subcommand)]
    Improvements(improvements::Verb),
    /// List how tasks went
    Evaluations(evaluations::Arguments),
    /// Show or set how an agent judges its work
    #[command(subcommand)]
    Profile(profile::Verb),
    /// List the agents that have memory here
    Agents,
    /// List the contexts and how warm they are
    Contexts,
    /// Show what an agent starts with: its file and all it learned
    #[command(visible_alias = "init-agent")]
    Initialise(initialise::Arguments),
    /// Show figures about the memory
    Dashboard(dashboard::Arguments),
    /// Show when maintenance runs next, and how it last went
    Schedule,
    /// List how agents did, day by day
    Performance(performance::Arguments),
    /// Copy the database now, or list the copies
    Backup(backup::Arguments),
    /// Show how a week went
    Review(review::Arguments),
    /// List what changed the memory
    Journal(journal::Arguments),
    /// Undo an operation of the journal
    Undo(undo::Arguments),
    /// Find what left the memory, and bring it back
    #[command(subcommand)]
    Archive(archive::Verb),
    /// Create the markdown memory tree, and a project's learnings
    Init(init::Arguments),
    /// Write an entry to the memory tree
    #[command(subcommand)]
    Log(log::Verb),
    /// Search, show and forget what the memory tree says
    #[command(subcommand)]
    Notes(notes::Verb),
    /// Make a project's learning a rule of its CLAUDE.md
    Promote(promote::Arguments),
    /// Find learnings that are worth being a skill, and make them one
    #[command(subcommand)]
    Skills(skills::Verb),
    /// Share insights with other sessions
    #[command(subcommand)]
    Share(share::Verb),
    /// List the projects that something was logged in
    Projects,
    /// Take in an export, or learned utilities in the QAVR format
    Import(import::Arguments),
    /// Move everything to a Chroma server, or back, and compare both
    Migrate(migrate::Arguments),
    /// Write everything to a file
    Export(export::Arguments),
    /// Show how the daemon is and what it holds
    Status,
    /// Check that the daemon answers
    Ping,
}

impl Question {
    /// How long its call may take, unless told otherwise.
    fn deadline(&self) -> Duration {
        if matches!(self, Self::Capture(arguments) if arguments.hook) {
            capture::HOOK_DEADLINE
        } else if matches!(self, Self::Migrate(_)) {
            migrate::DEADLINE
        } else {
            DEADLINE
        }
    }
}

/// What is done in this process.
#[derive(Subcommand, Debug)]
enum Errand {
    /// Start the daemon, unless it runs
    Start,
    /// Stop the daemon, and wait until it is gone
    Stop,
    /// Put a new process in the daemon's place, such as after an upgrade
    Restart,
    /// Have systemd or launchd take care of the daemon
    Service(service::Arguments),
    /// Tend the memory now, or show what that would change
    Maintain(maintain::Arguments),
    /// Look for everything that can be wrong, and say what to do
    Doctor(doctor::Arguments),
    /// Show what happens, a line each, until interrupted
    Watch,
    /// Put a copy in the place of the database
    Restore(restore::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Write man pages
    #[command(hide = true)]
    Man(man::Arguments),
}

/// Runs a command of this process.
pub fn run(command: Command) -> Outcome {
    let stdout = io::stdout();
    let columns = || terminal_size::terminal_size().map_or(80, |(width, _)| width.0.into());
    let width = stdout.is_terminal().then(columns);
    let mut writer = anstream::AutoStream::auto(stdout.lock());
    let mut out = Output::new(&mut writer, command.json, width);
    match command.verb {
        Verb::Question(question) => {
            let client = Client::here()?.with_deadline(command.timeout.unwrap_or(question.deadline()));
            client.greet()?;
            answer(question, &client, &mut out)
        }
        Verb::Errand(errand) => perform(errand, command.timeout, &mut out),
    }
}

fn answer(question: Question, service: &impl Service, out: &mut Output) -> Outcome {
    match question {
        Question::Recall(arguments) => recall::run(arguments, service, out),
        Question::Report(arguments) => report::run(arguments, service, out),
        Question::Remember(arguments) => remember::run(arguments, service, out),
        Question::Capture(arguments) => capture::run(arguments, service, out),
        Question::Explain(arguments) => explain::run(arguments, service, out),
        Question::Improvements(verb) => improvements::run(verb, service, out),
        Question::Evaluations(arguments) => evaluations::run(arguments, service, out),
        Question::Profile(verb) => profile::run(verb, service, out),
        Question::Agents => agents::run(service, out),
        Question::Contexts => contexts::run(service, out),
        Question::Initialise(arguments) => initialise::run(arguments, service, out),
        Question::Dashboard(arguments) => dashboard::run(arguments, service, out),
        Question::Schedule => schedule::run(service, out),
        Question::Performance(arguments) => performance::run(arguments, service, out),
        Question::Backup(arguments) => backup::run(&arguments, service, out),
        Question::Review(arguments) => review::run(arguments, service, out),
        Question::Journal(arguments) => journal::run(arguments, service, out),
        Question::Undo(arguments) => undo::run(&arguments, service, out),
        Question::Archive(verb) => archive::run(verb, service, out),
        Question::Init(arguments) => init::run(&arguments, service, out),
        Question::Log(verb) => log::run(verb, service, out),
        Question::Notes(verb) => notes::run(verb, service, out),
        Question::Promote(arguments) => promote::run(arguments, service, out),
        Question::Skills(verb) => skills::run(verb, service, out),
        Question::Share(verb) => share::run(verb, service, out),
        Question::Projects => projects::run(service, out),
        Question::Import(arguments) => import::run(&arguments, service, out),
        Question::Migrate(arguments) => migrate::run(&arguments, service, out),
        Question::Export(arguments) => export::run(arguments, service, out),
        Question::Status => status::run(service, out),
        Question::Ping => ping::run(service, out),
    }
}

fn perform(errand: Errand, given: Option<Duration>, out: &mut Output) -> Outcome {
    let timeout = given.unwrap_or(DEADLINE);
    match errand {
        Errand::Start => start::run(timeout, out),
        Errand::Stop => stop::run(timeout, out),
        Errand::Restart => restart::run(timeout, out),
        Errand::Service(arguments) => service::run(&arguments, out),
        Errand::Maintain(arguments) => maintain::run(&arguments, given, out),
        Errand::Doctor(arguments) => doctor::run(&arguments, timeout, out),
        Errand::Watch => watch::run(timeout, out),
        Errand::Restore(arguments) => restore::run(&arguments, timeout, out),
        Errand::Completions(arguments) => completions::run(&arguments, Command::command(), out),
        Errand::Man(arguments) => man::run(&arguments, Command::command()),
    }
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{
        ContextCount, Explain, Export, ExportPage, Fault, Import, Imported, Recall, Recalled, Record,
        Refused, Request,
    };

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Command::command().debug_assert();
    }

    fn asked(line: &str, fake: testing::Fake, json: bool) -> (String, Outcome, testing::Fake) {
        let command = Command::try_parse_from(line.split_whitespace()).unwrap();
        let Verb::Question(question) = command.verb else { panic!("{line:?} is no question") };
        let (text, outcome) = testing::written(json, |out| answer(question, &fake, out));
        (text, outcome, fake)
    }

    #[test]
    fn a_reply_is_one_json_document_for_programs() {
        let fake = testing::Fake::default().reply::<Recall>(testing::sample::recalled());
        let (text, outcome, fake) = asked("memoryctl recall --agent ada -n 3 --json uploads", fake, true);
        assert!(outcome.is_ok());
        let reply: Recalled = serde_json::from_str(&text).unwrap();
        assert_eq!(reply.recall, testing::sample::recalled().recall);
        assert!(
            matches!(&fake.asked()[..], [Request::Recall(call)] if call.limit == 3 && call.query == "uploads")
        );
    }

    #[test]
    fn a_fault_leaves_the_answer_empty() {
        let fault = Fault::not_found("No recall is named rec_9", "See `memoryctl journal`.");
        let fake = testing::Fake::default().fault::<Explain>(fault.clone());
        let (text, outcome, _) = asked("memoryctl explain rec_9", fake, false);
        assert_eq!(text, "");
        assert!(matches!(outcome, Err(exit::Failure::Fault(it)) if it == fault));
    }

    #[test]
    fn an_export_takes_page_after_page() {
        let record = || {
            let context = "coding".parse().unwrap();
            vec![Record::Context(ContextCount { context, interactions: 3 })]
        };
        let next = Some("2".to_owned());
        let fake = testing::Fake::default()
            .reply::<Export>(ExportPage { records: record(), next: next.clone(), total: 2 })
            .reply::<Export>(ExportPage { records: record(), next: None, total: 2 });
        let (text, outcome, fake) = asked("memoryctl export", fake, false);
        assert!(outcome.is_ok());
        assert_eq!(text, "{\"context\":{\"context\":\"coding\",\"interactions\":3}}\n".repeat(2));
        assert!(matches!(&fake.asked()[1], Request::Export(call) if call.after == next));
    }

    #[test]
    fn an_import_names_the_lines_that_were_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = "{\"context\":{\"context\":\"coding\",\"interactions\":3}}\n";
        std::fs::write(file.path(), format!("{line}\n{line}")).unwrap();
        let refused = vec![Refused { index: 1, reason: "The context is known twice".to_owned() }];
        let fake =
            testing::Fake::default().reply::<Import>(Imported { added: 1, refused, ..Imported::default() });
        let line = format!("memoryctl import {}", file.path().display());
        let (text, outcome, _) = asked(&line, fake, false);
        assert!(outcome.is_ok());
        assert_eq!(text, "1 record taken in\nline 3 refused:  The context is known twice\n");
    }
}
