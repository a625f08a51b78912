//! A review as a page for a browser: one file, complete without a network and without scripts.

use std::fmt::Display;

use chrono::{DateTime, Local, NaiveDate, Utc};
use memoryd_client::proto::{AgentReview, Figures, Judgement, Lesson, Mode, Review};

use super::markup::Markup;
use super::{plot, words};
use crate::render::{clean, count, grouped, percent_if, time};

/// Characters of a stored text that are shown.
const SHOWN: usize = 420;

/// The page.
pub fn page(review: &Review) -> String {
    let mut markup = Markup::default();
    markup.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    markup.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    markup.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    markup.element("title", &[], format_args!("Review of {}", review.week));
    markup.raw("\n<style>\n").raw(include_str!("style.css")).raw("</style>\n</head>\n<body>\n<main>\n");
    masthead(&mut markup, review);
    figures(&mut markup, review);
    week(&mut markup, review);
    agents(&mut markup, review);
    lessons(&mut markup, review);
    noted(&mut markup, review);
    criteria(&mut markup, review);
    utility(&mut markup, review);
    footer(&mut markup, review);
    markup.raw("</main>\n</body>\n</html>\n");
    markup.finish()
}

fn masthead(markup: &mut Markup, review: &Review) {
    markup.raw("<header>\n");
    let running = if review.is_over() { "" } else { ", so far" };
    markup.raw("<p class=\"week\">");
    markup.element("span", &[], format_args!("Review of {}{running}", review.week)).raw(" · ");
    markup.element("span", &[], words::days(review)).raw("</p>\n");
    // A number stays with its sign, wherever the line breaks.
    markup.element("h1", &[], words::headline(review).replace(" %", "\u{a0}%")).raw("\n");
    let sentences = words::standfirst(review);
    if !sentences.is_empty() {
        markup.element("p", &[("class", &"standfirst")], sentences.join(" ")).raw("\n");
    }
    markup.raw("</header>\n");
}

fn figures(markup: &mut Markup, review: &Review) {
    let (all, before) = (&review.all, &review.before);
    let figures = [
        ("Tasks", grouped(all.tasks), grouped(before.tasks)),
        ("Succeeded", percent_if(all.success_rate()), percent_if(before.success_rate())),
        ("Mean quality", words::quality(all.quality), words::quality(before.quality)),
        ("Lessons stored", grouped(all.stored), grouped(before.stored)),
        ("Recalls reported", words::reported(all), words::reported(before)),
    ];
    markup.raw("<dl class=\"figures\">\n");
    for (label, now, then) in figures {
        markup.raw("<div>").element("dt", &[], label).element("dd", &[], now);
        if *before != Figures::default() {
            markup.element("dd", &[("class", &"before")], format_args!("week before {then}"));
        }
        markup.raw("</div>\n");
    }
    markup.raw("</dl>\n");
}

fn week(markup: &mut Markup, review: &Review) {
    markup.raw("<div class=\"pair\">\n<section>\n<h2>Day by day</h2>\n");
    if review.all.tasks == 0 {
        nothing(markup, "No task was reported.");
    } else {
        plot::days(markup, &review.days, words::begun(review));
        markup.raw("<p class=\"note\">Tasks that succeeded, of all. The hatched part failed.</p>\n");
    }
    markup.raw("</section>\n<section>\n<h2>Contexts</h2>\n");
    if review.contexts.is_empty() {
        nothing(markup, "No context is known yet.");
    }
    for (place, context) in review.contexts.iter().enumerate() {
        let state = &context.state;
        let warmth = match state.mode {
            Mode::Warm => format!("warm, {}", count(state.interactions, "interaction", "interactions")),
            Mode::Cold => format!("{} of {} interactions", state.interactions, grouped(state.warm_from)),
        };
        let grown =
            if context.grown > 0 { format!(", {} new", grouped(context.grown)) } else { String::new() };
        markup.raw("<div class=\"context\"><p>");
        markup.element("b", &[], &state.name).raw(" ");
        markup.element("span", &[], format_args!("{warmth}{grown}")).raw("</p>\n");
        plot::context(markup, place, context);
        markup.raw("</div>\n");
    }
    markup.raw("<p class=\"note\">In a warm context, what helped before weighs in when lessons are ranked. ");
    markup.raw("The pale end of a bar came this week.</p>\n</section>\n</div>\n");
}

