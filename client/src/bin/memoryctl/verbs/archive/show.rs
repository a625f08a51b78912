//! Showing records of the archive in full.

use memoryd_client::proto::{ArchivePage, ArchivedRecord, Evaluation};

use crate::render::{Page, count, faint, one_line, strong, time};
use crate::verbs::{improvements, journal};

/// Records, each with the file it lies in.
pub fn render(page: &mut Page, reply: &ArchivePage) {
    super::damage(page, reply);
    for (n, found) in reply.records.iter().enumerate() {
        if n > 0 {
            page.gap();
        }
        match &found.record {
            ArchivedRecord::Improvement(one) => improvements::show(page, one),
            ArchivedRecord::Evaluation(one) => evaluation(page, one),
            ArchivedRecord::Operation(one) => journal::operation(page, one),
        }
        page.line(faint(format_args!("in {}", found.file)));
    }
}

/// An evaluation.
pub fn evaluation(page: &mut Page, one: &Evaluation) {
    page.line(strong(&one.id));
    page.prose("", &one.task);
    page.gap();
    let listed = |list: &[String]| (!list.is_empty()).then(|| one_line(&list.join("; ")));
    let insights: Vec<String> = one.insights.iter().map(|insight| insight.text.clone()).collect();
    page.fields([
        ("agent", Some(one.agent.to_string())),
        ("type", Some(one_line(&one.task_type))),
        ("outcome", Some(if one.success { "success" } else { "failure" }.to_owned())),
        ("quality", Some(format!("{:.0}", one.quality.get()))),
        ("time", one.time_taken_ms.map(|ms| format!("{ms} ms"))),
        ("tokens", one.tokens_used.map(|tokens| count(tokens, "token", "tokens"))),
        ("strengths", listed(&one.strengths)),
        ("weaknesses", listed(&one.weaknesses)),
        ("insights", listed(&insights)),
        ("notes", one.notes.as_deref().map(one_line)),
        ("reported", Some(time(one.at))),
    ]);
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::Archived;

    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn an_evaluation_is_shown_with_its_file() {
        let record = ArchivedRecord::Evaluation(sample::learned().evaluation);
        let records = vec![Archived { file: "evaluations-2026-04.jsonl.zst".to_owned(), record }];
        let text = shown(|page| render(page, &ArchivePage { records, more: false, damaged: Vec::new() }));
        let at = time(sample::noon());
        assert_eq!(
            text,
            format!(
                "\
eval_1
Make the uploader robust

agent       ada
type        debug
outcome     success
quality     85
strengths   Task completed successfully
reported    {at}
in evaluations-2026-04.jsonl.zst
"
            )
        );
    }
}
