//! `memoryctl improvements`

use clap::{Args, Subcommand};
use memoryd_client::proto::{
    AgentName, Confidence, Consolidatable, DeleteImprovement, Deleted, Deprecate, Edit, Edited, Fault,
    FindImprovement, ImprovementId, MarkCrossValidated, ReceivePrinciple, Restore, Service,
};

use crate::arguments::{Agent, One, confidence};
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, faint, notable};
use crate::verbs::remember;

mod list;
mod show;

pub use show::render as show;

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// List them, newest first
    List(list::Arguments),
    /// Show one
    Show(One),
    /// Change the text or fields of one
    Edit(EditArguments),
    /// Stop recalling one, but keep it
    Deprecate(DeprecateArguments),
    /// Bring back one that was deprecated or archived
    Restore(One),
    /// Archive one and remove it
    Delete(One),
    /// List those that may be consolidated with other agents
    Consolidatable(Agent),
    /// Mark one as confirmed by other agents
    CrossValidate(CrossValidateArguments),
    /// Receive a principle that other agents established
    Receive(ReceiveArguments),
}

#[derive(Args, Debug)]
pub struct EditArguments {
    #[command(flatten)]
    one: One,
    /// The new text; - reads it from standard input
    #[arg(long)]
    text: Option<String>,
    /// The new category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// The new confidence
    #[arg(long, value_name = "0..1", value_parser = confidence)]
    confidence: Option<Confidence>,
    /// A tag, in place of all it had; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Option<Vec<String>>,
    /// A context tag, in place of all it had; may be repeated
    #[arg(long = "context-tag", value_name = "TAG")]
    context_tags: Option<Vec<String>>,
}

#[derive(Args, Debug)]
pub struct DeprecateArguments {
    #[command(flatten)]
    one: One,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Args, Debug)]
pub struct CrossValidateArguments {
    #[command(flatten)]
    agent: Agent,
    /// The improvement
    id: ImprovementId,
    /// An agent that confirmed it; may be repeated
    #[arg(long = "by", value_name = "NAME", required = true)]
    by: Vec<AgentName>,
}

#[derive(Args, Debug)]
pub struct ReceiveArguments {
    #[command(flatten)]
    agent: Agent,
    /// What it is about
    #[arg(long, value_name = "NAME")]
    category: String,
    /// The confidence it had where it comes from
    #[arg(long, value_name = "0..1", value_parser = confidence)]
    confidence: Confidence,
    /// The improvement it comes from
    #[arg(long, value_name = "ID")]
    original: ImprovementId,
    /// The principle; - reads it from standard input
    text: String,
}

pub fn run(verb: Verb, service: &impl Service, out: &mut Output) -> Outcome {
    match verb {
        Verb::List(arguments) => out.reply(&service.serve(arguments.call()?)?, list::render),
        Verb::Show(One { id, agent }) => {
            out.reply(&service.serve(FindImprovement { agent, id })?, show::render)
        }
        Verb::Edit(arguments) => out.reply(&service.serve(arguments.call()?)?, edited),
        Verb::Deprecate(DeprecateArguments { one: One { id, agent }, reason }) => {
            out.reply(&service.serve(Deprecate { agent, id, reason })?, edited)
        }
        Verb::Restore(One { id, agent }) => out.reply(&service.serve(Restore { agent, id })?, edited),
        Verb::Delete(One { id, agent }) => {
            out.reply(&service.serve(DeleteImprovement { agent, id })?, deleted)
        }
        Verb::Consolidatable(Agent { agent }) => {
            out.reply(&service.serve(Consolidatable { agent })?, list::render)
        }
        Verb::CrossValidate(CrossValidateArguments { agent: Agent { agent }, id, by }) => {
            let reply = service.serve(MarkCrossValidated { agent, id, validating_agents: by })?;
            out.reply(&reply, |page, reply| show::render(page, &reply.improvement))
        }
        Verb::Receive(arguments) => out.reply(&service.serve(arguments.call()?)?, remember::render),
    }
}

impl EditArguments {
    fn call(self) -> Result<Edit, Fault> {
        Ok(Edit {
            agent: self.one.agent,
            id: self.one.id,
            document: self.text.as_deref().map(input::argument).transpose()?,
            category: self.category,
            confidence: self.confidence,
            tags: self.tags,
            context_tags: self.context_tags,
        })
    }
}

impl ReceiveArguments {
    fn call(self) -> Result<ReceivePrinciple, Fault> {
        Ok(ReceivePrinciple {
            agent: self.agent.agent,
            document: input::argument(&self.text)?,
            category: self.category,
            confidence: self.confidence,
            original_id: self.original,
        })
    }
}

/// An improvement that was changed, and how to undo that.
pub fn edited(page: &mut Page, reply: &Edited) {
    show::render(page, &reply.improvement);
    page.gap();
    for kind in &reply.redacted {
        page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
    }
    page.line(match reply.operation {
        Some(operation) => faint(format!("To undo it: memoryctl undo {operation}")),
        None => faint("Nothing had to change.".to_owned()),
    });
}

fn deleted(page: &mut Page, reply: &Deleted) {
    page.line(format_args!("{} is removed and kept in {}", reply.improvement.id, reply.archive));
    page.line(faint(format_args!("To undo it: memoryctl undo {}", reply.operation)));
}