fn agents(markup: &mut Markup, review: &Review) {
    markup.raw("<section>\n<h2>Agents</h2>\n");
    let (active, idle): (Vec<_>, Vec<_>) =
        review.agents.iter().partition(|one| one.weeks.iter().any(|point| point.tasks > 0));
    if active.is_empty() {
        nothing(markup, "No agent reported a task in twelve weeks.");
    }
    markup.raw("<div class=\"agents\">\n");
    for (place, one) in active.iter().enumerate() {
        agent(markup, place, one);
    }
    markup.raw("</div>\n");
    if !active.is_empty() {
        markup
            .raw("<p class=\"note\">By week, over twelve weeks: the share of tasks that succeeded (solid) ");
        markup.raw("and their mean quality of 100 (dashed). A gap is a week without tasks. ");
        markup.raw("The trend compares the newer half of 30 days’ tasks with the older.</p>\n");
    }
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|one| one.agent.as_str()).collect();
        let names = names.join(", ");
        markup.element("p", &[("class", &"note")], format_args!("Without tasks in twelve weeks: {names}."));
        markup.raw("\n");
    }
    markup.raw("</section>\n");
}

fn agent(markup: &mut Markup, place: usize, one: &AgentReview) {
    markup.raw("<article class=\"agent\">\n").element("h3", &[], &one.agent);
    let mut told = match one.week.tasks {
        0 => vec!["no tasks this week".to_owned()],
        tasks => vec![count(tasks, "task", "tasks")],
    };
    if one.week.stored > 0 {
        told.push(count(one.week.stored, "lesson", "lessons"));
    }
    told.extend(one.trend.map(|trend| format!("trend {}", words::signed(Some(trend)))));
    let unreported = one.week.recalls.saturating_sub(one.week.reported);
    if unreported > 0 {
        told.push(format!("{} unreported", count(unreported, "recall", "recalls")));
    }
    markup.element("p", &[], told.join(" · ")).raw("\n");
    plot::agent(markup, place, one);
    markup.raw("</article>\n");
}

fn lessons(markup: &mut Markup, review: &Review) {
    let failed = review.best.iter().any(|one| one.successes < one.uses);
    let none_failed =
        if failed { "No other lesson failed this week." } else { "No lesson failed this week." };
    markup.raw("<div class=\"pair\">\n");
    for (id, heading, lessons, none) in [
        ("best", "Lessons that worked", &review.best, "No lesson was used with success this week."),
        ("worst", "Lessons that failed", &review.worst, none_failed),
    ] {
        markup.raw("<section>\n").element("h2", &[], heading).raw("\n");
        if lessons.is_empty() {
            nothing(markup, none);
        } else {
            markup.raw("<ol class=\"lessons\">\n");
            for (place, lesson) in lessons.iter().enumerate() {
                self::lesson(markup, &format!("{id}-{place}"), lesson);
            }
            markup.raw("</ol>\n");
        }
        markup.raw("</section>\n");
    }
    markup.raw("</div>\n");
}

fn lesson(markup: &mut Markup, id: &str, lesson: &Lesson) {
    let (improvement, usage) = (&lesson.improvement, &lesson.improvement.usage);
    markup.raw("<li>\n").element("p", &[], shortened(&improvement.document)).raw("\n");
    markup.raw("<p class=\"record\">");
    plot::record(markup, id, usage.success_count, usage.usage_count);
    let record = format!("{} of {} uses succeeded", grouped(usage.success_count), grouped(usage.usage_count));
    markup.element("b", &[], record);
    if !lesson.recalled {
        markup.raw(" <span class=\"badge\">no longer recalled</span>");
    }
    markup.raw("</p>\n");
    let used =
        usage.last_used.map_or_else(String::new, |at| format!(", last used {}", words::day(local(at))));
    let facts = format!(
        "{} of {} this week{used} · Q {:.2} · {} · {} · ",
        lesson.successes,
        lesson.uses,
        usage.q_value.get(),
        improvement.agent,
        improvement.category
    );
    markup.raw("<p class=\"facts\">").text(facts);
    markup.element("code", &[], &improvement.id).raw("</p>\n");
    if !lesson.tasks.is_empty() {
        markup.raw("<ul class=\"tasks\">\n");
        for task in &lesson.tasks {
            let (class, word) = if task.success { ("well", "succeeded") } else { ("ill", "failed") };
            markup.raw("<li>").element("span", &[("class", &class)], word).raw(" ");
            markup.element("span", &[], shortened(&task.task)).raw("</li>\n");
        }
        markup.raw("</ul>\n");
    }
    markup.raw("</li>\n");
}

