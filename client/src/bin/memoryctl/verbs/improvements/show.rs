//! Showing one improvement with all that is known of it.

use memoryd_client::proto::{AgentName, Improvement};

use crate::render::{Page, bad, clean, count, faint, one_line, percent_if, scope, strong, time, word};

/// An improvement.
pub fn render(page: &mut Page, improvement: &Improvement) {
    page.line(strong(&improvement.id));
    page.prose("", &improvement.document);
    page.gap();
    let usage = &improvement.usage;
    let listed = |list: &[String]| (!list.is_empty()).then(|| one_line(&list.join(", ")));
    let deprecation = improvement
        .deprecation
        .as_ref()
        .map(|it| bad(format!("{}, {}", one_line(&it.reason), time(it.at))).to_string());
    let confirmed = improvement.cross_validation.as_ref().map(|it| {
        let agents: Vec<&str> = it.agents.iter().map(AgentName::as_str).collect();
        // A principle may come without the agents that it rests on.
        let agents = if agents.is_empty() { "other agents".to_owned() } else { agents.join(", ") };
        format!("{agents}, {}", time(it.at))
    });
    page.fields([
        ("agent", Some(improvement.agent.to_string())),
        ("scope", Some(scope(&improvement.scope))),
        ("category", Some(one_line(&improvement.category))),
        ("confidence", Some(format!("{:.2}", improvement.confidence.get()))),
        ("deprecated", deprecation),
        ("q", Some(format!("{:.2}", usage.q_value.get()))),
        (
            "used in",
            Some(format!(
                "{}, success {}",
                count(usage.usage_count, "task", "tasks"),
                percent_if(usage.success_rate)
            )),
        ),
        ("last used", usage.last_used.map(time)),
        ("recalled in", Some(count(usage.access_count, "recall", "recalls"))),
        ("stored", Some(time(improvement.created_at))),
        ("learned from", improvement.learned_from.as_deref().map(one_line)),
        (
            "corroborated",
            (improvement.corroborations > 0)
                .then(|| count(improvement.corroborations.into(), "time", "times")),
        ),
        ("confirmed by", confirmed),
        ("promoted", improvement.promotion.as_ref().map(|it| time(it.at))),
        ("source", Some(word(&improvement.source))),
        ("comes from", improvement.original_id.as_ref().map(ToString::to_string)),
        ("tags", listed(&improvement.tags)),
        ("context tags", listed(&improvement.context_tags)),
    ]);
    for (name, value) in &improvement.attributes {
        page.prose(&faint(format_args!("{:<12}  ", one_line(name))).to_string(), &clean(value));
    }
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::CrossValidation;

    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn everything_known_is_shown() {
        let text = shown(|page| render(page, &sample::improvement()));
        let stored = time(sample::noon());
        assert_eq!(
            text,
            format!(
                "\
imp_1
Retry idempotent requests with backoff

agent         ada
scope         global
category      error_handling
confidence    0.85
q             0.55
used in       3 tasks, success 67 %
recalled in   5 recalls
stored        {stored}
learned from  task 4711
corroborated  1 time
source        self
tags          http, retry
ticket        OPS-7
"
            )
        );
    }

    #[test]
    fn it_says_who_confirmed_it() {
        let confirmed = |agents: &[&str]| {
            let agents = agents.iter().map(|name| name.parse().unwrap()).collect();
            let cross_validation = Some(CrossValidation { agents, at: sample::noon() });
            let text = shown(|page| render(page, &Improvement { cross_validation, ..sample::improvement() }));
            text.lines().find(|line| line.starts_with("confirmed by")).unwrap().to_owned()
        };
        let at = time(sample::noon());
        assert_eq!(confirmed(&["bob", "cid"]), format!("confirmed by  bob, cid, {at}"));
        assert_eq!(confirmed(&[]), format!("confirmed by  other agents, {at}"));
    }
}
