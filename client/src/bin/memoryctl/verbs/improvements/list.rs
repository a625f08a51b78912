//! Listing improvements.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use memoryd_client::proto::{Fault, Improvement, ImprovementPage, Improvements, Standing};

use crate::arguments::{Paging, SomeAgent, instant, project};
use crate::render::{Page, faint, grouped, percent_if};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    agent: SomeAgent,
    /// Only of the project this folder is in, or with this hash
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Only with this standing
    #[arg(long)]
    standing: Option<StandingName>,
    /// Only of this category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Only with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only stored from then on: 7d, 12h, a date or a time
    #[arg(long, value_name = "WHEN", value_parser = instant)]
    since: Option<DateTime<Utc>>,
    #[command(flatten)]
    paging: Paging,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StandingName {
    /// Recalled when relevant
    Active,
    /// Waiting for corroboration
    Candidate,
    /// No longer recalled
    Deprecated,
}

impl From<StandingName> for Standing {
    fn from(name: StandingName) -> Self {
        match name {
            StandingName::Active => Self::Active,
            StandingName::Candidate => Self::Candidate,
            StandingName::Deprecated => Self::Deprecated,
        }
    }
}

impl Arguments {
    /// What is asked.
    pub fn call(self) -> Result<Improvements, Fault> {
        Ok(Improvements {
            agent: self.agent.agent,
            project: self.project.as_deref().map(project).transpose()?,
            standing: self.standing.map(Into::into),
            category: self.category,
            tag: self.tag,
            since: self.since,
            offset: self.paging.offset,
            limit: self.paging.limit,
        })
    }
}

/// A page of improvements.
pub fn render(page: &mut Page, reply: &ImprovementPage) {
    if reply.improvements.is_empty() {
        return page.line("No improvements.");
    }
    page.table(
        ["id", "agent", "category", "conf", "q", "uses", "success", "text"],
        reply.improvements.iter().map(row),
    );
    page.gap();
    page.line(faint(format_args!(
        "{} of {}",
        grouped(reply.improvements.len() as u64),
        grouped(reply.total)
    )));
}

fn row(improvement: &Improvement) -> [String; 8] {
    let deprecated = if improvement.deprecation.is_some() { "(deprecated) " } else { "" };
    [
        improvement.id.to_string(),
        improvement.agent.to_string(),
        improvement.category.clone(),
        format!("{:.2}", improvement.confidence.get()),
        format!("{:.2}", improvement.usage.q_value.get()),
        grouped(improvement.usage.usage_count),
        percent_if(improvement.usage.success_rate),
        format!("{deprecated}{}", improvement.document),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn a_list_is_a_table_with_its_total() {
        let reply = ImprovementPage { improvements: vec![sample::improvement()], total: 1204 };
        assert_eq!(
            shown(|page| render(page, &reply)),
            "\
id     agent  category        conf  q     uses  success  text
imp_1  ada    error_handling  0.85  0.55  3     67 %     Retry idempotent requests with backoff

1 of 1,204
"
        );
    }
}
