//! What agents confirm of one another and learn from one another (spec I12).

use memoryd_proto::{
    CrossValidated, Fault, Improvement, MarkCrossValidated, ReceivePrinciple, Remembered, Scope, Serve,
};

use super::App;
use super::remember::Lesson;
use crate::domain::consolidation;

impl Serve<MarkCrossValidated> for App {
    fn serve(&self, call: MarkCrossValidated) -> Result<CrossValidated, Fault> {
        let mut agents = call.validating_agents;
        agents.retain(|agent| *agent != call.agent);
        if agents.is_empty() {
            return Err(Fault::invalid(
                "No other agent confirms the improvement",
                "Name at least one agent beside the one it belongs to.",
            ));
        }
        let edited = self.change(
            "cross-validate",
            "confirmed by other agents",
            Some(&call.agent),
            &call.id,
            |planning, _, before| {
                let cross_validation = Some(consolidation::confirmed(before, &agents, planning.now));
                Ok(Improvement { cross_validation, ..before.clone() })
            },
        );
        Ok(CrossValidated { improvement: edited?.improvement })
    }
}

impl Serve<ReceivePrinciple> for App {
    fn serve(&self, call: ReceivePrinciple) -> Result<Remembered, Fault> {
        let mut entry = self.entry();
        let document = entry.document(&call.document)?;
        entry.id(&call.original_id)?;
        let category = entry.label("category", &call.category)?;
        let confidence = consolidation::discounted(call.confidence, self.config.consolidation.discount);
        let mut lesson = Lesson::new(call.agent, document, category, confidence, vec![Scope::Global]);
        lesson.learned_from = Some(consolidation::transfer_of(&call.original_id));
        lesson.embedding = self.view().embed_all(&[&lesson.document])?.pop();
        lesson.principle = Some(call.original_id);
        Ok(self.keep_alone("receive", &lesson, entry.redacted)?)
    }
}
