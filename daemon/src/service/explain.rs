//! Why a recall answered what it did (spec Q9).

use memoryd_proto::{Explain, Explanation, Fault, Serve};

use super::App;
use crate::index;
use crate::ledger::recalls;

impl Serve<Explain> for App {
    fn serve(&self, call: Explain) -> Result<Explanation, Fault> {
        let now = self.now();
        let stored = self.view().read(|connection| recalls::find(connection, &call.recall, now))?;
        let stored = stored.ok_or_else(|| unknown(&call.recall))?;
        let mut items = stored.receipt.items;
        for item in items.iter_mut().filter(|item| item.words.is_empty()) {
            item.words = index::shared(&stored.receipt.query, &item.document);
        }
        Ok(Explanation {
            recall: call.recall,
            agent: stored.receipt.agent,
            query: stored.receipt.query,
            at: stored.at,
            context: stored.receipt.context,
            alpha: stored.receipt.alpha,
            estimator: stored.receipt.estimator,
            gate: stored.receipt.gate,
            outcome: stored.outcome,
            hot: stored.receipt.hot,
            loaded: stored.receipt.loaded.len() as u64,
            items,
        })
    }
}

/// There is no such recall.
pub(super) fn unknown(recall: &memoryd_proto::RecallId) -> Fault {
    Fault::not_found(
        format!("There is no recall {recall}"),
        "Take the id from the recall's answer; recalls are kept for 30 days.",
    )
}
