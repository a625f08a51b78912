//! Sharing memory through a Chroma server (spec D2, D3).
//!
//! Every record is kept here and there. What changes here is entered in the outbox with its operation and told to the
//! server in that order ([`deliver`]). What others write there is taken over as an operation ([`collect`]); what is near
//! to a recall's query is looked at before it is answered ([`look`]). While the server is away nothing stops: recalls
//! are answered from what is here, and say so.

mod collect;
mod deliver;
mod look;
mod migrate;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use memoryd_proto::{ChromaState, SetAside};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, params};

use super::App;
use crate::chroma::server::{self, Remote};
use crate::chroma::{self, Server};
use crate::config::{Chroma, Config, Store};
use crate::database;
use crate::domain::seed::{Collection, Kind, Value};
use crate::error::Error;
use crate::events::Bell;
use crate::ledger::mirror;
use crate::ledger::outbox::{self, Aside, Item};

/// The longest that is waited before the server is tried again.
const LONGEST: Duration = Duration::from_secs(5);

/// The first wait before it is tried again.
const SHORTEST: Duration = Duration::from_millis(200);

/// Records that were set aside and are shown.
const SHOWN: usize = 5;

/// The Chroma server, and how it goes with it.
pub struct Sharing {
    /// Whether memory is shared, and not only to be moved.
    on: bool,
    config: Chroma,
    server: OnceLock<Result<Arc<dyn Server>, server::Error>>,
    /// The server that records were last taken in from, beside its address.
    visited: Mutex<Option<(String, Arc<dyn Server>)>>,
    state: Mutex<State>,
    /// Held while records go to or come from the server.
    turn: Mutex<()>,
    /// Rung when the server is to be tried at once.
    pub bell: Bell,
}

#[derive(Default)]
struct State {
    /// Why the server is not asked by recalls.
    trouble: Option<String>,
    /// How often in a row it could not be reached.
    failures: u32,
    /// When its records were last read, and when they were last counted.
    read_at: Option<DateTime<Utc>>,
    counted_at: Option<DateTime<Utc>>,
    remotes: HashMap<Collection, Remote>,
    listed: bool,
}

impl Sharing {
    /// As a configuration has it. Nothing is sent yet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            on: config.store == Store::Chroma,
            config: config.chroma.clone(),
            server: OnceLock::new(),
            visited: Mutex::default(),
            state: Mutex::default(),
            turn: Mutex::default(),
            bell: Bell::default(),
        }
    }

    /// Whether memory is shared.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on
    }

    fn server(&self) -> Result<&dyn Server, Error> {
        match self.server.get_or_init(|| chroma::connect(&self.config)) {
            Ok(server) => Ok(server.as_ref()),
            Err(error) => Err(error.clone().into()),
        }
    }

    /// The server at an address, for a visit: with the tenant, database and token of the configuration.
    pub(super) fn visit(&self, url: &str) -> Result<Arc<dyn Server>, Error> {
        let mut visited = self.visited.lock();
        match &*visited {
            Some((known, server)) if known == url => Ok(server.clone()),
            Some(_) | None => {
                let server = chroma::connect(&Chroma { url: url.to_owned(), ..self.config.clone() })?;
                *visited = Some((url.to_owned(), server.clone()));
                Ok(server)
            }
        }
    }

    /// Names the server: whoever shares through another starts anew.
    fn address(&self) -> String {
        let Chroma { url, tenant, database, .. } = &self.config;
        format!("{} {tenant}/{database}", url.trim_end_matches('/'))
    }

    /// The server is in trouble, and recalls do not wait for it.
    fn fails(&self, why: &Error) {
        let advice = if let Error::Server(error) = why { error.advice() } else { "" };
        let told = format!("{why}. {advice}");
        let mut state = self.state.lock();
        if state.trouble.as_ref() != Some(&told) {
            tracing::warn!("{told}");
        }
        state.trouble = Some(told);
    }

    /// How long to wait before the server is tried again.
    fn patience(&self) -> Duration {
        let mut state = self.state.lock();
        state.failures += 1;
        LONGEST.min(SHORTEST * 2_u32.saturating_pow(state.failures.min(8) - 1))
    }

    fn works(&self) {
        let mut state = self.state.lock();
        if state.trouble.take().is_some() {
            tracing::info!("Chroma at {} answers again", self.config.url);
        }
        state.failures = 0;
    }
}

impl App {
    /// Starts or ends what the configuration says of sharing. From then on each change is kept for the server, or none.
    ///
    /// # Errors
    /// Those of the database.
    pub fn settle_sharing(&self) -> Result<(), Error> {
        if self.sharing.is_on() {
            return self.share();
        }
        if self.view().read(|connection| database::meta(connection, "chroma"))?.is_none() {
            return Ok(());
        }
        self.journal.note(|connection| {
            connection.prepare_cached("DELETE FROM meta WHERE key = 'chroma'")?.execute([])?;
            connection.prepare_cached("DELETE FROM outbox")?.execute([])?;
            Ok(())
        })
    }

    /// From now on each change is kept for the server. What it may not know yet is kept too.
    fn share(&self) -> Result<(), Error> {
        let address = self.sharing.address();
        self.journal.note(|connection| {
            let known = database::meta(connection, "chroma-known")?;
            let shared = database::meta(connection, "chroma")?;
            if known.as_ref() != Some(&address) {
                mirror::clear(connection)?;
                database::set_meta(connection, "chroma-known", &address)?;
            }
            if shared.as_ref() != Some(&address) {
                database::set_meta(connection, "chroma", &address)?;
                outbox::enter_all(connection, None)?;
            }
            Ok(())
        })
    }

