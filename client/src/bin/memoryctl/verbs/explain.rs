//! `memoryctl explain`

use clap::Args;
use memoryd_client::proto::{Considered, Explain, Explanation, RecallId, RecallOutcome, Serve, Verdict};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, count, faint, good, notable, one_line, scope, time, word};
use crate::verbs::recall;

#[derive(Args, Debug)]
pub struct Arguments {
    /// The recall
    recall: RecallId,
}

pub fn run(arguments: Arguments, service: &impl Serve<Explain>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Explain { recall: arguments.recall })?, render)
}

fn render(page: &mut Page, reply: &Explanation) {
    let outcome = match reply.outcome {
        RecallOutcome::Open => "not reported yet",
        RecallOutcome::Succeeded => "reported: the task succeeded",
        RecallOutcome::Failed => "reported: the task failed",
        RecallOutcome::Expired => "not reported in time",
    };
    page.prose(&faint("query    ").to_string(), &reply.query);
    page.fields([
        ("recall", Some(format!("{}, {outcome}", reply.recall))),
        ("agent", Some(reply.agent.to_string())),
        ("at", Some(time(reply.at))),
        ("context", Some(format!("{}, learned utility counts {:.2}", reply.context, reply.alpha))),
        ("utility", Some(word(&reply.estimator))),
        ("gate", Some(format!("relevance of {:.2} or more", reply.gate))),
    ]);
    if reply.loaded > 0 {
        page.heading("Always loaded");
        let rules = count(reply.loaded, "rule", "rules");
        page.line(format_args!(
            "{rules} of memory.md, {} of which bear on this or contradict it",
            reply.hot.len()
        ));
        if !reply.hot.is_empty() {
            page.gap();
            recall::hot(page, &reply.hot);
        }
    }
    let (returned, fallen): (Vec<_>, Vec<_>) =
        reply.items.iter().partition(|item| item.verdict == Verdict::Returned);
    page.heading("Returned");
    list(page, &returned);
    page.heading("Considered, but not returned");
    list(page, &fallen);
}

fn list(page: &mut Page, items: &[&Considered]) {
    if items.is_empty() {
        page.line("none");
    }
    for item in items {
        let lead = match item.verdict {
            Verdict::Returned => good(format!("{:.2}  ", item.why.score)).to_string(),
            Verdict::Outranked
            | Verdict::Duplicate
            | Verdict::Overruled
            | Verdict::Irrelevant
            | Verdict::Deprecated
            | Verdict::Candidate
            | Verdict::LowSuccess => {
                format!("{:.2}  {}", item.why.score, notable(word(&item.verdict) + ": "))
            }
        };
        page.prose(&lead, &item.document);
        page.line(format_args!(
            "      {}",
            faint(format_args!("{} · {}", recall::place(&item.source, &item.id), scope(&item.scope)))
        ));
        if !item.conflicts.is_empty() {
            let by = item.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            page.line(format_args!("      {}", faint(format_args!("contradicts {by}"))));
        }
        if !item.words.is_empty() {
            page.line(format_args!(
                "      {}",
                faint(format_args!("shares {}", one_line(&item.words.join(", "))))
            ));
        }
        for line in recall::why(&item.why) {
            page.line(format_args!("      {}", faint(line)));
        }
    }
}
