//! `memoryctl capture`

mod hook;

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use memoryd_client::proto::{
    AgentName, Capture, Captured, Code, Fault, Finding, KeepCaptured, Project, Serve, Signal, Vetoed,
};

use super::{log, remember};
use crate::arguments::{self, Workplace};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, faint, good, notable, one_line, strong, word};
use hook::Hook;

/// How long a hook may hold its agent up.
pub const HOOK_DEADLINE: Duration = Duration::from_secs(2);

#[derive(Args, Debug)]
pub struct Arguments {
    /// Also keep what is captured: in the memory tree if there is one, else as an improvement
    #[arg(long)]
    keep: bool,
    /// Run as an agent's hook: read its JSON, and say nothing unless there is something to keep
    #[arg(long, conflicts_with = "sentence")]
    pub hook: bool,
    /// Whose it is; needed to keep it
    #[arg(long, env = "MEMORYD_AGENT", value_name = "NAME", required_if_eq("keep", "true"))]
    agent: Option<AgentName>,
    #[command(flatten)]
    workplace: Workplace,
    /// What was said [default: the sentence, or a hook's JSON, on standard input]
    sentence: Option<String>,
}

pub fn run(arguments: Arguments, service: &impl Serve<Capture>, out: &mut Output) -> Outcome {
    let hook = arguments.hook;
    let said = match &arguments.sentence {
        Some(sentence) if sentence != "-" => sentence.clone(),
        _ => stdin()?,
    };
    let answer = answer(arguments, &said, service, out);
    if hook { answer.map_err(harmless) } else { answer }
}

fn answer(arguments: Arguments, said: &str, service: &impl Serve<Capture>, out: &mut Output) -> Outcome {
    let is_hook = arguments.hook || arguments.sentence.is_none() && said.trim_start().starts_with('{');
    let read = if is_hook { Hook::read(said)? } else { Hook::said(said) };
    let Some(text) = read.text else { return Ok(()) };
    let keep = match arguments.agent.filter(|_| arguments.keep) {
        Some(agent) => {
            Some(KeepCaptured { agent, project: project(&arguments.workplace, read.folder.as_deref())? })
        }
        None => None,
    };
    let reply = service.serve(Capture { text, tool: read.tool, keep })?;
    if arguments.hook && reply.finding.is_none() {
        return Ok(());
    }
    out.reply(&reply, render)
}

/// The project: the one that was named, else the folder that the hook runs in.
fn project(workplace: &Workplace, folder: Option<&Path>) -> Result<Option<Project>, Fault> {
    match folder {
        Some(folder) if workplace.is_default() => arguments::project(folder).map(Some),
        _ => workplace.project(),
    }
}

