//! Where processes run.

#[cfg(target_os = "linux")]
pub use linux::OneCore;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::OneCore;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Keeps processes, and this one, on one core as long as it lives.
    ///
    /// A request that takes microseconds costs several times as much when it wakes a core that sleeps, and whether it
    /// does is up to the scheduler. On one core what remains is what the programs themselves do.
    pub struct OneCore(Vec<(Pid, CpuSet)>);

    impl OneCore {
        /// Moves the processes to the first core that this one may run on.
        pub fn hold(pids: &[u32]) -> anyhow::Result<Self> {
            let allowed = sched_getaffinity(None)?;
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core)).unwrap_or(0));
            let mut held = Self(Vec::new());
            for pid in pids.iter().copied().chain([std::process::id()]) {
                for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
                    let number = thread?.file_name().to_string_lossy().parse()?;
                    let Some(thread) = Pid::from_raw(number) else { continue };
                    held.0.push((thread, sched_getaffinity(Some(thread))?));
                    sched_setaffinity(Some(thread), &one)?;
                }
            }
            Ok(held)
        }
    }

    impl Drop for OneCore {
        fn drop(&mut self) {
            for (thread, before) in &self.0 {
                // A thread that has ended needs no core.
                let _ = sched_setaffinity(Some(*thread), before);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// Would keep processes on one core; this system has no way to say so.
    pub struct OneCore(());

    impl OneCore {
        /// Leaves the processes where they are.
        #[allow(clippy::unnecessary_wraps, reason = "as on Linux")]
        pub fn hold(_: &[u32]) -> anyhow::Result<Self> {
            Ok(Self(()))
        }
    }
}