/// What the memory tree has; nothing where there is no tree to speak of.
fn noted(markup: &mut Markup, review: &Review) {
    if review.shared.is_empty() && review.skills.is_empty() {
        return;
    }
    markup.raw("<div class=\"pair\">\n<section>\n<h2>Insights that sessions shared</h2>\n");
    if review.shared.is_empty() {
        nothing(markup, "No insight was shared this week.");
    } else {
        markup.raw("<ol class=\"lessons\">\n");
        for one in &review.shared {
            markup.raw("<li>\n").element("p", &[], shortened(one.rule.as_deref().unwrap_or(&one.title)));
            markup.raw("\n<p class=\"facts\">");
            markup.text(format_args!("{} · {} · ", shortened(&one.title), words::day(one.day)));
            markup.element("code", &[], &one.name).raw("</p>\n</li>\n");
        }
        markup.raw("</ol>\n<p class=\"note\">They expire. <code>memoryctl share promote</code> makes one ");
        markup.raw("a rule that stays.</p>\n");
    }
    markup.raw("</section>\n<section>\n<h2>Learnings worth being a skill</h2>\n");
    if review.skills.is_empty() {
        nothing(markup, "No learning is worth being a skill yet.");
    } else {
        markup.raw("<ol class=\"lessons\">\n");
        for one in &review.skills {
            markup.raw("<li>\n").element("p", &[], shortened(one.rule.as_deref().unwrap_or(&one.title)));
            markup.raw("\n").element("p", &[("class", &"facts")], words::reasons(one));
            markup.raw("\n<p class=\"facts\">").text(format_args!("{} · ", words::place(one)));
            markup.element("code", &[], one.note.get(..12).unwrap_or(&one.note)).raw("</p>\n</li>\n");
        }
        markup.raw("</ol>\n<p class=\"note\"><code>memoryctl skills extract</code> makes one a skill.</p>\n");
    }
    markup.raw("</section>\n</div>\n");
}

fn criteria(markup: &mut Markup, review: &Review) {
    markup.raw("<section>\n<h2>Does the memory work?</h2>\n<ul class=\"criteria\">\n");
    for one in &review.criteria {
        let (class, mark, word) = match one.judgement {
            Judgement::Met => ("well", "✓", "Met"),
            Judgement::NotMet => ("ill", "✗", "Not met"),
            Judgement::Open => ("open", "·", "Nothing to judge yet"),
        };
        markup.open("li", &[("class", &class)]);
        markup.element("span", &[("class", &"mark"), ("aria-hidden", &"true")], mark).raw("<div>");
        markup.element("h3", &[], words::criterion(one.name));
        markup.raw("<p>").element("b", &[], word).text(format_args!(": {}", one.figure)).raw("</p>");
        markup.element("p", &[("class", &"note")], &one.rule).raw("</div></li>\n");
    }
    markup.raw("</ul>\n</section>\n");
}

fn utility(markup: &mut Markup, review: &Review) {
    markup.raw("<div class=\"pair\">\n<section>\n<h2>What lessons are worth</h2>\n");
    if review.q_values.iter().all(|some| *some == 0) {
        nothing(markup, "No lesson was recalled yet.");
    } else {
        plot::q_values(markup, &review.q_values);
        markup.raw("<p class=\"note\">Recalled lessons by Q, their learned utility.</p>\n");
    }
    markup.element("p", &[("class", &"note")], words::standing(review)).raw("\n");
    markup.raw("</section>\n<section>\n<h2>What maintenance did</h2>\n");
    let done = words::done(&review.maintenance);
    if done.is_empty() {
        nothing(markup, "Maintenance changed nothing this week.");
    } else {
        markup.raw("<table>\n<thead><tr><th scope=\"col\">Job</th><th scope=\"col\" class=\"n\">Runs</th>");
        markup.raw("<th scope=\"col\" class=\"n\">Changes</th>");
        markup.raw("<th scope=\"col\" class=\"n\">Undone</th></tr></thead>\n<tbody>\n");
        for one in &done {
            let about = one.job.about();
            markup.raw("<tr><th scope=\"row\">").text(one.job).raw("<span>").text(about).raw("</span></th>");
            for figure in [one.runs, one.changes, one.undone] {
                let figure = if figure == 0 { "–".to_owned() } else { grouped(figure) };
                markup.element("td", &[("class", &"n")], figure);
            }
            markup.raw("</tr>\n");
        }
        markup.raw("</tbody>\n</table>\n");
        markup.raw("<p class=\"note\">Every run can be undone: <code>memoryctl journal</code> lists them, ");
        markup.raw("<code>memoryctl undo</code> takes one back.</p>\n");
    }
    markup.raw("</section>\n</div>\n");
}

