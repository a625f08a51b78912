//! Memory that is shared through a real Chroma server (spec D2, D3). What the daemon answers there, every other scenario
//! holds it to as well; here is what only a server can show.

mod differential;
mod faults;
mod migrate;
mod others;
mod outage;

use std::ops::Deref;
use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd_proto::{Migrate, Service, Status, StatusReport, StoreKind};
use memoryd_tests::{Chroma, Home, Running, World, start_of_time};

/// A daemon with a configuration, in a home of its own.
struct Living {
    home: Home,
    clock: Arc<TurnedClock>,
    daemon: Running,
}

impl Living {
    fn new(config: &str) -> Self {
        let home = Home::new();
        home.configure(config);
        let clock = Arc::new(TurnedClock::new(start_of_time()));
        let daemon = home.daemon(&clock);
        Self { home, clock, daemon }
    }

    fn world(&self) -> World<'_> {
        let service: &(dyn Service + 'static) = self.daemon.app();
        World { service, clock: &self.clock, home: &self.home }
    }

    /// Turns the clock until all records are due to be read, and exchanges them: both sides know what the other does.
    fn settle(&self) {
        self.clock.turn(chrono::TimeDelta::minutes(11));
        self.daemon.app().exchange().unwrap();
    }
}

/// A daemon that shares its memory through a database of its own.
struct Shared {
    living: Living,
    database: String,
    chroma: &'static Chroma,
}

impl Deref for Shared {
    type Target = Living;
    fn deref(&self) -> &Living {
        &self.living
    }
}

impl Shared {
    /// None where there is no server.
    fn new() -> Option<Self> {
        let chroma = Chroma::shared()?;
        let database = chroma.database();
        let living = Living::new(&chroma.config(&database));
        Some(Self { living, database, chroma })
    }

    /// Runs a script in Python's own client.
    fn python(&self, script: &str) -> String {
        self.chroma.python(&self.database, script)
    }

    /// What the server holds of the agent `finder`, as its own client sees it.
    fn at_server(&self) -> serde_json::Value {
        let told = self.python(
            "got = client.get_collection('agent_finder_improvements').get()\n\
             print(json.dumps({i: dict(m or {}, document=d) for i, m, d in zip(got['ids'], got['metadatas'], got['documents'])}))",
        );
        serde_json::from_str(&told).unwrap()
    }

    fn status(&self) -> StatusReport {
        self.world().ask(Status {})
    }
}

/// The server holds what is here.
fn agrees(world: &World<'_>) {
    let compared = world.ask(Migrate { to: StoreKind::Chroma, after: Some("comparing".to_owned()) });
    for collection in compared.collections {
        assert!(collection.agrees(), "{collection:?}");
    }
}
