//! A review as text for a terminal, in at most 80 columns.

use memoryd_client::proto::{
    AgentReview, ContextReview, Judgement, Lesson, Mode, Point, Review, SharedInsight, SkillIdea,
};

use super::words;
use crate::render::{Page, bad, faint, good, grouped, notable, one_line, percent_if, strong, time};

/// Characters of an agent's name that are shown.
const NAME: usize = 20;

/// What stands below a lesson's record.
const MARGIN: &str = "         ";

/// The review.
pub fn render(page: &mut Page, review: &Review) {
    let running = if review.is_over() { "" } else { ", so far" };
    page.line(format_args!(
        "{}  {}",
        strong(format_args!("Review of {}{running}", review.week)),
        faint(words::days(review))
    ));
    page.gap();
    page.prose("", &words::headline(review));
    page.prose("", &words::standfirst(review).join(" "));
    page.gap();
    figures(page, review);
    agents(page, &review.agents);
    lessons(page, "Lessons that worked", &review.best);
    lessons(page, "Lessons that failed", &review.worst);
    shared(page, &review.shared);
    skills(page, &review.skills);
    contexts(page, &review.contexts);
    page.heading("What lessons are worth");
    if review.q_values.iter().any(|some| *some > 0) {
        page.line(format_args!("0 {} 1  {}", histogram(&review.q_values), faint("lessons by Q")));
    }
    page.prose("", &words::standing(review));
    maintenance(page, review);
    criteria(page, review);
    if !review.is_over() {
        page.gap();
        let before = review.week.before(1);
        page.line(faint(format_args!("The week before: memoryctl review {before}")));
    }
}

fn figures(page: &mut Page, review: &Review) {
    let (all, before) = (&review.all, &review.before);
    page.table(
        ["", "this week", "week before"],
        [
            ["tasks".to_owned(), grouped(all.tasks), grouped(before.tasks)],
            ["succeeded".to_owned(), percent_if(all.success_rate()), percent_if(before.success_rate())],
            ["mean quality".to_owned(), words::quality(all.quality), words::quality(before.quality)],
            ["lessons stored".to_owned(), grouped(all.stored), grouped(before.stored)],
            ["recalls reported".to_owned(), words::reported(all), words::reported(before)],
        ],
    );
}

fn agents(page: &mut Page, agents: &[AgentReview]) {
    let active = || agents.iter().filter(|one| one.weeks.iter().any(|point| point.tasks > 0));
    if active().next().is_none() {
        return;
    }
    page.heading("Agents");
    page.table(
        ["agent", "tasks", "success", "12 weeks", "quality", "trend", "stored"],
        active().map(|one| {
            let success: Vec<Option<f64>> = one.weeks.iter().map(Point::success_rate).collect();
            [
                cut(one.agent.as_str(), NAME),
                grouped(one.week.tasks),
                percent_if(one.week.success_rate()),
                spark(&success),
                words::quality(one.week.quality),
                words::signed(one.trend),
                grouped(one.week.stored),
            ]
        }),
    );
}

fn lessons(page: &mut Page, heading: &str, lessons: &[Lesson]) {
    if lessons.is_empty() {
        return;
    }
    page.heading(heading);
    for lesson in lessons {
        let usage = &lesson.improvement.usage;
        let record = format!("{}/{}", usage.success_count, usage.usage_count);
        page.prose(&format!("{record:>7}  "), &cut(&one_line(&lesson.improvement.document), 300));
        let gone = if lesson.recalled { "" } else { " · no longer recalled" };
        let used = usage.last_used.map_or_else(String::new, |at| format!(" · used {}", time(at)));
        let facts = format!(
            "{} · {} · Q {:.2}{used}{gone}",
            lesson.improvement.id,
            lesson.improvement.agent,
            usage.q_value.get()
        );
        page.prose(MARGIN, &facts);
        for task in &lesson.tasks {
            let mark = if task.success { "+" } else { "−" };
            page.line(format_args!("{MARGIN}{mark} {}", cut(&one_line(&task.task), 66)));
        }
    }
}

fn shared(page: &mut Page, shared: &[SharedInsight]) {
    if shared.is_empty() {
        return;
    }
    page.heading("Insights that sessions shared");
    for one in shared {
        let day = words::day(one.day);
        page.prose(&format!("{day:>7}  "), &cut(&one_line(one.rule.as_deref().unwrap_or(&one.title)), 300));
        page.prose(MARGIN, &one_line(&one.name));
    }
}

fn skills(page: &mut Page, skills: &[SkillIdea]) {
    if skills.is_empty() {
        return;
    }
    page.heading("Learnings worth being a skill");
    for one in skills {
        page.prose("", &cut(&one_line(one.rule.as_deref().unwrap_or(&one.title)), 300));
        page.prose("  ", &one_line(&words::reasons(one)));
        page.prose("  ", &format!("{}, {}", cut(&one.note, 12), one_line(&words::place(one))));
    }
    page.line(faint("To make one a skill: memoryctl skills extract ID"));
}

