//! What a scenario sees: a service, wherever it is, and the clock it lives by.

use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd_proto::{
    AgentName, Call, Confidence, Export, Fault, FindImprovement, Improvement, ImprovementId, Improvements,
    Migrate, Quality, Recall, Recalled, Record, Remember, Remembered, Report, Serve, Service, StoreKind,
};

use crate::home::start_of_time;
use crate::{Chroma, Home};

/// A daemon as its callers see it. Whether it is in the test's process or behind its socket, a scenario cannot tell.
pub struct World<'a> {
    /// Answers calls.
    pub service: &'a (dyn Service + 'static),
    /// The daemon's time.
    pub clock: &'a TurnedClock,
    /// Where it lives.
    pub home: &'a Home,
}

/// Runs a scenario in fresh homes: past the socket, over it, and with memory that is shared through a real Chroma server,
/// where there is one. At its end the server must hold the same.
pub fn everywhere(scenario: impl Fn(&World<'_>)) {
    everywhere_with("", scenario);
}

/// Runs a scenario like [`everywhere`], with a configuration.
pub fn everywhere_with(config: &str, scenario: impl Fn(&World<'_>)) {
    for over_the_socket in [false, true] {
        let home = Home::new();
        home.configure(config);
        let clock = Arc::new(TurnedClock::new(start_of_time()));
        let daemon = home.daemon(&clock);
        let service: &(dyn Service + 'static) = if over_the_socket { daemon.client() } else { daemon.app() };
        eprintln!("{}", if over_the_socket { "over the socket" } else { "in process" });
        scenario(&World { service, clock: &clock, home: &home });
    }
    shared_with(config, scenario);
}

/// Runs a scenario like [`everywhere_with`], but only with a Chroma server.
pub fn shared_with(config: &str, scenario: impl Fn(&World<'_>)) {
    let Some(chroma) = Chroma::shared() else { return };
    eprintln!("with Chroma");
    let home = Home::new();
    let sharing = chroma.config(&chroma.database());
    // The first line is a key without a table.
    let (store, sharing) = sharing.split_once('\n').unwrap();
    home.configure(&format!("{store}\n{config}\n{sharing}"));
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let daemon = home.daemon(&clock);
    let world = World { service: daemon.app(), clock: &clock, home: &home };
    scenario(&world);
    daemon.app().exchange().unwrap();
    for collection in
        world.ask(Migrate { to: StoreKind::Chroma, after: Some("comparing".to_owned()) }).collections
    {
        assert!(collection.agrees(), "Chroma does not hold what is here: {collection:?}");
    }
}

/// The agent of that name.
#[must_use]
pub fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

/// The confidence of that value.
#[must_use]
pub fn confidence(value: f64) -> Confidence {
    Confidence::new(value).unwrap()
}

/// The quality of that value.
#[must_use]
pub fn quality(value: f64) -> Quality {
    Quality::new(value).unwrap()
}

/// The texts that a recall returned, best first.
#[must_use]
pub fn documents(recalled: &Recalled) -> Vec<&str> {
    recalled.items.iter().map(|item| item.document.as_str()).collect()
}

impl World<'_> {
    /// The answer to a call that must succeed.
    pub fn ask<C: Call>(&self, call: C) -> C::Reply
    where
        dyn Service: Serve<C>,
    {
        Serve::<C>::serve(self.service, call).unwrap_or_else(|fault| panic!("{} failed: {fault}", C::NAME))
    }

    /// The fault of a call that must fail.
    pub fn fault<C: Call>(&self, call: C) -> Fault
    where
        dyn Service: Serve<C>,
    {
        match Serve::<C>::serve(self.service, call) {
            Ok(_) => panic!("{} succeeded", C::NAME),
            Err(fault) => fault,
        }
    }

    /// A lesson of the agent `finder` for every project, ready to be sent.
    #[must_use]
    pub fn lesson(&self, document: &str) -> Remember {
        Remember::new(agent("finder"), "error_handling", confidence(0.8), document)
    }

    /// Remembers a lesson of the agent `finder` and returns its id.
    pub fn remember(&self, document: &str) -> ImprovementId {
        self.keep(self.lesson(document)).kept[0].id.clone()
    }

    /// Remembers a lesson.
    pub fn keep(&self, lesson: Remember) -> Remembered {
        self.ask(lesson)
    }

    /// What the agent `finder` recalls.
    pub fn recall(&self, query: &str) -> Recalled {
        self.ask(Recall::new(agent("finder"), query))
    }

    /// A report of the agent `finder`, ready to be sent.
    #[must_use]
    pub fn report(&self, id: &str, task: &str, success: bool) -> Report {
        Report::new(id.parse().unwrap(), agent("finder"), task, success)
    }

    /// Recalls for a task and reports its outcome, with the named items as used.
    pub fn live_through(
        &self,
        id: &str,
        task: &str,
        success: bool,
        used: &[&ImprovementId],
    ) -> memoryd_proto::Learned {
        let recalled = self.recall(task);
        let mut report = self.report(id, task, success);
        report.recall = Some(recalled.recall);
        report.used = used.iter().map(|id| (*id).clone()).collect();
        self.ask(report)
    }

    /// The improvement of that id, of the agent `finder`.
    pub fn find(&self, id: &ImprovementId) -> Improvement {
        self.ask(FindImprovement { agent: Some(agent("finder")), id: id.clone() })
    }

    /// All improvements of all agents.
    pub fn improvements(&self) -> Vec<Improvement> {
        let page = self.ask(Improvements { limit: 1000, ..Improvements::default() });
        assert_eq!(page.improvements.len() as u64, page.total);
        page.improvements
    }

    /// Every record, in the order of the export.
    pub fn records(&self) -> Vec<Record> {
        let (mut records, mut after) = (Vec::new(), None);
        loop {
            let page = self.ask(Export { agent: None, after });
            records.extend(page.records);
            after = page.next;
            if after.is_none() {
                assert_eq!(records.len() as u64, page.total);
                return records;
            }
        }
    }

    /// Everything, as the lines of an export.
    pub fn export(&self) -> String {
        self.records().iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
    }
}
