//! Memories on their way into the daemon.

use anyhow::{Context, ensure};
use chrono::{DateTime, Utc};
use memoryd_client::Client;
use memoryd_proto::{AgentName, Confidence, Import, Improvement, Record, Scope, Source, Usage};

/// Records in one import: the most that the daemon takes.
const BATCH: usize = 1000;

/// A memory as it is imported, with nothing but the essentials.
pub fn improvement(
    agent: &AgentName,
    id: &str,
    text: &str,
    session: Option<&str>,
    at: DateTime<Utc>,
) -> anyhow::Result<Improvement> {
    Ok(Improvement {
        id: id.parse()?,
        agent: agent.clone(),
        scope: Scope::Global,
        category: "conversation".to_owned(),
        document: text.to_owned(),
        learned_from: session.map(str::to_owned),
        confidence: Confidence::new(0.8)?,
        created_at: at,
        tags: Vec::new(),
        context_tags: Vec::new(),
        source: Source::Own,
        original_id: None,
        corroborations: 0,
        evidence: Vec::new(),
        cross_validation: None,
        consolidation_eligible: true,
        deprecation: None,
        promotion: None,
        attributes: std::collections::BTreeMap::new(),
        usage: Usage::default(),
    })
}

/// Imports memories, and returns how many were new; the others say what another one says already.
pub fn import(client: &Client, improvements: Vec<Improvement>) -> anyhow::Result<u64> {
    let mut added = 0;
    let mut left = improvements.into_iter().map(Record::Improvement).peekable();
    while left.peek().is_some() {
        let records = left.by_ref().take(BATCH).collect();
        let imported = client.call(Import { records, dry_run: false }).context("An import failed")?;
        if let Some(refused) = imported.refused.first() {
            ensure!(false, "A memory was refused: {}", refused.reason);
        }
        added += imported.added;
    }
    Ok(added)
}