fn footer(markup: &mut Markup, review: &Review) {
    markup.raw("<footer>\n");
    let made = format!("Made by memoryd on {}.", time(review.made_at));
    let so_far = if review.is_over() { "" } else { " The week is not over: figures go up to then." };
    markup.element("p", &[], format_args!("{made}{so_far}")).raw("\n");
    markup.raw("</footer>\n");
}

fn nothing(markup: &mut Markup, said: impl Display) {
    markup.element("p", &[("class", &"nothing")], said).raw("\n");
}

/// The day of an instant, on the calendar of whoever reads it.
fn local(at: DateTime<Utc>) -> NaiveDate {
    at.with_timezone(&Local).date_naive()
}

/// A text, cut where it gets too long to be read here.
fn shortened(text: &str) -> String {
    let text = clean(text.trim());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{fixture, markup};
    use super::*;

    fn pages() -> [(&'static str, Review); 4] {
        [
            ("six", fixture::lively(6)),
            ("crowd", fixture::lively(24)),
            ("first", fixture::first()),
            ("empty", fixture::empty()),
        ]
    }

    #[test]
    fn a_page_is_well_formed_and_complete_in_itself() {
        for (name, review) in pages() {
            let page = page(&review);
            markup::check(&page);
            for outside in ["http:", "https:", "<script", "<link", "<img", "@import", "url(h"] {
                assert!(!page.contains(outside), "{name} has {outside}");
            }
            if let Some(folder) = std::env::var_os("MEMORYD_PAGES") {
                std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), &page).unwrap();
            }
        }
    }

    #[test]
    fn what_was_stored_cannot_become_markup() {
        let hostile = "</p><script>alert(\"1\")</script>&lt;'";
        let mut review = fixture::lively(6);
        review.best[0].improvement.document = hostile.to_owned();
        review.best[0].improvement.category = hostile.to_owned();
        review.best[0].tasks[0].task = hostile.to_owned();
        review.criteria[0].figure = hostile.to_owned();
        review.criteria[0].rule = hostile.to_owned();
        review.shared[0].rule = Some(hostile.to_owned());
        review.shared[0].title = hostile.to_owned();
        review.skills[0].rule = Some(hostile.to_owned());
        review.skills[0].met[0].evidence = hostile.to_owned();
        let page = page(&review);
        markup::check(&page);
        assert!(!page.contains("<script") && !page.contains("alert(\""));
        let escaped = "&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;lt;&#39;";
        assert_eq!(page.matches(escaped).count(), 9);
    }

    #[test]
    fn every_drawing_says_what_it_shows() {
        let page = page(&fixture::lively(6));
        let drawings = page.matches("<svg ").count();
        assert!(drawings > 15, "{drawings}");
        assert_eq!(page.matches("role=\"img\" aria-labelledby=\"").count(), drawings);
        assert_eq!(
            (page.matches("<title id=").count(), page.matches("<desc id=").count()),
            (drawings, drawings)
        );
        let mut ids: Vec<&str> =
            page.split(" id=\"").skip(1).filter_map(|after| after.split('"').next()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "an id names one thing");
    }

    #[test]
    fn a_day_that_has_not_begun_has_no_number() {
        let page = page(&fixture::first());
        let days = page.split("id=\"days-about\"").nth(1).unwrap().split("</svg>").next().unwrap();
        assert!(days.starts_with(">Monday: 1 of 2 succeeded; Tuesday: 0 of 0 succeeded<"), "{days}");
        assert_eq!((days.matches(">0<").count(), days.matches(">1/2<").count()), (1, 1));
        assert!(days.contains(">Sun<"));
    }

    #[test]
    fn a_gap_breaks_a_line() {
        let mut review = fixture::first();
        let lines = |review: &Review| page(review).matches("<polyline class=\"success\"").count();
        assert_eq!(lines(&review), 0, "one week is a dot");
        for n in [0, 1, 2, 8, 9] {
            let point = &mut review.agents[0].weeks[n];
            (point.tasks, point.succeeded, point.quality) = (4, 3, Some(70.0));
        }
        assert_eq!(lines(&review), 2);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "é".repeat(SHOWN + 1);
        assert_eq!(shortened(&long).chars().count(), SHOWN + 1);
        assert!(shortened(&long).ends_with("é…"));
        assert_eq!(shortened(" short "), "short");
    }
}
