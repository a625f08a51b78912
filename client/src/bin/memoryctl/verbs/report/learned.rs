//! What a report changed, as text.

use memoryd_client::proto::{InsightOutcome, ItemOutcome, Learned};

use crate::render::{Page, bad, clean, count, faint, good, notable, one_line, percent, strong};
use crate::verbs::remember;

/// What was learned.
pub fn render(page: &mut Page, learned: &Learned) {
    let evaluation = &learned.evaluation;
    let outcome = if evaluation.success { good("success").to_string() } else { bad("failure").to_string() };
    if learned.repeated {
        page.line(notable("This report was taken before; nothing was changed. What it did then:"));
    }
    page.line(format_args!(
        "{} stored: {outcome}, quality {:.0}",
        strong(&evaluation.id),
        evaluation.quality.get()
    ));
    for strength in &evaluation.strengths {
        page.prose(&format!("  {} ", good("+")), strength);
    }
    for weakness in &evaluation.weaknesses {
        page.prose(&format!("  {} ", bad("-")), weakness);
    }
    if !learned.items.is_empty() {
        page.heading("Recalled");
        let rows = learned.items.iter().map(item);
        page.table(["", "q", "used in", "success", "improvement"], rows);
    }
    if !learned.insights.is_empty() {
        page.heading("Insights");
        learned.insights.iter().for_each(|outcome| insight(page, outcome));
    }
    page.gap();
    if let Some(context) = &learned.context {
        page.line(format_args!("Context {}", crate::render::context(context)));
    }
    for kind in &learned.redacted {
        page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
    }
    page.line(faint(format_args!("To undo it: memoryctl undo {}", learned.operation)));
}

fn item(item: &ItemOutcome) -> [String; 5] {
    let what = match (item.used, item.deprecated) {
        (_, true) => "deprecated",
        (true, false) => "used",
        (false, false) => "not used",
    };
    [
        what.to_owned(),
        format!("{:.2} → {:.2}", item.q_before.get(), item.q_after.get()),
        count(item.usage_count, "task", "tasks"),
        item.success_rate.map_or_else(|| "untested".to_owned(), percent),
        item.id.to_string(),
    ]
}

fn insight(page: &mut Page, outcome: &InsightOutcome) {
    let insight = &outcome.insight;
    let derived = if outcome.derived { ", derived" } else { "" };
    page.prose("  ", &insight.text);
    page.line(faint(format_args!(
        "  {}, confidence {:.2}{derived}",
        one_line(&insight.category),
        insight.confidence.get()
    )));
    for kept in outcome.kept.iter().flat_map(|remembered| &remembered.kept) {
        page.line(format_args!("  {}", remember::kept_line(kept)));
    }
    if let Some(reason) = &outcome.refused {
        page.prose(&format!("  {}  ", notable("not kept")), reason);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{sample, shown};
    use super::*;

    #[test]
    fn it_says_what_changed() {
        assert_eq!(
            shown(|page| render(page, &sample::learned())),
            "\
eval_1 stored: success, quality 85
  + Task completed successfully

Recalled
          q            used in  success   improvement
used      0.50 → 0.55  3 tasks  67 %      imp_1
not used  0.50 → 0.46  0 tasks  untested  imp_2

Insights
  Measure before tuning
  code_quality, confidence 0.80
  stored  imp_3  global, confidence 0.80
  Retry on timeouts
  error_handling, confidence 0.40, derived
  not kept  The confidence is below 0.5

Context debugging (cold, 12 of 100 interactions)
A secret was redacted: github token
To undo it: memoryctl undo 17
"
        );
    }
}
