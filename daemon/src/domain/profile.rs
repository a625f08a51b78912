//! Quality criteria and their weights (spec E3).

use std::collections::BTreeSet;

use memoryd_proto::{CriterionScore, Fault, Graded, Profile, Quality};

/// How far from 100 the weights may sum, for rounding.
const SLACK: f64 = 1e-6;

/// Checks a profile.
///
/// # Errors
/// When the weights are negative or do not sum to 100, or a name is given twice.
pub fn check(profile: &Profile) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    if let Some(twice) = profile.criteria.iter().find(|criterion| !names.insert(&criterion.name)) {
        return Err(Fault::invalid(
            format!("Criterion {:?} is given twice", twice.name),
            "Give each criterion once.",
        ));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = profile.categories.iter().find(|category| !names.insert(&category.name)) {
        return Err(Fault::invalid(
            format!("Category {:?} is given twice", twice.name),
            "Give each category once.",
        ));
    }
    if let Some(wrong) = profile.criteria.iter().find(|criterion| !(0.0..=100.0).contains(&criterion.weight))
    {
        return Err(Fault::invalid(
            format!("Criterion {:?} has the weight {}", wrong.name, wrong.weight),
            "A weight is a percentage from 0 to 100.",
        ));
    }
    let sum: f64 = profile.criteria.iter().map(|criterion| criterion.weight).sum();
    if !profile.criteria.is_empty() && (sum - 100.0).abs() > SLACK {
        return Err(Fault::invalid(
            format!("The weights of the criteria sum to {sum} %"),
            "Make them sum to 100 %.",
        ));
    }
    Ok(())
}

/// The quality of a result, and the criterion scores it was computed from: the mean of the scores, by weight.
///
/// # Errors
/// When a criterion of the profile has no score, or a score belongs to no criterion.
pub fn quality(
    graded: &Graded,
    success: bool,
    profile: &Profile,
) -> Result<(Quality, Vec<CriterionScore>), Fault> {
    match graded {
        Graded::Unrated => Ok((Quality::new(if success { 100.0 } else { 0.0 })?, Vec::new())),
        Graded::Overall(quality) => Ok((*quality, Vec::new())),
        Graded::Criteria(scores) => weigh(scores, profile).map(|quality| (quality, scores.clone())),
    }
}

fn weigh(scores: &[CriterionScore], profile: &Profile) -> Result<Quality, Fault> {
    let known = |name: &str| profile.criteria.iter().any(|criterion| criterion.name == name);
    let listed = || {
        let names: Vec<&str> = profile.criteria.iter().map(|criterion| criterion.name.as_str()).collect();
        if names.is_empty() { "none; set a profile first".to_owned() } else { names.join(", ") }
    };
    if let Some(unknown) = scores.iter().find(|score| !known(&score.criterion)) {
        return Err(Fault::invalid(
            format!("The profile of agent {} has no criterion {:?}", profile.agent, unknown.criterion),
            format!("Its criteria are: {}.", listed()),
        ));
    }
    let mut sum = 0.0;
    for criterion in &profile.criteria {
        let mut given = scores.iter().filter(|score| score.criterion == criterion.name);
        let (Some(score), None) = (given.next(), given.next()) else {
            return Err(Fault::invalid(
                format!("Criterion {:?} needs exactly one score", criterion.name),
                format!("Give one for each of: {}.", listed()),
            ));
        };
        sum += criterion.weight * score.score.get();
    }
    Quality::new((sum / 100.0).clamp(0.0, 100.0))
}

/// Whether the profile lists categories, and lacks this one.
#[must_use]
pub fn lacks(profile: &Profile, category: &str) -> bool {
    !profile.categories.is_empty() && !profile.categories.iter().any(|known| known.name == category)
}

#[cfg(test)]
mod tests {
    use memoryd_proto::Criterion;

    use super::*;

    fn profile(weights: &[(&str, f64)]) -> Profile {
        let criteria =
            weights.iter().map(|&(name, weight)| Criterion { name: name.to_owned(), weight }).collect();
        Profile { agent: "finder".parse().unwrap(), criteria, categories: Vec::new() }
    }

    fn scores(given: &[(&str, f64)]) -> Graded {
        let score = |&(name, score): &(&str, f64)| CriterionScore {
            criterion: name.to_owned(),
            score: Quality::new(score).unwrap(),
        };
        Graded::Criteria(given.iter().map(score).collect())
    }

    #[test]
    fn e3_weights_sum_to_one_hundred() {
        assert!(check(&profile(&[("accuracy", 60.0), ("speed", 40.0)])).is_ok());
        assert!(check(&profile(&[("accuracy", 60.0), ("speed", 41.0)])).is_err());
        assert!(check(&profile(&[("accuracy", 50.0), ("accuracy", 50.0)])).is_err());
        assert!(check(&profile(&[])).is_ok());
    }

    #[test]
    fn e3_quality_is_the_weighted_mean() {
        let profile = profile(&[("accuracy", 60.0), ("speed", 40.0)]);
        let (quality, _) = quality(&scores(&[("speed", 50.0), ("accuracy", 100.0)]), true, &profile).unwrap();
        assert!((quality.get() - 80.0).abs() < 1e-9);
    }

    #[test]
    fn e3_missing_and_unknown_criteria_are_errors() {
        let profile = profile(&[("accuracy", 60.0), ("speed", 40.0)]);
        assert!(quality(&scores(&[("accuracy", 100.0)]), true, &profile).is_err());
        let unknown = scores(&[("accuracy", 1.0), ("speed", 1.0), ("style", 1.0)]);
        assert!(quality(&unknown, true, &profile).is_err());
    }
}
