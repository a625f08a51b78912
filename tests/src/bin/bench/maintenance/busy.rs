//! Recalls of texts that nobody asked before, while nothing else happens and while jobs run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use memoryd_client::Client;
use memoryd_proto::Recall;

use super::Population;
use crate::daemon::Daemon;
use crate::measure::{Durations, one, timed};

/// One client that asks.
pub struct Questions<'a> {
    client: Client,
    population: &'a Population,
    asked: usize,
}

impl<'a> Questions<'a> {
    /// A client of `daemon` that asks for all agents in turn.
    pub fn new(daemon: &Daemon, population: &'a Population) -> Self {
        Self { client: daemon.client(), population, asked: 0 }
    }

    /// Asks so many questions.
    pub fn ask(&mut self, questions: usize) -> anyhow::Result<Durations> {
        one(questions, |_| self.next())
    }

    /// Asks until `work` is done.
    pub fn ask_while<T: Send>(
        &mut self,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<(T, Durations)> {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let working = scope.spawn(|| {
                let result = work();
                done.store(true, Ordering::Release);
                result
            });
            let mut durations: Vec<Duration> = Vec::new();
            while !done.load(Ordering::Acquire) {
                durations.push(timed(|| self.next())?.0);
            }
            let result = working.join().map_err(|_| anyhow!("the jobs panicked"))??;
            Ok((result, Durations::in_turn(durations)))
        })
    }

    fn next(&mut self) -> anyhow::Result<()> {
        let agent = Population::agent(self.asked % self.population.agents)?;
        let question = self.population.texts.question(self.asked);
        self.asked += 1;
        self.client.call(Recall::new(agent, &question))?;
        Ok(())
    }
}
