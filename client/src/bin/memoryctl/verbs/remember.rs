//! `memoryctl remember`

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use memoryd_client::proto::{
    Confidence, ImprovementId, Keeping, Kept, Remember, Remembered, ScopeChoice, Serve,
};

use crate::arguments::{Agent, Workplace, confidence, instant, pair};
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, faint, good, notable, scope};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    agent: Agent,
    #[command(flatten)]
    workplace: Workplace,
    /// What it is about, such as `error_handling`
    #[arg(long, value_name = "NAME")]
    category: String,
    /// How sure the agent is: from 0.7 it is recalled, from 0.5 a candidate, below refused
    #[arg(long, value_name = "0..1", value_parser = confidence)]
    confidence: Confidence,
    /// Where it applies [default: as the category says]
    #[arg(long)]
    scope: Option<Place>,
    /// A word to filter by; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A domain or technology it belongs to; may be repeated
    #[arg(long = "context-tag", value_name = "TAG")]
    context_tags: Vec<String>,
    /// The task, session or feedback it came from
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// A field of your own; may be repeated
    #[arg(long = "attr", value_name = "KEY=VALUE", value_parser = pair)]
    attributes: Vec<(String, String)>,
    /// Its id [default: a new one]
    #[arg(long)]
    id: Option<ImprovementId>,
    /// When it was learned [default: now]
    #[arg(long, value_name = "WHEN", value_parser = instant)]
    at: Option<DateTime<Utc>>,
    /// The pattern; - reads it from standard input
    text: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Place {
    /// In every project
    Global,
    /// In this project
    Project,
    /// In both
    Both,
}

impl From<Place> for ScopeChoice {
    fn from(place: Place) -> Self {
        match place {
            Place::Global => Self::Global,
            Place::Project => Self::Project,
            Place::Both => Self::Both,
        }
    }
}

pub fn run(arguments: Arguments, service: &impl Serve<Remember>, out: &mut Output) -> Outcome {
    let reply = service.serve(Remember {
        agent: arguments.agent.agent,
        document: input::argument(&arguments.text)?,
        category: arguments.category,
        confidence: arguments.confidence,
        project: arguments.workplace.project()?,
        scope: arguments.scope.map(Into::into),
        learned_from: arguments.from,
        tags: arguments.tags,
        context_tags: arguments.context_tags,
        attributes: arguments.attributes.into_iter().collect(),
        id: arguments.id,
        created_at: arguments.at,
    })?;
    out.reply(&reply, render)
}

/// What became of a pattern.
pub fn render(page: &mut Page, reply: &Remembered) {
    for kept in &reply.kept {
        page.line(kept_line(kept));
    }
    for kind in &reply.redacted {
        page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
    }
    if reply.truncated {
        page.line(notable("The text exceeds the model's window: its end is found by its words only."));
    }
    if reply.unknown_category {
        page.line(notable("The category is missing from the agent's profile."));
    }
    if let Some(operation) = reply.operation {
        page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
    }
}

/// What became of a pattern in one scope.
pub fn kept_line(kept: &Kept) -> String {
    let how = match kept.how {
        Keeping::Stored => good("stored").to_string(),
        Keeping::Candidate => notable("candidate").to_string(),
        Keeping::Corroborated => good("corroborated").to_string(),
        Keeping::Confirmed => good("confirmed").to_string(),
        Keeping::Known => "known already".to_owned(),
    };
    format!(
        "{how}  {}  {}",
        kept.id,
        faint(format_args!("{}, confidence {:.2}", scope(&kept.scope), kept.confidence.get()))
    )
}
