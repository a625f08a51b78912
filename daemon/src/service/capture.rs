//! Deciding what is worth keeping of what was said (spec M9), and keeping it.

use memoryd_proto::{
    Capture, Captured, Fault, Finding, KeepCaptured, Remember, Remembered, ScopeChoice, Serve, Signal,
    ToolOutcome,
};

use super::App;
use crate::error::Error;

/// How much of a text is looked at, in bytes: the beginning of what is said, the end of what a tool put out.
const LOOKED_AT: usize = 32 * 1024;

/// Where what is captured comes from.
const SOURCE: &str = "capture";

impl Serve<Capture> for App {
    fn serve(&self, call: Capture) -> Result<Captured, Fault> {
        Ok(self.capture(call)?)
    }
}

impl App {
    fn capture(&self, call: Capture) -> Result<Captured, Error> {
        let mut entry = self.entry();
        let text = entry.text(&call.text);
        let decision = match call.tool {
            None => self.detector.decide(&text[..text.floor_char_boundary(LOOKED_AT)]),
            Some(tool) => {
                let tool = ToolOutcome { name: entry.text(&tool.name), ..tool };
                let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
                self.detector.decide_on_tool(&tool, &text[start..])
            }
        };
        let redacted = entry.redacted;
        let kept = match (&decision.finding, call.keep) {
            (Some(finding), Some(keep)) => Some(self.keep_captured(finding, keep)?),
            _ => None,
        };
        Ok(Captured { finding: decision.finding, vetoed: decision.vetoed, kept, redacted })
    }

    /// Keeps what was captured: the rule where it is plain, else the sentence. Errors belong to the project they
    /// happened in.
    fn keep_captured(&self, finding: &Finding, keep: KeepCaptured) -> Result<Remembered, Error> {
        let document = finding.rule.as_ref().unwrap_or(&finding.sentence);
        let in_project = finding.signal == Signal::Error && keep.project.is_some();
        self.remember(
            SOURCE,
            Remember {
                project: keep.project,
                scope: in_project.then_some(ScopeChoice::Project),
                learned_from: Some(SOURCE.to_owned()),
                ..Remember::new(keep.agent, category(finding.signal), finding.confidence, document)
            },
        )
    }
}

fn category(signal: Signal) -> &'static str {
    match signal {
        Signal::Correction => "corrections",
        Signal::Preference => "preferences",
        Signal::Error => "error_handling",
        Signal::FeatureGap => "feature_gaps",
        Signal::KnowledgeGap => "knowledge_gaps",
        Signal::BetterApproach => "better_approaches",
    }
}
