//! `memoryctl migrate`

use std::time::Duration;

use clap::{Args, ValueEnum};
use memoryd_client::proto::{ComparedCollection, Migrate, Migrated, MigrationStep, Serve, StoreKind};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, bad, clean, count, good, notable};
use crate::verbs::import::progress;

/// How long a step may take: comparing a large memory takes minutes.
pub const DEADLINE: Duration = Duration::from_mins(10);

#[derive(Args, Debug)]
pub struct Arguments {
    /// Where all records are to be
    #[arg(long, value_name = "STORE")]
    to: To,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum To {
    /// In the Chroma server of the configuration too
    Chroma,
    /// In the daemon's database alone
    Embedded,
}

/// What a migration came to.
#[derive(Debug, Serialize)]
struct Summary {
    to: StoreKind,
    agrees: bool,
    #[serde(flatten)]
    last: Migrated,
}

pub fn run(arguments: &Arguments, service: &impl Serve<Migrate>, out: &mut Output) -> Outcome {
    let to = match arguments.to {
        To::Chroma => StoreKind::Chroma,
        To::Embedded => StoreKind::Embedded,
    };
    let bar = progress::steps();
    let (mut after, mut told) = (None, 0);
    let last = loop {
        let step = service.serve(Migrate { to, after })?;
        let (name, done) = match step.step {
            MigrationStep::Reading => ("read", step.done),
            MigrationStep::Telling => {
                told += step.done;
                ("told", told)
            }
            MigrationStep::Comparing => ("compared", step.done),
        };
        bar.set_message(name);
        bar.set_length(if step.step == MigrationStep::Telling {
            told + step.of - step.done
        } else {
            step.of
        });
        bar.set_position(done);
        if step.next.is_none() {
            break step;
        }
        after = step.next;
    };
    bar.finish_and_clear();
    let agrees = last.collections.iter().all(ComparedCollection::agrees);
    out.reply(&Summary { to, agrees, last }, render)
}

fn render(page: &mut Page, summary: &Summary) {
    let last = &summary.last;
    for one in &last.collections {
        let verdict = if one.agrees() { good("agrees").to_string() } else { bad("differs").to_string() };
        page.line(format_args!(
            "{verdict}  {}: {} here, {} there",
            clean(&one.name),
            count(one.here, "record", "records"),
            one.there
        ));
    }
    for aside in &last.aside {
        let which = format!("{} in {} refused:", clean(&aside.id), clean(&aside.collection));
        page.prose(&format!("{}  ", bad(which)), &aside.reason);
    }
    page.gap();
    let store = match summary.to {
        StoreKind::Chroma => "chroma",
        StoreKind::Embedded => "embedded",
    };
    if summary.agrees {
        page.line(format_args!(
            "Both sides hold the same. To switch, set this in the configuration, and restart:"
        ));
        page.line(format_args!("  store = \"{store}\""));
    } else {
        page.line(notable(
            "The sides differ: somebody writes meanwhile, or records are refused. Run it again.",
        ));
    }
}
