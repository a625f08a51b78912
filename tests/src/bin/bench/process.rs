//! What the system tells about a process, as Linux shows it in `/proc`.

use std::fs;
use std::io::Read;
use std::time::Duration;

use anyhow::Context;

/// Ticks of the clock by which Linux counts CPU time, in a second.
const TICKS: u32 = 100;

/// Ends this process as soon as its parent is gone, however that came about: the parent holds the other end of the
/// standard input.
pub fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
}

/// Memory that a process holds now, and at most so far, in MB.
pub fn memory(pid: u32) -> anyhow::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let field = |name: &str| -> anyhow::Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
        let kib: u32 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(f64::from(kib) * 1024.0 / 1e6)
    };
    Ok((field("VmRSS:")?, field("VmHWM:")?))
}

/// CPU time that a process used, on all cores together.
pub fn cpu_time(pid: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold spaces; user and system time are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let ticks: u32 =
        fields.split_whitespace().skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(Duration::from_secs(1) * ticks / TICKS)
}
