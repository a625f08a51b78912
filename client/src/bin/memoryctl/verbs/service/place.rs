//! Where everything of the service is: absolute paths, as a service manager has neither this shell's folder nor its
//! variables.

use std::path::{Path, PathBuf};

use memoryd_client::Client;
use memoryd_client::proto::Fault;

/// The variables that say where memory is. A service gets those that are set when it is installed.
const VARIABLES: [&str; 5] =
    ["MEMORYD_DATA_DIR", "MEMORYD_CONFIG", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// The paths of a service.
#[derive(Clone, Debug)]
pub struct Place {
    /// The user's home directory.
    pub home: PathBuf,
    /// The daemon's program.
    pub program: PathBuf,
    /// The socket.
    pub socket: PathBuf,
    /// Where configuration is.
    pub config: PathBuf,
    /// What the daemon must be told about its paths.
    pub environment: Vec<(String, String)>,
}

impl Place {
    /// Those of this environment.
    pub fn here(client: &Client) -> Result<Self, Fault> {
        let home = set("HOME").ok_or_else(|| {
            Fault::invalid("The home directory is unknown", "Set HOME to its absolute path.")
        })?;
        let environment = VARIABLES.iter().filter_map(|name| {
            let value = set(name)?.into_os_string().into_string().ok()?;
            Some(((*name).to_owned(), value))
        });
        let place = Self {
            program: program()?,
            socket: client.path().to_owned(),
            config: set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            environment: environment.collect(),
            home,
        };
        for path in [&place.home, &place.program, &place.socket, &place.config] {
            if path.to_str().is_none_or(|path| path.chars().any(char::is_control)) {
                return Err(Fault::invalid(
                    format!("A service cannot be given the path {}", path.display()),
                    "Its name must be printable text in UTF-8.",
                ));
            }
        }
        Ok(place)
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        set("MEMORYD_DATA_DIR").unwrap_or_else(|| {
            set("XDG_DATA_HOME").unwrap_or_else(|| self.home.join(".local/share")).join("memoryd")
        })
    }

    /// The log of a daemon that no service manager runs.
    pub fn own_log(&self) -> PathBuf {
        let state = set("XDG_STATE_HOME").unwrap_or_else(|| self.home.join(".local/state"));
        state.join("memoryd/memoryd.log")
    }
}

/// The daemon's program, by its absolute path.
fn program() -> Result<PathBuf, Fault> {
    let program = Client::program();
    if program.is_absolute() {
        return Ok(program);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(&program)).find(|file| file.is_file());
    found.filter(|file| file.is_absolute()).ok_or_else(|| {
        Fault::not_found(
            format!("The daemon's program `{}` is nowhere to be found", program.display()),
            "Install memoryd beside memoryctl, or in a directory of PATH.",
        )
    })
}

/// A variable that holds an absolute path.
fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| Path::is_absolute(path))
}
