//! `memoryctl man`

use std::path::PathBuf;

use clap::Args;
use memoryd_client::proto::{Code, Fault};

use crate::exit::Outcome;

#[derive(Args, Debug)]
pub struct Arguments {
    /// The directory to write to
    dir: PathBuf,
}

pub fn run(arguments: &Arguments, command: clap::Command) -> Outcome {
    let dir = &arguments.dir;
    std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir)).map_err(|error| {
        Fault::new(
            Code::Internal,
            format!("The man pages cannot be written to {}: {error}", dir.display()),
            "Check the path and its permissions.",
        )
    })?;
    Ok(())
}