fn contexts(page: &mut Page, contexts: &[ContextReview]) {
    if contexts.is_empty() {
        return;
    }
    page.heading("Contexts");
    page.table(
        ["context", "warm at", "", "this week"],
        contexts.iter().map(|one| {
            let state = &one.state;
            let seen = match state.mode {
                Mode::Warm => format!("warm, {}", grouped(state.interactions)),
                Mode::Cold => format!("{} of {}", state.interactions, state.warm_from),
            };
            let bar = bar(state.interactions, state.warm_from);
            [cut(state.name.as_str(), NAME), bar, seen, format!("+{}", grouped(one.grown))]
        }),
    );
}

fn maintenance(page: &mut Page, review: &Review) {
    let done = words::done(&review.maintenance);
    if done.is_empty() {
        return;
    }
    page.heading("What maintenance did");
    page.table(
        ["job", "runs", "changes", "undone"],
        done.iter()
            .map(|one| [one.job.to_string(), grouped(one.runs), grouped(one.changes), grouped(one.undone)]),
    );
}

fn criteria(page: &mut Page, review: &Review) {
    page.heading("Does the memory work?");
    for one in &review.criteria {
        let judged = format!("{:<9}", words::judgement(one.judgement));
        let judged = match one.judgement {
            Judgement::Met => good(judged).to_string(),
            Judgement::NotMet => bad(judged).to_string(),
            Judgement::Open => notable(judged).to_string(),
        };
        page.prose(&judged, &format!("{}: {}", words::criterion(one.name), one.figure));
    }
}

/// Shares as columns of eighths, with a dot where there is none.
fn spark(shares: &[Option<f64>]) -> String {
    shares.iter().map(|share| share.map_or('·', column)).collect()
}

/// Counts as columns, the largest of them full.
fn histogram(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    #[allow(clippy::cast_precision_loss, reason = "eighths are shown")]
    let share = |count: u64| count as f64 / most as f64;
    counts.iter().map(|count| if *count == 0 { ' ' } else { column(share(*count)) }).collect()
}

fn column(share: f64) -> char {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 7")]
    let eighth = (share.clamp(0.0, 1.0) * 7.0).round() as usize;
    EIGHTHS[eighth]
}

fn bar(part: u64, whole: u64) -> String {
    const WIDE: u64 = 16;
    let full = (WIDE * part.min(whole)).checked_div(whole).unwrap_or(WIDE);
    (0..WIDE).map(|n| if n < full { '█' } else { '░' }).collect()
}

/// A text of at most so many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::review::fixture;
    use crate::verbs::testing::shown;

    fn lines(review: &Review) -> Vec<String> {
        let mut page = Page::new(Some(80));
        render(&mut page, review);
        anstream::adapter::strip_str(page.text()).to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_review_fits_eighty_columns() {
        for review in [fixture::lively(24), fixture::lively(6), fixture::first(), fixture::empty()] {
            for line in lines(&review) {
                assert!(textwrap::core::display_width(&line) <= 80, "{line}");
            }
        }
    }

    #[test]
    fn a_first_week_reads_from_the_headline_to_the_criteria() {
        let text = shown(|page| render(page, &fixture::first()));
        let used = time(fixture::first().best[0].improvement.usage.last_used.unwrap());
        let expected = format!(
            "\
Review of 2026-W05, so far  26 January to 1 February 2026

2 tasks, 50 % succeeded.
Agents learned 1 lesson.

                  this week  week before
tasks             2          0
succeeded         50 %       –
mean quality      61         –
lessons stored    1          0
recalls reported  2 of 2     –

Agents
agent   tasks  success  12 weeks      quality  trend  stored
finder  2      50 %     ···········▅  61       −12    1

Lessons that worked
    1/1  When a download from the artefact store fails with a 503, retry it with exponential
         backoff and jitter, at most five times, and log the last response body before giving
         up: the store answers 503 while it rebalances.
         improvement_1769000000000_0 · research-specialist · Q 0.56 · used {used}
         + Find out why the nightly build of the uploader fails on the arm64…

Contexts
context    warm at                     this week
coding     ░░░░░░░░░░░░░░░░  2 of 100  +2
debugging  ░░░░░░░░░░░░░░░░  0 of 100  +0
research   ░░░░░░░░░░░░░░░░  0 of 100  +0

What lessons are worth
0            █         1  lessons by Q
Of 1 improvement, 1 can be recalled, 0 wait for corroboration, and 0 are deprecated.

Does the memory work?
open     Agents learn from their tasks: 1 stored so far
"
        );
        assert!(text.starts_with(&expected), "{text}");
    }

    #[test]
    fn a_memory_without_anything_is_shown_plainly() {
        let lines = lines(&fixture::empty());
        assert_eq!(lines[2], "No task was reported.");
        assert!(!lines.iter().any(|line| line == "Agents" || line.starts_with("Lessons that")));
        assert!(lines.contains(&"There are no improvements yet.".to_owned()));
    }

    #[test]
    fn columns_and_bars_show_shares() {
        assert_eq!(spark(&[None, Some(0.0), Some(0.5), Some(1.0)]), "·▁▅█");
        assert_eq!(histogram(&[0, 1, 2]), " ▅█");
        assert_eq!((bar(50, 100), bar(700, 100)), ("████████░░░░░░░░".to_owned(), "█".repeat(16)));
        assert_eq!((cut("short", 5), cut("longer", 5)), ("short".to_owned(), "long…".to_owned()));
    }
}
