//! What happens, for those who watch (spec C4): the last events, in a ring, and a bell for those who wait.
//!
//! A [`Bell`] is for one who is always there: it calls.
//!
//! Whoever watches holds a number, and nothing is kept for it: one that is slow misses events, and is told how many.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, Utc};
use memoryd_proto::{Event, Happening, Watched};
use parking_lot::{Condvar, Mutex};

/// How many events are kept.
const KEPT: usize = 1024;

/// The last events.
#[derive(Debug)]
pub struct Events {
    /// Since when there are any.
    since: DateTime<Utc>,
    ring: Mutex<Ring>,
    woken: Condvar,
    /// Rung after each event.
    pub bell: Bell,
}

/// Is rung for whoever said that they hear it.
#[derive(Default)]
pub struct Bell(Mutex<Option<Box<dyn Fn() + Send>>>);

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bell")
    }
}

impl Bell {
    /// From now on `hear` is called when it is rung.
    pub fn connect(&self, hear: impl Fn() + Send + 'static) {
        *self.0.lock() = Some(Box::new(hear));
    }

    /// Rings it.
    pub fn ring(&self) {
        if let Some(hear) = &*self.0.lock() {
            hear();
        }
    }
}

#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Event>,
    /// The number of the newest event.
    newest: u64,
    closed: bool,
}

impl Events {
    /// No events yet.
    #[must_use]
    pub fn new(since: DateTime<Utc>) -> Self {
        Self { since, ring: Mutex::default(), woken: Condvar::new(), bell: Bell::default() }
    }

    /// Tells everyone who watches.
    pub fn publish(&self, at: DateTime<Utc>, what: Happening) {
        let mut ring = self.ring.lock();
        ring.newest += 1;
        let number = ring.newest;
        if ring.events.len() == KEPT {
            ring.events.pop_front();
        }
        ring.events.push_back(Event { number, at, what });
        self.woken.notify_all();
        drop(ring);
        self.bell.ring();
    }

    /// The events after the one of a number, or those from now on. Waits for the first of them, but no longer than
    /// `wait`.
    #[must_use]
    pub fn after(&self, number: Option<u64>, wait: Duration) -> Watched {
        let mut ring = self.ring.lock();
        // A number that was not reached is from before the daemon started.
        let after = number.map_or(ring.newest, |number| if number > ring.newest { 0 } else { number });
        self.woken.wait_while_for(&mut ring, |ring| ring.newest == after && !ring.closed, wait);
        let events: Vec<Event> = ring.events.iter().filter(|event| event.number > after).cloned().collect();
        let since = self.since;
        Watched { since, missed: ring.newest - after - events.len() as u64, next: ring.newest, events }
    }

    /// Lets nobody wait any longer: the daemon stops.
    pub fn close(&self) {
        self.ring.lock().closed = true;
        self.woken.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use memoryd_proto::JobName;

    use super::*;

    fn publish(events: &Events, count: usize) {
        for _ in 0..count {
            events.publish(DateTime::UNIX_EPOCH, Happening::JobStarted { job: JobName::Metrics });
        }
    }

    #[test]
    fn c4_a_number_says_where_to_go_on() {
        let events = Events::new(DateTime::UNIX_EPOCH);
        publish(&events, 2);
        let now = events.after(None, Duration::ZERO);
        assert_eq!((now.events.len(), now.next, now.missed), (0, 2, 0));
        publish(&events, 3);
        let later = events.after(Some(now.next), Duration::ZERO);
        let numbers: Vec<u64> = later.events.iter().map(|event| event.number).collect();
        assert_eq!((numbers, later.next, later.missed), (vec![3, 4, 5], 5, 0));
        assert_eq!(events.after(Some(7000), Duration::ZERO).events.len(), 5, "from before the start");
    }

    #[test]
    fn c4_what_fell_out_is_counted() {
        let events = Events::new(DateTime::UNIX_EPOCH);
        publish(&events, KEPT + 10);
        let all = events.after(Some(4), Duration::ZERO);
        assert_eq!((all.events.len(), all.missed, all.next), (KEPT, 6, 1034));
    }

    #[test]
    fn c4_whoever_waits_is_woken_by_an_event_and_by_the_end() {
        let events = Events::new(DateTime::UNIX_EPOCH);
        let hour = Duration::from_hours(1);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| events.after(Some(0), hour));
            publish(&events, 1);
            assert_eq!(watcher.join().unwrap().events.len(), 1);
            let watcher = scope.spawn(|| events.after(Some(1), hour));
            events.close();
            assert_eq!(watcher.join().unwrap().events, []);
        });
    }
}
