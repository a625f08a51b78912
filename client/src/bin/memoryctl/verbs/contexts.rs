//! `memoryctl contexts`

use memoryd_client::proto::{ContextList, Contexts, Serve};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint, mode};

pub fn run(service: &impl Serve<Contexts>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Contexts {})?, render)
}

fn render(page: &mut Page, list: &ContextList) {
    let rows = list.contexts.iter().map(|context| {
        [
            context.name.to_string(),
            format!("{} of {}", context.interactions, context.warm_from),
            mode(context.mode).to_owned(),
        ]
    });
    page.table(["context", "interactions", "mode"], rows);
    page.gap();
    page.line(faint("Learned utility counts in a warm context."));
}
