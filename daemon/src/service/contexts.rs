//! The contexts, and how warm they are (spec Q1, Q5).

use memoryd_proto::{ContextList, Contexts, Fault, Serve};

use super::App;
use crate::ledger::contexts;

impl Serve<Contexts> for App {
    fn serve(&self, _: Contexts) -> Result<ContextList, Fault> {
        let states = self.view().read(|connection| contexts::states(connection, &self.config.learning))?;
        Ok(ContextList { contexts: states })
    }
}