/// Standard input; bytes that are no text become question marks, as tools put out anything.
fn stdin() -> Result<String, Fault> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| input::unreadable(Path::new("-"), &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The same failure, with an exit code that agents take for a hook that did not work. They take 2 for an order to stop.
fn harmless(failure: Failure) -> Failure {
    match failure {
        Failure::Fault(fault) if fault.code == Code::Invalid => {
            Failure::Fault(Fault::new(Code::Internal, fault.message, fault.advice))
        }
        failure @ (Failure::Fault(_) | Failure::Output(_) | Failure::Found) => failure,
    }
}

/// What was decided, and why.
fn render(page: &mut Page, reply: &Captured) {
    match &reply.finding {
        Some(finding) => found(page, finding),
        None => nothing(page, &reply.vetoed),
    }
    match (&reply.noted, &reply.kept) {
        (Some(noted), _) => log::render(page, noted),
        (None, Some(kept)) => remember::render(page, kept),
        (None, None) => reply.redacted.iter().for_each(|kind| {
            page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
        }),
    }
}

fn found(page: &mut Page, finding: &Finding) {
    let lead = format!("{}  ", good(word(&finding.signal)));
    page.prose(&lead, finding.rule.as_deref().unwrap_or(&finding.sentence));
    page.line(faint(format_args!(
        "{} Pattern {} matched {:?}, confidence {:.2}.",
        meaning(finding.signal),
        one_line(&finding.pattern),
        one_line(&finding.words),
        finding.confidence.get()
    )));
}

fn nothing(page: &mut Page, vetoed: &[Vetoed]) {
    page.line(strong("Nothing to keep."));
    if vetoed.is_empty() {
        page.line(faint("No pattern matched."));
    }
    for one in vetoed {
        page.line(faint(format_args!(
            "Pattern {} matched {:?}, but that is {}.",
            one_line(&one.pattern),
            one_line(&one.words),
            one_line(&one.because)
        )));
    }
}

fn meaning(signal: Signal) -> &'static str {
    match signal {
        Signal::Correction => "What the agent said or did was wrong.",
        Signal::Preference => "So it shall be done from now on.",
        Signal::Error => "Something failed.",
        Signal::FeatureGap => "The agent lacks an ability.",
        Signal::KnowledgeGap => "The agent did not know that.",
        Signal::BetterApproach => "There is a better way.",
    }
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{Confidence, OperationId, Place, Request, Written};

    use super::*;
    use crate::verbs::testing::{Fake, arguments, sample, shown, written};

    fn captured() -> Captured {
        Captured {
            finding: Some(Finding {
                signal: Signal::Preference,
                confidence: Confidence::clamped(0.9),
                pattern: "always".to_owned(),
                words: "always use tabs".to_owned(),
                sentence: "Please always use tabs".to_owned(),
                rule: Some("Use tabs".to_owned()),
            }),
            vetoed: Vec::new(),
            kept: None,
            noted: None,
            redacted: Vec::new(),
        }
    }

    fn nothing() -> Captured {
        let vetoed = Vetoed {
            pattern: "always".to_owned(),
            words: "always use tabs".to_owned(),
            veto: "once".to_owned(),
            because: "an instruction for this once".to_owned(),
        };
        Captured { finding: None, vetoed: vec![vetoed], ..captured() }
    }

    #[test]
    fn what_was_captured_is_shown_with_its_reason() {
        let reply = Captured { kept: Some(sample::remembered()), ..captured() };
        let text = shown(|page| render(page, &reply));
        let start = "preference  Use tabs\nSo it shall be done from now on. Pattern always matched \"always use tabs\", \
                     confidence 0.90.\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("stored  imp_3"), "{text}");
        let places = vec![Place { file: "/tree/memory.md".to_owned(), line: Some(7) }];
        let noted = Some(Written { places, operation: Some(OperationId(4)), ..Written::default() });
        let text = shown(|page| render(page, &Captured { noted, ..captured() }));
        assert!(text.ends_with("written to /tree/memory.md:7\nTo undo it: memoryctl undo 4\n"), "{text}");
    }

    #[test]
    fn what_was_not_captured_is_shown_with_its_reason() {
        let text = shown(|page| render(page, &nothing()));
        let reason = "Pattern always matched \"always use tabs\", but that is an instruction for this once.";
        assert_eq!(text, format!("Nothing to keep.\n{reason}\n"));
        let text = shown(|page| render(page, &Captured { vetoed: Vec::new(), ..nothing() }));
        assert_eq!(text, "Nothing to keep.\nNo pattern matched.\n");
    }

    #[test]
    fn a_hook_is_silent_unless_there_is_something_to_keep() {
        let fake = Fake::default().reply::<Capture>(nothing()).reply::<Capture>(captured());
        let json = r#"{"hook_event_name": "UserPromptSubmit", "prompt": "hello", "cwd": "/"}"#;
        let ask = || written(false, |out| answer(arguments("capture", &["--hook"]), json, &fake, out));
        let (silent, ended) = ask();
        assert!(ended.is_ok() && silent.is_empty(), "{silent}");
        assert!(ask().0.starts_with("preference  Use tabs"));
    }

    #[test]
    fn a_hook_keeps_in_the_project_it_runs_in() {
        let fake = Fake::default().reply::<Capture>(captured());
        let json = r#"{"prompt": "always use tabs", "cwd": "/"}"#;
        let line = ["--hook", "--keep", "--agent", "finder"];
        let (_, ended) = written(false, |out| answer(arguments("capture", &line), json, &fake, out));
        assert!(ended.is_ok());
        let asked = fake.asked();
        let Request::Capture(call) = &asked[0] else { panic!("{asked:?}") };
        assert_eq!(call.keep.as_ref().unwrap().project, Some(Project::Folder("/".into())));
    }

    #[test]
    fn a_shape_that_is_not_known_is_refused_and_stops_no_agent() {
        let refused = |line: &[&str]| {
            let (text, ended) = written(false, |out| {
                let arguments: Arguments = arguments("capture", line);
                let hook = arguments.hook;
                let ended = answer(arguments, r#"{"shape": "strange"}"#, &Fake::default(), out);
                if hook { ended.map_err(harmless) } else { ended }
            });
            assert_eq!(text, "");
            let Err(Failure::Fault(fault)) = ended else { panic!("{ended:?}") };
            fault
        };
        assert_eq!(refused(&[]).code, Code::Invalid);
        assert_eq!(refused(&["--hook"]).code, Code::Internal);
        assert!(refused(&[]).message.contains("prompt"), "{}", refused(&[]));
    }
}
