//! When a memory works: the success criteria of the seed, each judged by a figure (spec P3).

use memoryd_proto::{CriterionName, Judgement, SuccessCriterion};

/// Improvements that agents learn in a week when they learn from their tasks.
const STORED: u64 = 10;

/// Share of the recalls that were of use, above which recalls are relevant.
const RELEVANT: f64 = 0.8;

/// Share of the recalls that were reported, from which tasks count as evaluated. Some recalls are made out of
/// curiosity, with no task behind them.
const EVALUATED: f64 = 0.9;

/// What a week is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Whether the week is over.
    pub over: bool,
    /// Improvements that were stored.
    pub stored: u64,
    /// Of the reported recalls that returned something, those of which something was used.
    pub helped: Part,
    /// Of the uses that were reported, those that the usage of their improvement counts.
    pub counted: Part,
    /// Mean quality of the newer half of the tasks of 30 days minus that of the older; none below two tasks.
    pub trend: Option<f64>,
    /// Of the recalls that had their 24 hours, those that were reported.
    pub reported: Part,
    /// Of the improvements that were used often enough and fail, those that are deprecated.
    pub deprecated: Part,
    /// Of the improvements that were used often enough and succeed, those that no promotion awaits.
    pub promoted: Part,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The part.
    pub part: u64,
    /// The whole.
    pub whole: u64,
}

impl Part {
    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    fn share(self) -> f64 {
        self.part as f64 / self.whole as f64
    }

    /// Judges it by `met`, unless there is nothing to judge.
    fn judged(self, met: impl FnOnce(Self) -> bool) -> Judgement {
        if self.whole == 0 { Judgement::Open } else { judgement(met(self)) }
    }

    /// As it is told: `of` says what the whole is of.
    fn told(self, none: &str, rest: &str) -> String {
        if self.whole == 0 { none.to_owned() } else { format!("{} of {} {rest}", self.part, self.whole) }
    }

    /// As it is told with its share.
    fn percent(self, none: &str, rest: &str) -> String {
        if self.whole == 0 {
            return none.to_owned();
        }
        // Rounded down: what is short of the mark must not look as if it were there.
        format!("{} %: {}", 100 * self.part / self.whole, self.told(none, rest))
    }
}

/// Every criterion, in the order of the seed.
#[must_use]
pub fn judge(evidence: &Evidence) -> Vec<SuccessCriterion> {
    let Evidence { over, stored, helped, counted, trend, reported, deprecated, promoted } = *evidence;
    let learns = match stored {
        STORED.. => Judgement::Met,
        _ if over => Judgement::NotMet,
        _ => Judgement::Open,
    };
    let so_far = if over { "" } else { " so far" };
    let criterion =
        |name, judgement, rule: String, figure| SuccessCriterion { name, judgement, rule, figure };
    vec![
        criterion(
            CriterionName::Stored,
            learns,
            format!("At least {STORED} improvements are stored in a week."),
            format!("{stored} stored{so_far}"),
        ),
        criterion(
            CriterionName::Relevant,
            helped.judged(|part| part.share() > RELEVANT),
            format!(
                "Of more than {:.0} % of the reported recalls that returned something, something was used.",
                100.0 * RELEVANT
            ),
            helped.percent("no recall that returned something was reported", "helped"),
        ),
        criterion(
            CriterionName::Tracked,
            counted.judged(|Part { part, whole }| part == whole),
            "Every reported use counts in the usage of its improvement.".to_owned(),
            counted.told("no use was reported", "uses counted"),
        ),
        criterion(
            CriterionName::Improving,
            trend.map_or(Judgement::Open, |trend| judgement(trend > 0.0)),
            "Over 30 days, the newer half of the tasks has a higher mean quality than the older.".to_owned(),
            trend.map_or_else(
                || "fewer than two tasks in 30 days".to_owned(),
                |trend| format!("{trend:+.1} of 100 points"),
            ),
        ),
        criterion(
            CriterionName::Evaluated,
            reported.judged(|part| part.share() >= EVALUATED),
            format!(
                "At least {:.0} % of the recalls that had 24 hours for it were reported.",
                100.0 * EVALUATED
            ),
            reported.percent("no recall is older than 24 hours", "reported"),
        ),
        criterion(
            CriterionName::Deprecation,
            deprecated.judged(|Part { part, whole }| part == whole),
            "What was used often enough and fails is no longer recalled.".to_owned(),
            deprecated.told("nothing used often enough fails", "failing improvements deprecated"),
        ),
        criterion(
            CriterionName::Promotion,
            promoted.judged(|Part { part, whole }| part == whole),
            "What was used often enough and succeeds is promoted.".to_owned(),
            promoted.told("nothing used often enough succeeds", "succeeding improvements promoted"),
        ),
        criterion(
            CriterionName::FilesUntouched,
            Judgement::Met,
            "No agent's .md file is changed.".to_owned(),
            "memoryd opens them for reading only".to_owned(),
        ),
    ]
}

fn judgement(met: bool) -> Judgement {
    if met { Judgement::Met } else { Judgement::NotMet }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(evidence: &Evidence) -> Vec<(CriterionName, Judgement)> {
        judge(evidence).into_iter().map(|one| (one.name, one.judgement)).collect()
    }

    fn of(part: u64, whole: u64) -> Part {
        Part { part, whole }
    }

    #[test]
    fn p3_a_memory_without_anything_is_not_judged() {
        let open = judged(&Evidence::default());
        assert!(open[..7].iter().all(|(_, judgement)| *judgement == Judgement::Open), "{open:?}");
        assert_eq!(open[7], (CriterionName::FilesUntouched, Judgement::Met));
    }

    #[test]
    fn p3_each_criterion_has_its_mark() {
        let well = Evidence {
            over: true,
            stored: 10,
            helped: of(81, 100),
            counted: of(7, 7),
            trend: Some(0.1),
            reported: of(9, 10),
            deprecated: of(2, 2),
            promoted: of(3, 3),
        };
        assert!(judged(&well).iter().all(|(_, judgement)| *judgement == Judgement::Met));
        let short = Evidence {
            over: true,
            stored: 9,
            helped: of(80, 100),
            counted: of(6, 7),
            trend: Some(0.0),
            reported: of(89, 100),
            deprecated: of(1, 2),
            promoted: of(2, 3),
        };
        let short = judged(&short);
        assert!(short[..7].iter().all(|(_, judgement)| *judgement == Judgement::NotMet), "{short:?}");
    }

    #[test]
    fn p3_a_week_that_runs_may_still_learn() {
        let running = judge(&Evidence { stored: 9, ..Evidence::default() });
        assert_eq!((running[0].judgement, &*running[0].figure), (Judgement::Open, "9 stored so far"));
        let enough = judge(&Evidence { stored: 10, ..Evidence::default() });
        assert_eq!(enough[0].judgement, Judgement::Met);
    }

    #[test]
    fn p3_a_figure_never_looks_better_than_its_judgement() {
        let figures = judge(&Evidence { reported: of(899, 1000), ..Evidence::default() });
        assert_eq!(
            (figures[4].judgement, &*figures[4].figure),
            (Judgement::NotMet, "89 %: 899 of 1000 reported")
        );
    }
}