    /// Brings both sides together, and returns how long that may rest unless something changes here.
    ///
    /// # Errors
    /// When the server cannot be asked. It is tried again after [`App::patience`].
    pub fn exchange(&self) -> Result<Duration, Error> {
        let sharing = &self.sharing;
        let now = self.now();
        let due = |last: Option<DateTime<Utc>>, seconds: u64| {
            let pause = TimeDelta::seconds(i64::try_from(seconds).unwrap_or(i64::MAX / 1_000));
            // A clock that was set back is no reason to wait.
            last.is_none_or(|last| now < last || now - last >= pause)
        };
        let (read, count, away) = {
            let state = sharing.state.lock();
            (
                due(state.read_at, sharing.config.read_seconds),
                due(state.counted_at, sharing.config.count_seconds),
                state.trouble.is_some(),
            )
        };
        // Whoever was away is asked something before it is said to be back.
        if read || count || away {
            self.collect(read)?;
        }
        while self.deliver()? > 0 && !self.counters.stop.is_cancelled() {}
        sharing.works();
        Ok(Duration::from_secs(sharing.config.count_seconds.max(1)))
    }

    /// How long to wait before the server is tried again, after an exchange failed.
    pub fn patience(&self, why: &Error) -> Duration {
        self.sharing.fails(why);
        self.sharing.patience()
    }

    /// The server's collection; it is created if there is none.
    fn remote(&self, collection: &Collection) -> Result<Remote, Error> {
        if let Some(known) = self.known_remote(collection)? {
            return Ok(known);
        }
        let text = |text: &str| Value::Text(text.to_owned());
        let metadata = BTreeMap::from([
            ("agent".to_owned(), text(collection.agent.as_str())),
            ("purpose".to_owned(), text(collection.purpose())),
            ("created_at".to_owned(), text(&self.now().to_rfc3339_opts(SecondsFormat::AutoSi, true))),
            ("hnsw:space".to_owned(), text("cosine")),
        ]);
        let remote = self.sharing.server()?.ensure(&self.as_written(collection)?.name(), &metadata)?;
        self.keep_remote(collection, &remote)?;
        Ok(remote)
    }

    /// The collection under the name that its agent was first written with.
    fn as_written(&self, collection: &Collection) -> Result<Collection, Error> {
        let name: Option<String> = self.view().read(|connection| {
            let sql = "SELECT name FROM agent WHERE key = ?1";
            let found = connection
                .prepare_cached(sql)?
                .query_row(params![collection.agent.key()], |row| row.get(0))
                .optional()?;
            Ok::<_, database::Error>(found)
        })?;
        let agent = name.and_then(|name| name.parse().ok()).unwrap_or_else(|| collection.agent.clone());
        Ok(Collection { agent, kind: collection.kind.clone() })
    }

    /// The server's collection, if there is one.
    fn known_remote(&self, collection: &Collection) -> Result<Option<Remote>, Error> {
        let listed = {
            let state = self.sharing.state.lock();
            if let Some(known) = state.remotes.get(collection) {
                return Ok(Some(known.clone()));
            }
            state.listed
        };
        if !listed {
            self.remotes()?;
        }
        Ok(self.sharing.state.lock().remotes.get(collection).cloned())
    }

    /// Learns which collections the server has. Those that are other ones than before are told everything again.
    fn remotes(&self) -> Result<Vec<(Collection, Remote)>, Error> {
        let mut there: BTreeMap<Collection, Remote> = BTreeMap::new();
        for remote in self.sharing.server()?.collections()? {
            if let Some(collection) = Collection::named(&remote.name) {
                // Names that differ in case are one agent's; the first is written to.
                there.entry(collection).or_insert(remote);
            }
        }
        for (collection, remote) in &there {
            self.keep_remote(collection, remote)?;
        }
        let mut state = self.sharing.state.lock();
        state.remotes.retain(|collection, _| there.contains_key(collection));
        state.listed = true;
        Ok(there.into_iter().collect())
    }

    fn keep_remote(&self, collection: &Collection, remote: &Remote) -> Result<(), Error> {
        let known = self.view().read(|connection| mirror::remote(connection, collection))?;
        if known.as_ref() != Some(&remote.id) {
            self.journal.note(|connection| {
                if known.is_some() {
                    mirror::forget_all(connection, collection)?;
                    outbox::enter_all(connection, Some(collection))?;
                }
                mirror::put_remote(connection, collection, &remote.id)
            })?;
        }
        self.sharing.state.lock().remotes.insert(collection.clone(), remote.clone());
        Ok(())
    }

    /// How it goes with the server, if memory is shared.
    pub(super) fn chroma_state(&self, connection: &Connection) -> Result<Option<ChromaState>, Error> {
        if !self.sharing.is_on() {
            return Ok(None);
        }
        let (waiting, refused) = outbox::count(connection)?;
        let shown = outbox::aside(connection, SHOWN)?;
        let state = self.sharing.state.lock();
        Ok(Some(ChromaState {
            url: self.sharing.config.url.clone(),
            trouble: state.trouble.clone(),
            read_at: state.read_at,
            counted_at: state.counted_at,
            waiting,
            refused,
            aside: shown.into_iter().map(told_aside).collect(),
        }))
    }
}

fn told_aside(aside: Aside) -> SetAside {
    SetAside { collection: aside.item.collection.name(), id: aside.item.id, reason: aside.reason }
}

/// A record by the id that it goes by at the server.
fn at_server(item: &Item) -> Item {
    let id = match (&item.collection.kind, item.id.parse()) {
        (Kind::Performance, Ok(day)) => crate::domain::seed::perf_id(day),
        _ => item.id.clone(),
    };
    Item { id, ..item.clone() }
}
