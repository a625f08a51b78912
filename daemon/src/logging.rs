//! The daemon's log, to standard error. A service manager keeps it; no document text is in it at the default level.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Starts logging at a level, or by a filter such as `memoryd=debug`.
///
/// # Errors
/// When the filter cannot be read.
pub fn start(level: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(level)
        .map_err(|error| anyhow::anyhow!("log.level {level:?} is neither a level nor a filter: {error}"))?;
    let coloured =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(coloured).init();
    Ok(())
}
