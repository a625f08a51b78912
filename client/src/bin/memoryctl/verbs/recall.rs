//! `memoryctl recall`

use std::fmt::Write;

use clap::Args;
use memoryd_client::proto::{AgentName, ContextName, Item, Mode, Recall, Recalled, Serve, Why};

use crate::arguments::{Agent, Workplace};
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, context, count, faint, good, notable, one_line, scope, strong};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    agent: Agent,
    #[command(flatten)]
    workplace: Workplace,
    /// The kind of work, such as coding, debugging or research
    #[arg(long, value_name = "NAME")]
    context: Option<ContextName>,
    /// How many to find, if not as many as the daemon's setting says
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<u32>,
    /// Only this category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Only with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Show how each came to its place
    #[arg(long, short = 'v', visible_alias = "verbose")]
    explain: bool,
    /// The task, in the agent's words; - reads it from standard input
    query: String,
}

pub fn run(arguments: Arguments, service: &impl Serve<Recall>, out: &mut Output) -> Outcome {
    let agent = arguments.agent.agent;
    let reply = service.serve(Recall {
        agent: agent.clone(),
        query: input::argument(&arguments.query)?,
        project: arguments.workplace.project()?,
        context: arguments.context,
        limit: arguments.limit.unwrap_or(0),
        category: arguments.category,
        tags: arguments.tags,
    })?;
    out.reply(&reply, |page, reply| render(page, reply, &agent, arguments.explain))
}

fn render(page: &mut Page, reply: &Recalled, agent: &AgentName, explain: bool) {
    let searched = count(reply.searched, "improvement", "improvements");
    if reply.items.is_empty() {
        page.line(format_args!("Nothing learned so far has to do with this ({searched} searched)."));
        page.gap();
    }
    for (index, item) in reply.items.iter().enumerate() {
        render_item(page, index + 1, item, explain);
        page.gap();
    }
    if let Some(degraded) = &reply.degraded {
        page.prose(&notable("degraded  ").to_string(), degraded);
    }
    let weight = match reply.context.mode {
        Mode::Cold => String::new(),
        Mode::Warm => format!(", learned utility counts {:.2}", reply.alpha),
    };
    page.fields([
        ("recall", Some(strong(&reply.recall).to_string())),
        ("context", Some(format!("{}{weight}", context(&reply.context)))),
        ("searched", (!reply.items.is_empty()).then_some(searched)),
    ]);
    if let Some(first) = reply.items.first() {
        page.gap();
        page.line(faint("After the task, say what helped:"));
        page.line(faint(format_args!(
            "memoryctl report --agent {agent} --recall {} --used {} --task '…' --success",
            reply.recall, first.id
        )));
    }
}

fn render_item(page: &mut Page, rank: usize, item: &Item, explain: bool) {
    let lead =
        format!("{}  {}  ", strong(format_args!("{rank:>2}")), good(format_args!("{:.2}", item.why.score)));
    page.prose(&lead, &item.document);
    let place = format!(
        "{} · {} · confidence {:.2} · {}",
        item.id,
        clean(&item.category),
        item.confidence.get(),
        scope(&item.scope)
    );
    page.line(format_args!("          {}", faint(place)));
    if explain {
        for line in why(&item.why) {
            page.line(format_args!("          {}", faint(line)));
        }
    }
}

/// How an item came to its place, line by line. What had no part in it is left out.
pub fn why(why: &Why) -> Vec<String> {
    let mut signals = format!("cosine {:.2}, words {:.2}", why.cosine, why.lexical);
    if let Some(case) = why.case_cosine {
        let _ = write!(signals, ", a task it helped in {case:.2}");
    }
    if why.neighbours > 0.0 {
        let _ = write!(signals, ", neighbours +{:.2}", why.neighbours);
    }
    let mut lines =
        vec![format!("{signals} → similarity {:.2} → relevance {:.2}", why.similarity, why.relevance)];
    lines.extend(why.case.as_ref().map(|case| format!("the task: {}", one_line(case))));
    let confirmed = if why.multiplier > 1.0 {
        format!(" · {:.1} for agents that confirm it", why.multiplier)
    } else {
        String::new()
    };
    if why.alpha > 0.0 {
        lines.push(format!(
            "({:.2} · relevance + {:.2} · utility {:.2}){confirmed} → score {:.2}",
            1.0 - why.alpha,
            why.alpha,
            why.q,
            why.score
        ));
        lines.push(format!("utility rests on {:.1} outcomes near this query", why.evidence));
    } else if !confirmed.is_empty() {
        lines.push(format!("relevance{confirmed} → score {:.2}", why.score));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sample, shown};
    use super::*;

    #[test]
    fn a_recall_reads_as_a_list() {
        let text = shown(|page| render(page, &sample::recalled(), &"ada".parse().unwrap(), true));
        assert_eq!(
            text,
            "\u{20}1  0.68  Retry idempotent requests with backoff and jitter, and log the last error before
          giving up.
          imp_1 · error_handling · confidence 0.85 · global
          cosine 0.62, words 0.41, a task it helped in 0.66, neighbours +0.03 → similarity 0.58 → relevance 0.51
          the task: Make the uploader robust
          (0.70 · relevance + 0.30 · utility 0.71) · 1.2 for agents that confirm it → score 0.68
          utility rests on 3.2 outcomes near this query

recall    rec_1
context   debugging (warm, 120 interactions), learned utility counts 0.30
searched  240 improvements

After the task, say what helped:
memoryctl report --agent ada --recall rec_1 --used imp_1 --task '…' --success
"
        );
    }

    #[test]
    fn an_empty_recall_says_so() {
        let reply = Recalled { items: Vec::new(), ..sample::recalled() };
        let text = shown(|page| render(page, &reply, &"ada".parse().unwrap(), false));
        assert!(
            text.starts_with("Nothing learned so far has to do with this (240 improvements searched)."),
            "{text}"
        );
    }
}
