//! What is done to files and by commands, one step after the other: shown as it is, or taken.

use std::fmt::{self, Display};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use memoryd_client::proto::{Code, Fault};
use serde::Serialize;

/// One step. Each may be taken again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A folder is there.
    Folder(PathBuf),
    /// A file has this text.
    Write { path: PathBuf, text: String },
    /// A file is gone.
    Remove(PathBuf),
    /// A command ends well.
    Run(Vec<String>),
}

/// The step that runs a command line of plain words.
pub fn run(line: &str) -> Step {
    Step::Run(line.split(' ').map(str::to_owned).collect())
}

impl Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "mkdir -p {}", path.display()),
            Self::Write { path, text } => write!(f, "write {}:\n\n{}\n", path.display(), text.trim_end()),
            Self::Remove(path) => write!(f, "rm -f {}", path.display()),
            Self::Run(words) => f.write_str(&words.join(" ")),
        }
    }
}

impl Step {
    /// Takes it.
    pub fn take(&self) -> Result<(), Fault> {
        match self {
            Self::Folder(path) => fs::create_dir_all(path).map_err(|error| unusable(path, &error)),
            Self::Write { path, text } => write(path, text).map_err(|error| unusable(path, &error)),
            Self::Remove(path) => match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(unusable(path, &error)),
                Ok(()) | Err(_) => Ok(()),
            },
            Self::Run(words) => {
                let output = output(words)?;
                if output.status.success() { Ok(()) } else { Err(failed(words, &output)) }
            }
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Whether a file has this text already.
pub fn is_written(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found == text)
}

/// What a command says.
pub fn output(words: &[String]) -> Result<Output, Fault> {
    let (program, arguments) =
        words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    Command::new(program).args(arguments).output().map_err(|error| {
        Fault::unavailable(
            format!("`{}` cannot be run: {error}", words.join(" ")),
            "Without a service manager, `memoryctl start` runs the daemon.",
        )
    })
}

fn failed(words: &[String], output: &Output) -> Fault {
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let said = if said.is_empty() { output.status.to_string() } else { said };
    Fault::new(
        Code::Internal,
        format!("`{}` failed: {}", words.join(" "), said.trim_end_matches('.')),
        "See `memoryctl service status` and `memoryctl service logs`.",
    )
}

fn unusable(path: &Path, error: &io::Error) -> Fault {
    Fault::new(
        Code::Internal,
        format!("{} cannot be used: {error}", path.display()),
        "Check its permissions, then try again: what was done already is not done twice.",
    )
}
