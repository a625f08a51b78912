//! One conversation in the daemon's memory.

use std::collections::HashMap;

use anyhow::{Context, ensure};
use memoryd::domain::text;
use memoryd_client::Client;
use memoryd_proto::{AgentName, Recall};

use crate::jsonl::Conversation;
use crate::records;

/// Stands for a text; the same for texts that say the same.
pub type Digest = [u8; 16];

/// What a recall brought, best first.
pub type Ranking = Vec<Digest>;

/// A question, and the texts that answer it.
pub struct Question {
    /// The question.
    pub text: String,
    /// The texts that answer it.
    pub gold: Vec<Digest>,
}

/// A conversation, as the memory of an agent that bears its name.
pub struct Library {
    /// The agent.
    pub agent: AgentName,
    /// What is asked.
    pub questions: Vec<Question>,
    /// How many memories were given.
    pub memories: usize,
    /// How many of them folded into another one.
    pub folded: usize,
}

impl Library {
    /// Imports a conversation. The turns of a session are a sequence.
    pub fn import(client: &Client, conversation: Conversation) -> anyhow::Result<Self> {
        let agent: AgentName = conversation.name.parse()?;
        let digests: HashMap<&str, Digest> = conversation
            .memories
            .iter()
            .map(|memory| (memory.id.as_str(), text::digest(&memory.text)))
            .collect();
        let improvements = conversation
            .memories
            .iter()
            .map(|memory| {
                records::improvement(&agent, &memory.id, &memory.text, Some(&memory.created_at), memory.at()?)
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        let added = usize::try_from(records::import(client, improvements)?)?;
        let different = digests.values().collect::<std::collections::HashSet<_>>().len();
        ensure!(added == different, "{added} memories were added, but {different} texts are different");
        let questions = conversation
            .questions
            .into_iter()
            .map(|question| {
                let gold = question.gold.iter().map(|id| {
                    digests.get(id.as_str()).copied().with_context(|| format!("There is no memory {id}"))
                });
                Ok(Question { gold: gold.collect::<anyhow::Result<_>>()?, text: question.text })
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        let memories = conversation.memories.len();
        Ok(Self { agent, questions, memories, folded: memories - added })
    }

    /// What this memory brings for a text.
    pub fn ask(&self, client: &Client, query: &str, limit: u32) -> anyhow::Result<Ranking> {
        let recalled = client.call(Recall { limit, ..Recall::new(self.agent.clone(), query) })?;
        ensure!(recalled.degraded.is_none(), "Vectors are not used");
        Ok(recalled.items.iter().map(|item| text::digest(&item.document)).collect())
    }
}
