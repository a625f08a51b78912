//! `memoryctl completions`

use clap::Args;
use clap_complete::Shell;

use crate::exit::Outcome;
use crate::output::Output;

#[derive(Args, Debug)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

pub fn run(arguments: &Arguments, mut command: clap::Command, out: &mut Output) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "memoryctl", &mut script);
    out.raw().write_all(&script)?;
    Ok(())
}
