//! The contexts, and how warm they are (spec Q1, Q5).

use std::collections::BTreeMap;

use memoryd_proto::{ContextList, ContextName, ContextState, Contexts, Fault, Serve};

use super::{App, recall};
use crate::error::Error;
use crate::ledger::contexts;

impl Serve<Contexts> for App {
    fn serve(&self, _: Contexts) -> Result<ContextList, Fault> {
        Ok(ContextList { contexts: self.contexts()? })
    }
}

impl App {
    /// The configured contexts and those in use, by name.
    pub(super) fn contexts(&self) -> Result<Vec<ContextState>, Error> {
        let used = self.view().read(contexts::all)?;
        let configured = self.config.learning.contexts.iter().cloned().map(|name| (name, 0));
        let all: BTreeMap<ContextName, u64> = configured.chain(used).collect();
        Ok(all
            .into_iter()
            .map(|(name, interactions)| recall::state(name, interactions, &self.config))
            .collect())
    }
}
