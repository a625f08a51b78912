//! What was evaluated after tasks (spec E1).

use memoryd_proto::{EvaluationPage, Evaluations, Fault, Serve};

use super::{App, PAGE, page};
use crate::store::listing;

impl Serve<Evaluations> for App {
    fn serve(&self, call: Evaluations) -> Result<EvaluationPage, Fault> {
        let bounds = (call.offset, page(call.limit, PAGE));
        let read = self.view().read(|connection| listing::evaluations(connection, &call, bounds));
        let (evaluations, total) = read?;
        Ok(EvaluationPage { evaluations, total })
    }
}
