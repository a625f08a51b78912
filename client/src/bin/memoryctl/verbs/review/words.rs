//! How a week went, in words.

use chrono::{Datelike, NaiveDate};
use memoryd_client::proto::{
    CriterionName, Figures, JobName, JobWork, Judgement, Review, SkillEvidence, SkillIdea,
};

use crate::render::{count, grouped};
use crate::verbs::skills;

/// How the week went, in a sentence.
pub fn headline(review: &Review) -> String {
    let (all, before) = (&review.all, &review.before);
    let Some(rate) = all.success_rate() else {
        return match all.recalls {
            0 => "No task was reported.".to_owned(),
            recalls => format!("No task was reported, after {}.", count(recalls, "recall", "recalls")),
        };
    };
    let moved = before.success_rate().map_or_else(String::new, |before| {
        match (100.0 * rate).round() - (100.0 * before).round() {
            0.0 => ", as many as the week before".to_owned(),
            points => format!(", {} {}", points_of(points.abs()), if points > 0.0 { "up" } else { "down" }),
        }
    });
    format!("{}, {:.0} % succeeded{moved}.", count(all.tasks, "task", "tasks"), 100.0 * rate)
}

/// What else is worth knowing, in a sentence each.
pub fn standfirst(review: &Review) -> Vec<String> {
    let mut sentences = Vec::new();
    if review.all.stored > 0 {
        sentences.push(format!("Agents learned {}.", count(review.all.stored, "lesson", "lessons")));
    }
    if review.fallen > 0 {
        let are = if review.fallen == 1 { "is" } else { "are" };
        let lessons = count(review.fallen, "lesson", "lessons");
        sentences.push(format!("{lessons} proved wrong and {are} no longer recalled."));
    }
    let summary = review.summary();
    if summary.judged > 1 {
        let all = if summary.met == summary.judged { "all " } else { "" };
        sentences.push(format!(
            "Of the {} criteria that can be judged, {all}{} {} met.",
            summary.judged,
            summary.met,
            if summary.met == 1 { "is" } else { "are" }
        ));
    }
    sentences
}

/// The days of the week, as one writes them.
pub fn days(review: &Review) -> String {
    let (first, last) = (review.week.monday(), review.week.day(6));
    let first_day = match (first.year() == last.year(), first.month() == last.month()) {
        (true, true) => first.format("%-d"),
        (true, false) => first.format("%-d %B"),
        (false, _) => first.format("%-d %B %Y"),
    };
    format!("{first_day} to {}", last.format("%-d %B %Y"))
}

/// How many days of the week have begun.
pub fn begun(review: &Review) -> usize {
    usize::try_from((review.made_at - review.from).num_days() + 1).unwrap_or_default()
}

/// How many recalls were reported, of how many.
pub fn reported(figures: &Figures) -> String {
    match figures.recalls {
        0 => "–".to_owned(),
        recalls => format!("{} of {}", grouped(figures.reported), grouped(recalls)),
    }
}

/// A day, short.
pub fn day(day: NaiveDate) -> String {
    day.format("%-d %b").to_string()
}

/// A mean quality.
pub fn quality(quality: Option<f64>) -> String {
    quality.map_or_else(|| "–".to_owned(), |quality| format!("{quality:.0}"))
}

/// A movement in points, with its sign.
pub fn signed(points: Option<f64>) -> String {
    match points {
        None => "–".to_owned(),
        Some(points) if points.round() == 0.0 => "±0".to_owned(),
        Some(points) if points < 0.0 => format!("−{:.0}", points.abs()),
        Some(points) => format!("+{points:.0}"),
    }
}

fn points_of(points: f64) -> String {
    format!("{points:.0} {}", if points < 1.5 { "point" } else { "points" })
}

/// Whether a criterion is met.
pub fn judgement(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Met => "met",
        Judgement::NotMet => "not met",
        Judgement::Open => "open",
    }
}

/// What a criterion is about.
pub fn criterion(name: CriterionName) -> &'static str {
    match name {
        CriterionName::Stored => "Agents learn from their tasks",
        CriterionName::Relevant => "What is recalled is used",
        CriterionName::Tracked => "What was used is counted",
        CriterionName::Improving => "Quality rises",
        CriterionName::Evaluated => "Every task is evaluated",
        CriterionName::Deprecation => "What fails is no longer recalled",
        CriterionName::Promotion => "What succeeds is promoted",
        CriterionName::FilesUntouched => "No agent’s file is changed",
    }
}

/// Why a learning is worth being a skill.
pub fn reasons(idea: &SkillIdea) -> String {
    let reason = |met: &SkillEvidence| format!("{} ({})", skills::word(met.criterion), met.evidence);
    idea.met.iter().map(reason).collect::<Vec<_>>().join("; ")
}

/// Where a learning is noted.
pub fn place(idea: &SkillIdea) -> String {
    let line = idea.place.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{}{line}", idea.place.file)
}

/// What a job did in the week.
pub struct Done {
    pub job: JobName,
    pub runs: u64,
    pub changes: u64,
    /// Changes that were undone.
    pub undone: u64,
}

/// What each job did, in the order of the jobs.
pub fn done(work: &[JobWork]) -> Vec<Done> {
    let of = |job: JobName| {
        let mine = || work.iter().filter(move |one| one.job == job);
        Done {
            job,
            runs: mine().count() as u64,
            changes: mine().map(|one| one.changes).sum(),
            undone: mine().filter(|one| one.undone).map(|one| one.changes).sum(),
        }
    };
    JobName::ALL.into_iter().map(of).filter(|done| done.runs > 0).collect()
}

/// The improvements there are, in a sentence.
pub fn standing(review: &Review) -> String {
    let standing = &review.standing;
    let all = standing.active + standing.candidates + standing.deprecated;
    if all == 0 {
        return "There are no improvements yet.".to_owned();
    }
    format!(
        "Of {}, {} can be recalled, {} wait for corroboration, and {} are deprecated.",
        count(all, "improvement", "improvements"),
        grouped(standing.active),
        grouped(standing.candidates),
        grouped(standing.deprecated)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::review::fixture;

    fn week(tasks: u64, succeeded: u64, before: (u64, u64)) -> Review {
        let figures = |tasks, succeeded| Figures { tasks, succeeded, ..Figures::default() };
        Review { all: figures(tasks, succeeded), before: figures(before.0, before.1), ..fixture::empty() }
    }

    #[test]
    fn the_headline_says_how_the_week_went() {
        for (review, said) in [
            (week(42, 34, (40, 30)), "42 tasks, 81 % succeeded, 6 points up."),
            (week(42, 34, (100, 82)), "42 tasks, 81 % succeeded, 1 point down."),
            (week(4, 3, (8, 6)), "4 tasks, 75 % succeeded, as many as the week before."),
            (week(1, 1, (0, 0)), "1 task, 100 % succeeded."),
            (week(0, 0, (8, 6)), "No task was reported."),
        ] {
            assert_eq!(headline(&review), said);
        }
    }

    #[test]
    fn days_name_a_month_and_a_year_only_once() {
        let said = |week: &str| days(&Review { week: week.parse().unwrap(), ..fixture::empty() });
        assert_eq!(said("2026-W03"), "12 to 18 January 2026");
        assert_eq!(said("2026-W05"), "26 January to 1 February 2026");
        assert_eq!(said("2026-W01"), "29 December 2025 to 4 January 2026");
    }
}
