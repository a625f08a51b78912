//! What was evaluated after tasks (spec E1).

use memoryd_proto::{
    ArchiveKind, Evaluation, EvaluationPage, Evaluations, Fault, RestoreEvaluation, RestoredEvaluation, Serve,
};

use super::{App, PAGE, page};
use crate::error::Error;
use crate::journal::{Change, Draft};
use crate::store::listing;

impl Serve<Evaluations> for App {
    fn serve(&self, call: Evaluations) -> Result<EvaluationPage, Fault> {
        let bounds = (call.offset, page(call.limit, PAGE));
        let read = self.view().read(|connection| listing::evaluations(connection, &call, bounds));
        let (evaluations, total) = read?;
        Ok(EvaluationPage { evaluations, total })
    }
}

impl Serve<RestoreEvaluation> for App {
    fn serve(&self, call: RestoreEvaluation) -> Result<RestoredEvaluation, Fault> {
        Ok(self.restore_evaluation(&call)?)
    }
}

impl App {
    fn restore_evaluation(&self, call: &RestoreEvaluation) -> Result<RestoredEvaluation, Error> {
        let mut found = Vec::new();
        for month in self.view().archive.months(Some(ArchiveKind::Evaluations))?.iter().rev() {
            let mut of_month: Vec<Evaluation> = Vec::new();
            self.view().archive.read(month, |line| {
                of_month.extend(serde_json::from_str(line).into_iter().filter(|one: &Evaluation| {
                    one.id == call.id && call.agent.as_ref().is_none_or(|agent| *agent == one.agent)
                }));
            })?;
            found.extend(of_month.into_iter().rev());
        }
        let Some(first) = found.first() else {
            return Err(Fault::not_found(
                format!("The archive holds no evaluation {}", call.id),
                "`memoryctl archive search --kind evaluations` shows what it holds.",
            )
            .into());
        };
        if let Some(other) = found.iter().find(|other| other.agent != first.agent) {
            return Err(Fault::invalid(
                format!("Agents {} and {} both have an evaluation {}", first.agent, other.agent, call.id),
                "Say which agent is meant.",
            )
            .into());
        }
        let (operation, ()) = self.journal.commit("restore", |planning| {
            let known = planning
                .view
                .read(|connection| listing::has_evaluation(connection, &first.agent, first.id.as_str()))?;
            let draft = Draft {
                reason: "restored from the archive".to_owned(),
                agent: Some(first.agent.clone()),
                changes: (!known).then(|| Change::evaluated(first.clone())).into_iter().collect(),
                ..Draft::default()
            };
            Ok((draft, ()))
        })?;
        Ok(RestoredEvaluation { evaluation: first.clone(), operation })
    }
}
