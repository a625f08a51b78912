//! `memoryctl journal`

use clap::Args;
use memoryd_client::proto::{AgentName, Journal, JournalPage, Operation, OperationId, Serve};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint, notable, one_line, strong, time};

#[derive(Args, Debug)]
pub struct Arguments {
    /// Only changes of this agent's memory
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// Only operations older than this one
    #[arg(long, value_name = "OPERATION")]
    before: Option<OperationId>,
    /// How many to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 20)]
    limit: u64,
}

pub fn run(arguments: Arguments, service: &impl Serve<Journal>, out: &mut Output) -> Outcome {
    let Arguments { agent, before, limit } = arguments;
    out.reply(&service.serve(Journal { agent, before, limit })?, render)
}

fn render(page: &mut Page, journal: &JournalPage) {
    if journal.operations.is_empty() {
        page.line("Nothing has changed.");
        return archived(page, journal);
    }
    for operation in &journal.operations {
        self::operation(page, operation);
    }
    if let (true, Some(last)) = (journal.more, journal.operations.last()) {
        page.gap();
        page.line(faint(format_args!("Older ones: memoryctl journal --before {}", last.id)));
    }
    archived(page, journal);
}

/// Says at the end what is only in the archive.
fn archived(page: &mut Page, journal: &JournalPage) {
    if let (false, Some(last)) = (journal.more, journal.archived) {
        page.gap();
        page.line(faint(format_args!(
            "Up to operation {last} they are in the archive: memoryctl archive search --kind operations"
        )));
    }
}

/// An operation.
pub fn operation(page: &mut Page, operation: &Operation) {
    let whose = operation.agent.as_ref().map(|agent| format!(" · {agent}")).unwrap_or_default();
    let undone = operation.undone_by.map(|by| notable(format!("  undone by {by}")).to_string());
    page.line(format_args!(
        "{}  {}  {}{}",
        strong(format_args!("{:>5}", operation.id.0)),
        one_line(&operation.reason),
        faint(format_args!("{} · {}{whose}", time(operation.at), one_line(&operation.actor))),
        undone.unwrap_or_default()
    ));
    for change in &operation.changes {
        page.prose("       ", change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn an_operation_tells_why_when_and_what() {
        let operation = Operation {
            id: OperationId(17),
            at: sample::noon(),
            actor: "Report".to_owned(),
            reason: "Make the uploader robust".to_owned(),
            agent: "ada".parse().ok(),
            undone_by: Some(OperationId(18)),
            changes: vec!["evaluation eval_1 added".to_owned()],
        };
        let mut journal =
            JournalPage { operations: vec![operation], more: true, archived: Some(OperationId(9)) };
        let text = shown(|page| render(page, &journal));
        let at = time(sample::noon());
        assert_eq!(
            text,
            format!(
                "   17  Make the uploader robust  {at} · Report · ada  undone by 18
       evaluation eval_1 added

Older ones: memoryctl journal --before 17
"
            )
        );
        journal.more = false;
        let text = shown(|page| render(page, &journal));
        let end =
            "\n\nUp to operation 9 they are in the archive: memoryctl archive search --kind operations\n";
        assert!(text.ends_with(end), "{text}");
    }
}
