//! `memoryctl recall`

use std::fmt::Write;

use clap::Args;
use memoryd_client::proto::{
    AgentName, ContextName, HotRule, ImprovementId, Item, Loaded, Mode, Origin, Recall, Recalled, Serve,
    Tier, Why,
};

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
    /// Only this category, which notes have not
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Only with this tag, which notes have not; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Search the archive of the memory tree too
    #[arg(long)]
    archive: bool,
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
        archive: arguments.archive,
    })?;
    out.reply(&reply, |page, reply| render(page, reply, &agent, arguments.explain))
}

fn render(page: &mut Page, reply: &Recalled, agent: &AgentName, explain: bool) {
    let searched = count(reply.searched, "memory", "memories");
    hot(page, &reply.hot);
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
        ("loaded", loaded(&reply.loaded)),
    ]);
    for skipped in &reply.skipped {
        page.line(format_args!("{}{}", notable("skipped   "), clean(skipped)));
    }
    let first = reply.items.first().map(|item| &item.id);
    if let Some(first) = first.or_else(|| reply.hot.first().map(|rule| &rule.id)) {
        page.gap();
        page.line(faint("After the task, say what helped:"));
        page.line(faint(format_args!(
            "memoryctl report --agent {agent} --recall {} --used {first} --task '…' --success",
            reply.recall
        )));
    }
}

/// The rules that are always loaded, one below the other.
pub fn hot(page: &mut Page, rules: &[HotRule]) {
    for rule in rules {
        page.prose("    ", &rule.document);
        page.line(format_args!("      {}", faint(place(&rule.source, &rule.id))));
        conflicts(page, "      ", &rule.conflicts);
    }
    if !rules.is_empty() {
        page.gap();
    }
}

fn render_item(page: &mut Page, rank: usize, item: &Item, explain: bool) {
    let lead =
        format!("{}  {}  ", strong(format_args!("{rank:>2}")), good(format_args!("{:.2}", item.why.score)));
    page.prose(&lead, &item.document);
    let about = match (&item.source, item.category.as_str()) {
        (Origin::Note { .. }, "") => String::new(),
        (Origin::Note { .. }, category) => format!(" · {}", clean(category)),
        (Origin::Improvement, category) => {
            format!(" · {} · confidence {:.2}", clean(category), item.confidence.get())
        }
    };
    let place = format!("{}{about} · {}", place(&item.source, &item.id), scope(&item.scope));
    page.line(format_args!("          {}", faint(place)));
    conflicts(page, "          ", &item.conflicts);
    if explain {
        for line in why(&item.why) {
            page.line(format_args!("          {}", faint(line)));
        }
    }
}

/// Where a pattern was taken from, and what names it in reports.
pub fn place(source: &Origin, id: &ImprovementId) -> String {
    match source {
        Origin::Improvement => id.to_string(),
        Origin::Note { file, line, tier, .. } => format!("{}:{line} · {id}", clean(short(file, *tier))),
    }
}

/// A file's path from the folder of the tree on; whole when it is not in the tree.
fn short(file: &str, tier: Tier) -> &str {
    let from = match tier {
        Tier::Local => None,
        Tier::Project => file.rfind("/projects/"),
        Tier::Domain => file.rfind("/domains/"),
        Tier::Shared => file.rfind("/shared/"),
        Tier::Cold => file.rfind("/archive/"),
        Tier::Hot | Tier::Corrections | Tier::Index => file.rfind('/'),
    };
    from.map_or(file, |at| &file[at + 1..])
}

/// What contradicts it, where nothing says which of both is right.
fn conflicts(page: &mut Page, margin: &str, ids: &[ImprovementId]) {
    if !ids.is_empty() {
        let ids = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        page.prose(
            &notable(format!("{margin}contradicts ")).to_string(),
            &format!("{ids}: ask which is right"),
        );
    }
}

/// The files that notes were taken from.
fn loaded(files: &[Loaded]) -> Option<String> {
    let told = |one: &Loaded| {
        format!("{} from {}", count(one.notes, "note", "notes"), clean(short(&one.file, one.tier)))
    };
    (!files.is_empty()).then(|| files.iter().map(told).collect::<Vec<_>>().join(", "))
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
            "    Use tabs in makefiles.
      memory.md:12 · note:00112233445566778899aabbccddeeff

 1  0.68  Retry idempotent requests with backoff and jitter, and log the last error before
          giving up.
          imp_1 · error_handling · confidence 0.85 · global
          cosine 0.62, words 0.41, a task it helped in 0.66, neighbours +0.03 → similarity 0.58 → relevance 0.51
          the task: Make the uploader robust
          (0.70 · relevance + 0.30 · utility 0.71) · 1.2 for agents that confirm it → score 0.68
          utility rests on 3.2 outcomes near this query

 2  0.52  Retry uploads 3 times.
          projects/app.md:3 · note:ffeeddccbbaa99887766554433221100 · Uploads · project 0123456789ab
          contradicts note:0123456789abcdef0123456789abcdef: ask which is right
          cosine 0.62, words 0.41 → similarity 0.58 → relevance 0.52

recall    rec_1
context   debugging (warm, 120 interactions), learned utility counts 0.30
searched  240 memories
loaded    1 note from memory.md, 1 note from projects/app.md
skipped   2 more that others rank above

After the task, say what helped:
memoryctl report --agent ada --recall rec_1 --used imp_1 --task '…' --success
"
        );
    }

    #[test]
    fn an_empty_recall_says_so() {
        let reply = Recalled { hot: Vec::new(), items: Vec::new(), ..sample::recalled() };
        let text = shown(|page| render(page, &reply, &"ada".parse().unwrap(), false));
        assert!(
            text.starts_with("Nothing learned so far has to do with this (240 memories searched)."),
            "{text}"
        );
    }
}
