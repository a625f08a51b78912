//! A bounded number of places to compute in.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use rten::ThreadPool;

/// The priority of a thread whose result nobody waits for: whatever else the
/// machine has to do gets almost all of the core.
#[cfg(target_os = "linux")]
const LOWEST: i32 = 19;

/// Where a caller stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Somebody waits for the result.
    Ahead,
    /// Nobody does.
    Behind,
}

/// A fixed set of single-threaded lanes, and as many for callers that stand
/// behind.
///
/// Each lane computes one thing at a time. Callers wait for a free lane in the
/// order in which they came, so that a long import cannot starve a question.
/// Those behind begin only while nobody is ahead, and what they have begun
/// yields the core to everybody.
pub(super) struct Lanes {
    queue: Mutex<Queue>,
    moved: Condvar,
    count: NonZeroUsize,
}

struct Queue {
    free: Vec<Arc<ThreadPool>>,
    free_behind: Vec<Arc<ThreadPool>>,
    /// The ticket of the next caller to come.
    next: u64,
    /// The ticket of the next caller to be served.
    turn: u64,
    /// Callers ahead that wait or compute.
    ahead: usize,
}

impl Queue {
    /// The lane of whoever has this ticket, if it is their turn.
    fn take(&mut self, ticket: u64) -> Option<Arc<ThreadPool>> {
        let pool = if self.turn == ticket { self.free.pop()? } else { return None };
        self.turn += 1;
        Some(pool)
    }

    /// A lane behind, if nobody is ahead.
    fn take_behind(&mut self) -> Option<Arc<ThreadPool>> {
        if self.ahead == 0 { self.free_behind.pop() } else { None }
    }
}

impl Lanes {
    /// Opens `count` lanes of each kind.
    pub(super) fn new(count: NonZeroUsize) -> Self {
        let open = |place| (0..count.get()).map(|_| Arc::new(lane(place))).collect();
        let (free, free_behind) = (open(Place::Ahead), open(Place::Behind));
        let queue = Queue { free, free_behind, next: 0, turn: 0, ahead: 0 };
        Self { queue: Mutex::new(queue), moved: Condvar::new(), count }
    }

    /// How many lanes there are of each kind.
    pub(super) fn count(&self) -> NonZeroUsize {
        self.count
    }

    /// Waits for a lane. It is free again when the returned value is dropped.
    pub(super) fn enter(&self, place: Place) -> Lane<'_> {
        let mut queue = self.queue();
        let ticket = queue.next;
        if place == Place::Ahead {
            queue.next += 1;
            queue.ahead += 1;
        }
        loop {
            let pool = match place {
                Place::Ahead => queue.take(ticket),
                Place::Behind => queue.take_behind(),
            };
            if let Some(pool) = pool {
                // The next in line may find another lane free already.
                self.moved.notify_all();
                return Lane { lanes: self, pool, place };
            }
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread to compute on.
fn lane(place: Place) -> ThreadPool {
    let pool = ThreadPool::with_num_threads(1);
    if place == Place::Behind {
        pool.run(stand_back);
    }
    pool
}

/// Lets everybody go before this thread. On Linux this is about the thread,
/// elsewhere about the whole process, which must not stand back.
fn stand_back() {
    // It is no harm where it is refused.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, LOWEST);
}

/// The right to compute in one lane.
pub(super) struct Lane<'a> {
    lanes: &'a Lanes,
    pool: Arc<ThreadPool>,
    place: Place,
}

impl Lane<'_> {
    /// The thread to compute on.
    pub(super) fn pool(&self) -> Arc<ThreadPool> {
        Arc::clone(&self.pool)
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        let mut queue = self.lanes.queue();
        match self.place {
            Place::Ahead => {
                queue.free.push(self.pool());
                queue.ahead -= 1;
            }
            Place::Behind => queue.free_behind.push(self.pool()),
        }
        drop(queue);
        self.lanes.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_begins_behind_while_somebody_is_ahead() {
        let lanes = Lanes::new(NonZeroUsize::MIN);
        let ahead = lanes.enter(Place::Ahead);
        assert!(lanes.queue().take_behind().is_none());
        drop(ahead);
        assert!(lanes.queue().take_behind().is_some());
    }

    #[test]
    fn who_is_ahead_does_not_wait_for_what_was_begun_behind() {
        let lanes = Lanes::new(NonZeroUsize::MIN);
        let _behind = lanes.enter(Place::Behind);
        drop(lanes.enter(Place::Ahead));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_the_lanes_behind_yield_the_core() {
        let lanes = Lanes::new(NonZeroUsize::MIN);
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let own = priority();
        assert_eq!(lanes.enter(Place::Behind).pool().run(priority), LOWEST);
        assert_eq!(lanes.enter(Place::Ahead).pool().run(priority), own);
    }
}
