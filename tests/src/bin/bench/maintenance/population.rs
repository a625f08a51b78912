//! Agents with memories, outcomes and evaluations, written straight into the store.

use chrono::{DateTime, TimeDelta, Utc};
use memoryd::database::{self, Durability, Error};
use memoryd::domain::decay;
use memoryd::domain::utility::Ledgered;
use memoryd::ledger::usage;
use memoryd::store::rows;
use memoryd_proto::{AgentName, Evaluation, Improvement, Quality};
use serde_json::json;

use crate::arguments::Maintenance;
use crate::daemon::Home;
use crate::random::Random;
use crate::records;
use crate::texts::Texts;

/// Components of the vectors: as many as the bundled model gives.
const DIMENSION: usize = 384;

/// Rows in one transaction.
const BATCH: usize = 20_000;

/// Words that make a near-duplicate differ.
const ALSO: [&str; 5] = ["also", "still", "again", "then", "too"];

/// Agents and what they have.
pub struct Population {
    /// How many there are.
    pub agents: usize,
    /// What their memories and questions say.
    pub texts: Texts,
    /// Memories of each.
    improvements: usize,
    /// Evaluations of each.
    evaluations: usize,
    /// Whether memories resemble one another, as those of agents in one trade do.
    alike: bool,
}

impl Population {
    /// Every agent has its own memories, and did much in the last two months.
    pub fn of_a_day(wanted: &Maintenance) -> Self {
        Self {
            agents: wanted.agents,
            texts: Texts::Synthetic,
            improvements: wanted.improvements,
            evaluations: wanted.evaluations / wanted.agents,
            alike: false,
        }
    }

    /// A tenth of the memories are near-duplicates of another one of the same agent, and a fifth are shared by five
    /// agents.
    pub fn of_a_week(wanted: &Maintenance) -> Self {
        Self {
            agents: wanted.agents,
            texts: Texts::Synthetic,
            improvements: wanted.consolidated / wanted.agents,
            evaluations: 0,
            alike: true,
        }
    }

    /// The name of an agent.
    pub fn agent(number: usize) -> anyhow::Result<AgentName> {
        Ok(format!("agent-{number}").parse()?)
    }

    /// Writes everything into a new database.
    pub fn write(&self, home: &Home) -> anyhow::Result<()> {
        std::fs::create_dir_all(home.data_dir())?;
        let (_, writer) = database::open(&home.data_dir().join("memory.db"))?;
        let now = Utc::now();
        let all: Vec<(usize, usize)> = (0..self.agents)
            .flat_map(|agent| (0..self.improvements).map(move |number| (agent, number)))
            .collect();
        for batch in all.chunks(BATCH) {
            let made = batch
                .iter()
                .map(|&(agent, number)| self.improvement(agent, number, now))
                .collect::<anyhow::Result<Vec<_>>>()?;
            writer.lock().transaction(Durability::Process, |transaction| {
                for (improvement, vector, known) in &made {
                    let row = rows::put_improvement(transaction, None, improvement, now)?;
                    rows::put_vector(transaction, row, vector)?;
                    if let Some(known) = known {
                        usage::put(transaction, &improvement.agent, &improvement.id, known)?;
                    }
                }
                Ok::<_, Error>(())
            })?;
        }
        for agent in 0..self.agents {
            let made = (0..self.evaluations)
                .map(|number| self.evaluation(agent, number, now))
                .collect::<anyhow::Result<Vec<_>>>()?;
            writer.lock().transaction(Durability::Process, |transaction| {
                made.iter().try_for_each(|one| rows::put_evaluation(transaction, None, one).map(drop))
            })?;
        }
        Ok(())
    }

    fn improvement(
        &self,
        agent: usize,
        number: usize,
        now: DateTime<Utc>,
    ) -> anyhow::Result<(Improvement, Vec<f32>, Option<Ledgered>)> {
        let own = agent * self.improvements + number;
        let mut random = Random::new(own as u64);
        // Which memory it resembles, and how far off it is.
        let (theme, distance) = match number % 10 {
            9 if self.alike => (own - 1, 0.1),
            1 | 2 if self.alike => ((agent / 5) * 5 * self.improvements + number, 0.3),
            _ => (own, 0.0),
        };
        let text = if distance > 0.0 {
            format!("{} {}", self.texts.memory(theme), ALSO[agent % ALSO.len()])
        } else {
            self.texts.memory(theme)
        };
        let mut improvement =
            records::improvement(&Self::agent(agent)?, &format!("m{own}"), &text, None, now)?;
        improvement.created_at = now - TimeDelta::hours(i64::try_from(own % 1000)?);
        if self.alike && number.is_multiple_of(5) {
            improvement.context_tags = vec![format!("trade-{}", agent % 10)];
        }
        let mut vector = Random::new(theme as u64).direction(DIMENSION);
        let aside = Random::new(u64::MAX - own as u64).direction(DIMENSION);
        vector.iter_mut().zip(aside).for_each(|(value, aside)| *value += distance * aside);
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in &mut vector {
            *value /= length;
        }
        // One in fifty succeeds enough to be promoted, one in two hundred fails enough to be deprecated.
        let (uses, successes) = match own % 200 {
            0 => (12, 2),
            1..=4 => (25, 24),
            _ => (random.below(8) as u64, 0),
        };
        let successes = if uses < 10 { random.below(usize::try_from(uses)? + 1) as u64 } else { successes };
        let known = (uses > 0).then(|| Ledgered {
            usage_count: uses,
            success_count: successes,
            failure_count: uses - successes,
            access_count: uses,
            ..Ledgered::new(decay::day(now))
        });
        Ok((improvement, vector, known))
    }

    fn evaluation(&self, agent: usize, number: usize, now: DateTime<Utc>) -> anyhow::Result<Evaluation> {
        let mut random = Random::new((agent * self.evaluations + number) as u64);
        let minutes = 60 * 24 * 60 * number / self.evaluations.max(1);
        let record = json!({
            "id": format!("eval_{number}"), "agent": Self::agent(agent)?, "project": null,
            "task": self.texts.question(number), "task_type": "debug", "success": random.share() < 0.8,
            "quality": Quality::new(f64::from(u32::try_from(random.below(101))?))?, "criteria": [],
            "time_taken_ms": random.below(100_000), "tokens_used": random.below(50_000),
            "strengths": ["Completed without errors"], "weaknesses": [], "insights": [], "recall": null,
            "used": [], "notes": null, "at": now - TimeDelta::minutes(i64::try_from(minutes)?),
        });
        Ok(serde_json::from_value(record)?)
    }
}
