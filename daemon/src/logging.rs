//! The daemon's log: to the journal when systemd collects standard error there, else to standard error. No document
//! text is in it at the default level.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging at a level, or by a filter such as `memoryd=debug`.
///
/// # Errors
/// When the filter cannot be read.
pub fn start(level: &str) -> anyhow::Result<()> {
    // The ticker says at every start that it has started.
    let filter = EnvFilter::try_new(format!("tokio_cron_scheduler=warn,{level}"))
        .map_err(|error| anyhow::anyhow!("log.level {level:?} is neither a level nor a filter: {error}"))?;
    let log = tracing_subscriber::registry().with(filter);
    let journal = std::env::var_os("JOURNAL_STREAM").and_then(|_| tracing_journald::layer().ok());
    if let Some(journal) = journal {
        log.with(journal).init();
    } else {
        let terminal = std::io::stderr().is_terminal();
        let coloured = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        log.with(tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(coloured)).init();
    }
    Ok(())
}
