//! `memoryctl undo`

use clap::Args;
use memoryd_client::proto::{OperationId, Serve, Undo, Undone};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint};

#[derive(Args, Debug)]
pub struct Arguments {
    /// The operation's number, from `memoryctl journal`
    operation: OperationId,
}

pub fn run(arguments: &Arguments, service: &impl Serve<Undo>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Undo { operation: arguments.operation })?, render)
}

fn render(page: &mut Page, undone: &Undone) {
    page.line(format_args!("Operation {} is undone.", undone.undone));
    for change in &undone.changes {
        page.prose("  ", change);
    }
    page.line(faint(format_args!("To undo the undoing: memoryctl undo {}", undone.operation)));
}
