//! Opening a page in the browser.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memoryd_client::proto::{Fault, Week};

/// What opens a file, whichever is there.
pub const PROGRAMS: &[&str] = &["xdg-open", "open"];

/// A file for the review of a week, in a folder of the user's own: memory is private.
pub fn place(week: Week) -> Result<PathBuf, Fault> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let advice = "Name a file yourself: --html FILE.";
    let cache = cache.or_else(home).ok_or_else(|| Fault::not_found("There is no home directory", advice))?;
    let folder = cache.join("memoryd");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|error| Fault::invalid(format!("{} cannot be made: {error}", folder.display()), advice))?;
    Ok(folder.join(format!("review-{week}.html")))
}

/// Opens a file with the first program there is. Whether there is one.
pub fn show(programs: &[&str], file: &Path) -> bool {
    programs.iter().any(|program| {
        let mut command = Command::new(program);
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_there_is_opens_the_file() {
        assert!(show(&["/no/such/program", "true"], Path::new("review.html")));
        assert!(!show(&["/no/such/program"], Path::new("review.html")));
    }
}
