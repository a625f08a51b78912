//! Arguments that several verbs share, and how their values are read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Days, Local, NaiveDate, NaiveTime, TimeDelta, Utc};
use clap::Args;
use memoryd_client::proto::{AgentName, Confidence, Fault, ImprovementId, Project, Quality};

/// Whose memory.
#[derive(Args, Debug)]
pub struct Agent {
    /// The agent
    #[arg(long, env = "MEMORYD_AGENT", value_name = "NAME")]
    pub agent: AgentName,
}

/// Whose memory, if one agent's.
#[derive(Args, Debug)]
pub struct SomeAgent {
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<AgentName>,
}

/// One improvement.
#[derive(Args, Debug)]
pub struct One {
    /// The improvement
    pub id: ImprovementId,
    /// Whose; needed only where two agents use the same id
    #[arg(long, value_name = "NAME")]
    pub agent: Option<AgentName>,
}

/// The project an agent works in.
#[derive(Args, Debug, Default)]
pub struct Workplace {
    /// A folder in the project, or the project's hash [default: the current directory]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// In no project
    #[arg(long, conflicts_with = "project")]
    no_project: bool,
}

impl Workplace {
    /// Whether nothing was said about it.
    pub fn is_default(&self) -> bool {
        self.project.is_none() && !self.no_project
    }

    /// The project, unless there is none.
    pub fn project(&self) -> Result<Option<Project>, Fault> {
        if self.no_project {
            return Ok(None);
        }
        project(self.project.as_deref().unwrap_or(Path::new("."))).map(Some)
    }
}

impl Workplace {
    /// A folder in the project, unless there is none.
    pub fn folder(&self) -> Result<Option<PathBuf>, Fault> {
        match self.project()? {
            Some(Project::Folder(folder)) => Ok(Some(folder)),
            Some(Project::Hash(hash)) => Err(Fault::invalid(
                format!("{hash} is no folder"),
                "Its notes are kept in the project's folder: give that.",
            )),
            None => Ok(None),
        }
    }
}

/// The project that a folder lies in, or that a hash names.
pub fn project(given: &Path) -> Result<Project, Fault> {
    if let Some(Ok(hash)) = given.to_str().map(str::parse)
        && !given.exists()
    {
        return Ok(Project::Hash(hash));
    }
    given.canonicalize().map(Project::Folder).map_err(|error| {
        Fault::not_found(
            format!("The project's folder {} cannot be used: {error}", given.display()),
            "Name an existing folder, or pass --no-project.",
        )
    })
}

/// How many of a list, and which.
#[derive(Args, Debug)]
pub struct Paging {
    /// How many to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 50)]
    pub limit: u64,
    /// How many to skip
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub offset: u64,
}

/// Reads a confidence.
pub fn confidence(text: &str) -> Result<Confidence, Fault> {
    Confidence::new(number(text)?)
}

/// Reads a quality.
pub fn quality(text: &str) -> Result<Quality, Fault> {
    Quality::new(number(text)?)
}

/// Reads `name=value`.
pub fn pair(text: &str) -> Result<(String, String), Fault> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Fault::invalid(format!("{text:?} is no pair"), "Write it as name=value.")),
    }
}

/// Reads `name=number`.
pub fn weight(text: &str) -> Result<(String, f64), Fault> {
    let (name, value) = pair(text)?;
    Ok((name, number(&value)?))
}

/// Reads seconds.
pub fn seconds(text: &str) -> Result<Duration, Fault> {
    Duration::try_from_secs_f64(number(text)?).map_err(|_| {
        Fault::invalid(format!("{text:?} is no time"), "Give a number of seconds, such as 30 or 0.5.")
    })
}

/// Reads an instant: an age such as `7d` or `12h`, a local date, or an RFC 3339 time.
pub fn instant(text: &str) -> Result<DateTime<Utc>, Fault> {
    before(text, Utc::now()).ok_or_else(|| {
        Fault::invalid(
            format!("{text:?} is no time"),
            "Give an age such as 7d or 12h, a date such as 2026-01-26, or a time such as 2026-01-26T14:00:00Z.",
        )
    })
}

fn before(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc());
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        let midnight = date.and_time(NaiveTime::MIN).and_local_timezone(Local).earliest()?;
        return Some(midnight.to_utc());
    }
    let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count: u32 = count.parse().ok()?;
    match unit {
        "d" => now.checked_sub_days(Days::new(count.into())),
        "h" => now.checked_sub_signed(TimeDelta::hours(count.into())),
        "m" => now.checked_sub_signed(TimeDelta::minutes(count.into())),
        _ => None,
    }
}

fn number(text: &str) -> Result<f64, Fault> {
    text.trim()
        .parse()
        .map_err(|_| Fault::invalid(format!("{text:?} is no number"), "Write it like 0.8 or 85."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_in_three_forms() {
        let now: DateTime<Utc> = "2026-01-26T14:00:00Z".parse().unwrap();
        assert_eq!(before("2d", now), Some("2026-01-24T14:00:00Z".parse().unwrap()));
        assert_eq!(before("3h", now), Some("2026-01-26T11:00:00Z".parse().unwrap()));
        assert_eq!(before("2026-01-02T03:04:05+01:00", now), Some("2026-01-02T02:04:05Z".parse().unwrap()));
        assert!(before("2026-01-02", now).is_some());
        for wrong in ["", "d", "7", "7 days", "-1d", "99999999999d", "é"] {
            assert_eq!(before(wrong, now), None, "{wrong}");
        }
    }

    #[test]
    fn pairs_need_a_name() {
        assert_eq!(pair("a = b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(pair("=b").is_err());
        assert!(pair("b").is_err());
    }

    #[test]
    fn a_project_is_a_folder_or_a_hash() {
        let hash = "0123456789ab";
        assert_eq!(project(Path::new(hash)), Ok(Project::Hash(hash.parse().unwrap())));
        assert!(matches!(project(Path::new(".")), Ok(Project::Folder(folder)) if folder.is_absolute()));
        assert!(project(Path::new("/no/such/folder")).is_err());
    }

    #[test]
    fn durations_are_positive() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(seconds("-1").is_err());
        assert!(seconds("nan").is_err());
    }
}
