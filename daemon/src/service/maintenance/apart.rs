//! The work of a job, on a thread of its own: a panic in it is a failed run, and planning gives way to requests.

use std::any::Any;

use memoryd_proto::{Code, Fault};

use crate::error::Error;

/// How far planning stands back: requests stand at 0, and get three times as much of a core. Not further, because a
/// search holds a lock that a commit waits for.
#[cfg(target_os = "linux")]
const BEHIND: i32 = 5;

/// Does work on a thread of its own.
pub fn run<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// Does work that writes nothing, on a thread of its own that gives way to requests.
pub fn run_behind<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    run(|| {
        // On Linux this is about the thread, elsewhere about the whole process, which must not stand back. It is no harm
        // where it is refused.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, BEHIND);
        work()
    })
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<&str>().copied();
    let said =
        said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given");
    Error::from(Fault::new(
        Code::Internal,
        format!("The job has a defect: {said}"),
        "Please report this, with the daemon's log.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_fault() {
        let fault = Fault::from(run::<()>(|| panic!("at the disco")).unwrap_err());
        assert_eq!(fault.code, Code::Internal);
        assert!(fault.message.ends_with("at the disco"), "{fault}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn s4_only_the_thread_stands_back() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let behind = run_behind(|| Ok(priority())).unwrap();
        assert_eq!(behind, BEHIND.max(before));
        assert_eq!(priority(), before);
        assert_eq!(run(|| Ok(priority())).unwrap(), before);
    }
}
