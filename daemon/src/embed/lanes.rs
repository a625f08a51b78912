//! A bounded number of places to compute in.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use rten::ThreadPool;

/// A fixed set of single-threaded lanes.
///
/// Each lane computes one thing at a time. Callers wait for a free lane in the
/// order in which they came, so that a long import cannot starve a question.
pub(super) struct Lanes {
    queue: Mutex<Queue>,
    moved: Condvar,
    count: NonZeroUsize,
}

struct Queue {
    free: Vec<Arc<ThreadPool>>,
    /// The ticket of the next caller to come.
    next: u64,
    /// The ticket of the next caller to be served.
    turn: u64,
}

impl Lanes {
    /// Opens `count` lanes.
    pub(super) fn new(count: NonZeroUsize) -> Self {
        let free = (0..count.get()).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect();
        Self { queue: Mutex::new(Queue { free, next: 0, turn: 0 }), moved: Condvar::new(), count }
    }

    /// How many lanes there are.
    pub(super) fn count(&self) -> NonZeroUsize {
        self.count
    }

    /// Waits for a lane. It is free again when the returned value is dropped.
    pub(super) fn enter(&self) -> Lane<'_> {
        let mut queue = self.queue();
        let ticket = queue.next;
        queue.next += 1;
        loop {
            if queue.turn == ticket
                && let Some(pool) = queue.free.pop()
            {
                queue.turn += 1;
                // The next in line may find another lane free already.
                self.moved.notify_all();
                return Lane { lanes: self, pool };
            }
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to compute in one lane.
pub(super) struct Lane<'a> {
    lanes: &'a Lanes,
    pool: Arc<ThreadPool>,
}

impl Lane<'_> {
    /// The thread to compute on.
    pub(super) fn pool(&self) -> Arc<ThreadPool> {
        Arc::clone(&self.pool)
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        self.lanes.queue().free.push(self.pool());
        self.lanes.moved.notify_all();
    }
}
