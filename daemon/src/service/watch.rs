//! Waiting for events (spec C4).

use std::time::Duration;

use memoryd_proto::{Fault, Serve, Watch, Watched};

use super::App;

/// The longest wait, below the deadline that a call has by default.
const LONGEST: Duration = Duration::from_secs(25);

impl Serve<Watch> for App {
    fn serve(&self, call: Watch) -> Result<Watched, Fault> {
        let wait = Duration::from_millis(call.wait_ms).min(LONGEST);
        Ok(self.journal.events().after(call.after, wait))
    }
}
