//! Which scope a category belongs to (spec I9).

use std::collections::BTreeMap;

use memoryd_proto::{Fault, ProjectHash, Scope, ScopeChoice};

/// The scopes to store an improvement in, the global one first.
///
/// `table` maps categories to scopes; a category that it lacks goes to both. Without a project, "both" means global.
///
/// # Errors
/// When the project scope is asked for and there is no project.
pub fn scopes(
    category: &str,
    choice: Option<ScopeChoice>,
    project: Option<&ProjectHash>,
    table: &BTreeMap<String, ScopeChoice>,
) -> Result<Vec<Scope>, Fault> {
    let by_table = table.get(category).copied().unwrap_or(ScopeChoice::Both);
    match (choice.unwrap_or(by_table), project) {
        (ScopeChoice::Global, _) | (ScopeChoice::Both, None) => Ok(vec![Scope::Global]),
        (ScopeChoice::Project, Some(hash)) => Ok(vec![Scope::Project(hash.clone())]),
        (ScopeChoice::Both, Some(hash)) => Ok(vec![Scope::Global, Scope::Project(hash.clone())]),
        (ScopeChoice::Project, None) => Err(Fault::invalid(
            format!("Improvements of category {category:?} belong to a project, and none is given"),
            "Give the project's folder, or choose the global scope.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i9_table_choice_and_default() {
        let table = BTreeMap::from([
            ("code_quality".to_owned(), ScopeChoice::Global),
            ("api_usage".to_owned(), ScopeChoice::Project),
        ]);
        let hash: ProjectHash = "0123456789ab".parse().unwrap();
        let project = Scope::Project(hash.clone());
        let decide = |category, choice, project| scopes(category, choice, project, &table).unwrap();
        assert_eq!(decide("code_quality", None, Some(&hash)), [Scope::Global]);
        assert_eq!(decide("api_usage", None, Some(&hash)), std::slice::from_ref(&project));
        assert_eq!(decide("other", None, Some(&hash)), [Scope::Global, project.clone()]);
        assert_eq!(decide("other", None, None), [Scope::Global]);
        assert_eq!(decide("code_quality", Some(ScopeChoice::Project), Some(&hash)), [project]);
        assert!(scopes("api_usage", None, None, &table).is_err());
    }
}
