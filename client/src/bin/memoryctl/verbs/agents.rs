//! `memoryctl agents`

use memoryd_client::proto::{AgentList, Agents, Serve};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, grouped};

pub fn run(service: &impl Serve<Agents>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Agents {})?, render)
}

fn render(page: &mut Page, list: &AgentList) {
    if list.agents.is_empty() {
        return page.line("No agent has memory here yet.");
    }
    let rows = list.agents.iter().map(|agent| {
        [
            agent.name.to_string(),
            grouped(agent.improvements),
            grouped(agent.evaluations),
            grouped(agent.projects),
        ]
    });
    page.table(["agent", "improvements", "evaluations", "projects"], rows);
}
