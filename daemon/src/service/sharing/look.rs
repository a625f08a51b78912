//! A look at what the server has near to a recall's query: what others wrote or changed a moment ago is recalled too.

use std::time::Duration;

use memoryd_proto::{AgentName, Scope};

use crate::chroma::server::{Answer, Remote};
use crate::domain::seed::{Collection, Kind, Written};
use crate::error::Error;
use crate::service::App;

/// A look that the server was asked for. Meanwhile what is here can be searched.
pub(in crate::service) struct Look {
    answer: Box<dyn Answer>,
    remotes: Vec<(Collection, Remote)>,
}

/// What a look led to.
#[derive(Default)]
pub(in crate::service) struct Seen {
    /// Whether something was taken over.
    pub(in crate::service) news: bool,
    /// Why what others wrote may be missing, and what to do, if so.
    pub(in crate::service) stale: Option<String>,
}

impl App {
    /// Asks the server for what is near to a query in some scopes of an agent. It is not asked while memory is not
    /// shared, while it is in trouble, or while there are no vectors.
    pub(in crate::service) fn begin_look(
        &self,
        agent: &AgentName,
        scopes: &[Scope],
        vector: Option<&[f32]>,
    ) -> Option<Look> {
        let (sharing, vector) = (&self.sharing, vector?);
        if !sharing.is_on() {
            return None;
        }
        let remotes: Vec<(Collection, Remote)> = {
            let state = sharing.state.lock();
            if state.trouble.is_some() {
                return None;
            }
            let named =
                |scope: &Scope| Collection { agent: agent.clone(), kind: Kind::Improvements(scope.clone()) };
            let known = |collection| state.remotes.get_key_value(&collection);
            scopes
                .iter()
                .map(named)
                .filter_map(known)
                .map(|(one, remote)| (one.clone(), remote.clone()))
                .collect()
        };
        if remotes.is_empty() {
            return None;
        }
        let asked: Vec<Remote> = remotes.iter().map(|(_, remote)| remote.clone()).collect();
        let deadline = Duration::from_millis(sharing.config.deadline_ms);
        let answer = sharing.server().ok()?.begin_query(&asked, vector, sharing.config.nearest, deadline);
        Some(Look { answer, remotes })
    }

    /// Waits for a look, and takes over what it shows.
    pub(in crate::service) fn end_look(&self, look: Option<Look>) -> Seen {
        let mut seen = Seen::default();
        if let Some(look) = look {
            match self.see(look) {
                Ok(news) => seen.news = news,
                Err(error) => {
                    self.sharing.fails(&error);
                    self.sharing.bell.ring();
                }
            }
        }
        if self.sharing.is_on() {
            let state = self.sharing.state.lock();
            seen.stale = state.trouble.as_ref().map(|trouble| match state.counted_at {
                Some(at) => format!("{trouble} Answered from what was known at {}.", at.format("%F %T UTC")),
                None => format!("{trouble} Answered from what is here."),
            });
        }
        seen
    }

    fn see(&self, look: Look) -> Result<bool, Error> {
        let mut found: Vec<Vec<Written>> = look.remotes.iter().map(|_| Vec::new()).collect();
        for (place, written) in look.answer.wait()? {
            found[place].push(written);
        }
        let mut taken = false;
        for ((collection, remote), page) in look.remotes.iter().zip(found) {
            let news = self.news(collection, page)?;
            if news.is_empty() {
                continue;
            }
            // It may have been told since that something is gone or changed. Whoever tells it takes these over too.
            let patience = Duration::from_millis(self.sharing.config.deadline_ms / 3);
            let Some(_turn) = self.sharing.turn.try_lock_for(patience) else { continue };
            let ids: Vec<String> = news.into_iter().map(|written| written.id).collect();
            self.take_over(collection, self.sharing.server()?.get(remote, &ids, patience)?)?;
            taken = true;
        }
        Ok(taken)
    }
}
