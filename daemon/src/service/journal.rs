//! What changed the memory, and undoing it (spec S7).

use memoryd_proto::{Fault, Journal, JournalPage, Serve, Undo, Undone};

use super::{App, PAGE, page};
use crate::journal;

impl Serve<Journal> for App {
    fn serve(&self, call: Journal) -> Result<JournalPage, Fault> {
        let limit = page(call.limit, PAGE);
        Ok(self.view().read(|connection| journal::page(connection, &call, limit))?)
    }
}

impl Serve<Undo> for App {
    fn serve(&self, call: Undo) -> Result<Undone, Fault> {
        let (operation, changes) = self.journal.undo(call.operation)?;
        Ok(Undone { undone: call.operation, operation, changes })
    }
}
