//! Deciding what is worth keeping of what was said (spec M9), and keeping it.

use memoryd_proto::{
    Capture, Captured, Fault, Finding, KeepCaptured, LearningKind, NewNote, Project, Remember, Remembered,
    ScopeChoice, Serve, Signal, ToolOutcome, Written,
};

use super::App;
use crate::domain::text::excerpt;
use crate::error::Error;
use crate::ledger::projects;

/// How much of a text is looked at, in bytes: the beginning of what is said, the end of what a tool put out.
const LOOKED_AT: usize = 32 * 1024;

/// Characters of what sums an entry up.
const SUMMARY: usize = 80;

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
        let tool = call.tool.map(|tool| ToolOutcome { name: entry.text(&tool.name), ..tool });
        let decision = match &tool {
            None => self.detector.decide(&text[..text.floor_char_boundary(LOOKED_AT)]),
            Some(tool) => {
                let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
                self.detector.decide_on_tool(tool, &text[start..])
            }
        };
        let (mut kept, mut noted) = (None, None);
        if let (Some(finding), Some(keep)) = (&decision.finding, call.keep) {
            if self.view().vault.exists() {
                noted = Some(self.note_finding(finding, &keep, tool.as_ref())?);
            } else {
                kept = Some(self.keep_captured(finding, keep)?);
            }
        }
        let (finding, vetoed, redacted) = (decision.finding, decision.vetoed, entry.redacted);
        Ok(Captured { finding, vetoed, kept, noted, redacted })
    }

    /// Writes what was captured to the memory tree, in the form and the file that the seed has for it. What belongs in a
    /// project's learnings and was said in no project goes to `corrections.md`, as of the project "general".
    fn note_finding(
        &self,
        finding: &Finding,
        keep: &KeepCaptured,
        tool: Option<&ToolOutcome>,
    ) -> Result<Written, Error> {
        let project = match &keep.project {
            Some(Project::Folder(folder)) => Some(folder.clone()),
            Some(Project::Hash(hash)) => {
                let known = self.view().read(projects::all)?;
                known
                    .into_iter()
                    .find(|known| known.hash == *hash && known.root.is_dir())
                    .map(|known| known.root)
            }
            None => None,
        };
        let rule = finding.rule.as_ref().unwrap_or(&finding.sentence).clone();
        let (summary, situation) = (excerpt(&rule, SUMMARY), finding.sentence.clone());
        let context = match tool {
            None => format!("said to {}", keep.agent),
            Some(tool) => format!("running {}", tool.name),
        };
        let kind = learning_kind(finding.signal).filter(|_| project.is_some());
        let note = match kind {
            Some(kind) => NewNote::Learning { kind, summary, context, situation, rule },
            None if finding.signal == Signal::Preference => NewNote::Preference { rule },
            None => NewNote::Correction { summary, context, correction: situation, rule },
        };
        self.note_captured(SOURCE, &note, project.as_deref())
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

/// What a project's learnings call it; absent for what is no matter of a project.
fn learning_kind(signal: Signal) -> Option<LearningKind> {
    match signal {
        Signal::Correction | Signal::Preference => None,
        Signal::Error => Some(LearningKind::Error),
        Signal::FeatureGap | Signal::KnowledgeGap => Some(LearningKind::Gap),
        Signal::BetterApproach => Some(LearningKind::Pattern),
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
