//! Where the socket is. Client and daemon decide it by the same rule (spec C1).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// The longest socket path that every supported system takes, in bytes.
pub const LONGEST: usize = 103;

/// The socket's path: `MEMORYD_SOCKET`, else `memoryd/memoryd.sock` under `XDG_RUNTIME_DIR`, else
/// `/tmp/memoryd-UID/memoryd.sock`, which also stands in for a runtime directory whose path is too long.
///
/// `env` looks up an environment variable, `uid` is the user's number.
///
/// # Errors
/// When `MEMORYD_SOCKET` is too long for a socket, or no absolute path.
pub fn path(env: impl Fn(&str) -> Option<OsString>, uid: u32) -> Result<PathBuf, Fault> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let fits = |path: &Path| path.as_os_str().len() <= LONGEST;
    if let Some(path) = set("MEMORYD_SOCKET") {
        if !path.is_absolute() {
            return Err(Fault::invalid(
                format!("MEMORYD_SOCKET is no absolute path: {}", path.display()),
                "Set it to a path that starts with a slash.",
            ));
        }
        if !fits(&path) {
            return Err(Fault::invalid(
                format!(
                    "MEMORYD_SOCKET is longer than the {LONGEST} bytes a socket's path may have: {}",
                    path.display()
                ),
                "Set it to a shorter path, for example one under /tmp.",
            ));
        }
        return Ok(path);
    }
    let runtime =
        set("XDG_RUNTIME_DIR").filter(|dir| dir.is_absolute()).map(|dir| dir.join("memoryd/memoryd.sock"));
    Ok(runtime
        .filter(|path| fits(path))
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/memoryd-{uid}/memoryd.sock"))))
}
