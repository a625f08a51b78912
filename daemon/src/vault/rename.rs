//! Renaming without losing what somebody else puts in the same place meanwhile.

use std::fs;
use std::io;
use std::path::Path;

/// Exchanges two files in one step. Returns whether that was done: some file systems cannot.
///
/// # Errors
/// When one of them is not there, or the folder cannot be changed.
pub fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    supported(rename_with(one, other, Way::Exchange))
}

/// Gives a file a name that nobody has. Returns whether it was free.
///
/// # Errors
/// When the folder cannot be changed.
pub fn claim(file: &Path, name: &Path) -> io::Result<bool> {
    let claimed = match supported(rename_with(file, name, Way::Claim)) {
        Ok(true) => return Ok(true),
        // A link is made only where there is nothing yet.
        Ok(false) => fs::hard_link(file, name).and_then(|()| fs::remove_file(file)),
        Err(error) => Err(error),
    };
    match claimed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[derive(Clone, Copy)]
enum Way {
    Exchange,
    Claim,
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_with(one: &Path, other: &Path, way: Way) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let flags = match way {
        Way::Exchange => RenameFlags::EXCHANGE,
        Way::Claim => RenameFlags::NOREPLACE,
    };
    Ok(renameat_with(CWD, one, CWD, other, flags)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_with(_: &Path, _: &Path, _: Way) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn supported(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
