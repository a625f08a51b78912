//! A year in a minute: twenty agents live and work in four time zones, the clock is turned, machines sleep, daemons are
//! killed between jobs and in the midst of them. After every day it must hold that no job was skipped or ran twice, that
//! memory is sound and bounded, that what left it is in an archive, and that what a job did can be undone to the byte.

#![allow(clippy::print_stderr, reason = "a year tells what happened in it")]

mod almanac;
mod clockwork;
mod life;
mod soundness;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;
use memoryd_client::Client;
use memoryd_proto::{Export, InitNotes, JobName, Journal, OperationId, Record, Schedule, Status, Undo};
use memoryd_tests::Home;

use almanac::Almanac;
use clockwork::Clockwork;
use life::{Dice, Life};
use soundness::Books;
use tree::Tree;

/// Days of the test: a year, and the day on which the last of it is checked.
const DAYS: u64 = 365;

#[test]
fn a_year_in_dublin() {
    Year::new("Europe/Dublin", 1).live();
}

#[test]
fn a_year_in_new_york() {
    Year::new("America/New_York", 2).live();
}

#[test]
fn a_year_in_auckland() {
    Year::new("Pacific/Auckland", 3).live();
}

#[test]
fn a_year_in_kolkata() {
    Year::new("Asia/Kolkata", 4).live();
}

/// What happened in a year.
#[derive(Debug, Default)]
struct Counts {
    ticks: u32,
    runs: u32,
    operations: BTreeMap<JobName, u32>,
    undone: u32,
    kills: u32,
    kills_in_jobs: u32,
    asleep: u64,
    archived: usize,
}

struct Year {
    zone: Tz,
    home: Home,
    clockwork: Option<Clockwork>,
    life: Life,
    almanac: Almanac,
    books: Books,
    /// The memory tree, when the agents keep one: with `MEMORYD_YEAR=tree`.
    tree: Option<Tree>,
    dice: Dice,
    now: DateTime<Utc>,
    counts: Counts,
    /// The size of the database at the end of each quarter.
    sizes: Vec<u64>,
}

impl Year {
    fn new(zone: &str, seed: u64) -> Self {
        let tz: Tz = zone.parse().unwrap();
        let home = Home::new();
        // What fails is used until it is deprecated, and leaves in the end.
        home.configure(&format!("maintenance.zone = {zone:?}\nrecall.success_rate = 0.0\n"));
        let now = tz.with_ymd_and_hms(2025, 1, 6, 9, 0, 0).unwrap().to_utc();
        let clockwork = Some(Clockwork::start(&home, now));
        let mut year = Self {
            zone: tz,
            clockwork,
            home,
            life: Life::new(seed),
            almanac: Almanac::new(tz, now),
            books: Books::default(),
            tree: std::env::var("MEMORYD_YEAR").is_ok_and(|kind| kind == "tree").then(Tree::default),
            dice: Dice::new(seed),
            now,
            counts: Counts::default(),
            sizes: Vec::new(),
        };
        if year.tree.is_some() {
            let project = Some(year.home.folder("work/app"));
            year.clockwork().client().call(InitNotes { project }).unwrap();
        }
        // From here on the schedule counts.
        assert!(year.clockwork().tend().is_empty(), "nothing runs on a fresh install");
        year
    }

    fn clockwork(&mut self) -> &mut Clockwork {
        self.clockwork.as_mut().unwrap()
    }

    fn live(mut self) {
        let began = std::time::Instant::now();
        let first = self.now.with_timezone(&self.zone).date_naive();
        let mut day = 0;
        while day < DAYS {
            day += 1;
            self.night(first + Days::new(day));
            self.day(first + Days::new(day));
            if day / 91 > self.sizes.len() as u64 {
                let size = self.clockwork().client().call(Status {}).unwrap().database_bytes;
                self.sizes.push(size);
            }
            if self.dice.below(30) == 0 {
                let longest = if self.dice.below(4) == 0 { 40 } else { 4 };
                let asleep = 1 + self.dice.below(longest);
                self.counts.asleep += asleep;
                day += asleep;
            }
        }
        let Self { zone, counts, sizes, life, .. } = &self;
        eprintln!(
            "{zone}: {counts:?}, {} tasks, database {sizes:?} bytes, {:?}",
            life.tasks,
            began.elapsed()
        );
        assert!(sizes[3] < 2 * sizes[1], "memory grows without bound: {sizes:?}");
        // Nobody says which notes were used.
        let mut idle = vec![JobName::Decay, JobName::PromoteNotes];
        if self.tree.is_none() {
            idle.extend([JobName::DemoteNotes, JobName::ExpireNotes]);
            idle.extend([JobName::CompactNotes, JobName::IndexNotes]);
        }
        for job in JobName::ALL.into_iter().filter(|job| !idle.contains(job)) {
            assert!(counts.operations.contains_key(&job), "{job} never had anything to do");
        }
        assert!(counts.archived > 0 && counts.runs > 1000 && counts.kills_in_jobs > 0, "{counts:?}");
    }

    /// The hours in which the jobs run.
    fn night(&mut self, date: NaiveDate) {
        let careful = self.dice.below(6) == 0;
        for time in [(3, 5), (3, 22), (3, 50), (4, 15), (4, 45)] {
            self.turn(date, NaiveTime::from_hms_opt(time.0, time.1, 0).unwrap());
            if self.dice.below(80) == 0 {
                self.kill();
            }
            let before = careful.then(|| (records(self.clockwork().client()), tree::snapshot(&self.home)));
            let last = self.newest();
            if self.dice.below(60) == 0 {
                self.kill_in_a_job();
            }
            self.tend();
            if let Some(before) = before {
                self.undo_and_redo(last, &before);
            }
        }
        if let Some(tree) = &mut self.tree {
            tree.check(&self.home, &self.life.preferences, date);
        }
    }

    /// The hours in which the agents work.
    fn day(&mut self, date: NaiveDate) {
        for hour in [9, 13, 17] {
            self.turn(date, NaiveTime::from_hms_opt(hour, 0, 0).unwrap());
            self.tend();
            let client = self.clockwork.as_ref().unwrap().client();
            self.life.work(client, self.now);
            if self.tree.is_some() {
                self.life.note(client, &self.home.path().join("work/app"));
            }
        }
        if date.day() == 10 {
            self.life.bring(self.clockwork.as_ref().unwrap().client(), self.now);
            if self.tree.is_some() && date.month().is_multiple_of(3) {
                tree::paste(&self.home.tree().join("memory.md"), &self.life.lines(100, date));
                tree::paste(&self.home.tree().join("projects/app.md"), &self.life.lines(220, date));
            }
        }
        let records = records(self.clockwork().client());
        self.counts.archived = self.books.check(&records, &self.home.data_dir().join("archive"));
    }

    fn turn(&mut self, date: NaiveDate, time: NaiveTime) {
        let local = self.zone.from_local_datetime(&date.and_time(time)).earliest();
        let to = local.map_or(self.now, |local| local.to_utc());
        self.now = to.max(self.now);
        let now = self.now;
        self.clockwork().turn(now);
    }

    /// Lets the daemon run what is due, and checks that it ran just that.
    fn tend(&mut self) {
        self.counts.ticks += 1;
        let reports = self.clockwork().tend();
        for report in &reports {
            self.counts.runs += 1;
            if report.operation.is_some() {
                *self.counts.operations.entry(report.job).or_default() += 1;
            }
            assert_eq!(report.left_out, 0, "{report:?}");
        }
        let due = self.almanac.due(self.now);
        let schedule = self.clockwork().client().call(Schedule {}).unwrap();
        for job in schedule.jobs {
            let ran = job.last.as_ref().map(|last| last.started_at);
            if due.contains(&job.job) {
                assert_eq!(ran, Some(self.now), "{} did not run when it was due", job.job);
            } else {
                assert_ne!(ran, Some(self.now), "{} ran when it was not due", job.job);
            }
            assert_eq!(job.failures, 0, "{:?}", job.last);
            assert_eq!(job.next, Some(self.almanac.next(job.job, self.now)), "{}", job.job);
        }
        self.once_each();
    }

    /// No job has two operations of this moment.
    fn once_each(&mut self) {
        let now = self.now;
        let page = self.clockwork().client().call(Journal { limit: 24, ..Journal::default() }).unwrap();
        for job in JobName::ALL {
            let actor = format!("job {job}");
            let of_now = page.operations.iter().filter(|one| one.at == now && one.actor == actor);
            assert!(of_now.count() <= 1, "{actor} has two operations at {now}");
        }
    }

    fn newest(&mut self) -> Option<OperationId> {
        self.clockwork().client().call(Status {}).unwrap().last_operation.map(OperationId)
    }

    /// Takes back what the jobs just did, the last first, and does it again.
    fn undo_and_redo(
        &mut self,
        last: Option<OperationId>,
        before: &(Vec<Record>, BTreeMap<PathBuf, String>),
    ) {
        let client = self.clockwork.as_ref().unwrap().client();
        let page = client.call(Journal { limit: 40, ..Journal::default() }).unwrap();
        let made: Vec<OperationId> =
            page.operations.iter().map(|one| one.id).filter(|id| Some(*id) > last).collect();
        if made.is_empty() {
            return;
        }
        let after = (records(client), tree::snapshot(&self.home));
        let mut undone = Vec::new();
        for operation in made {
            undone.push(client.call(Undo { operation }).unwrap().operation);
            self.counts.undone += 1;
        }
        same(&records(client), &before.0, "undone");
        assert_eq!(tree::snapshot(&self.home), before.1, "undone");
        let mut all = true;
        for operation in undone.into_iter().rev() {
            // A merge moved outcomes, and is not done again but by its job.
            all &= client.call(Undo { operation }).is_ok();
        }
        if all {
            same(&records(client), &after.0, "done again");
            assert_eq!(tree::snapshot(&self.home), after.1, "done again");
        }
    }

    fn kill(&mut self) {
        self.counts.kills += 1;
        let probe = self.life.probe(self.clockwork.as_ref().unwrap().client());
        self.clockwork.take().unwrap().kill();
        self.restart();
        assert_eq!(self.life.probe(self.clockwork.as_ref().unwrap().client()), probe, "found as before");
    }

    /// Kills the daemon as soon as a job has made its first changes, if one makes any.
    fn kill_in_a_job(&mut self) {
        self.counts.kills += 1;
        self.counts.kills_in_jobs += u32::from(self.clockwork.take().unwrap().kill_in_a_job());
        self.restart();
    }

    fn restart(&mut self) {
        self.clockwork = Some(Clockwork::start(&self.home, self.now));
    }
}

/// Compares two exports, and shows the first records in which they differ. Equal records are equal bytes.
fn same(one: &[Record], other: &[Record], what: &str) {
    let differ = one.iter().zip(other).find(|(one, other)| one != other);
    assert_eq!(differ, None, "not {what}");
    assert_eq!(one.len(), other.len(), "not {what}");
}

/// Everything.
fn records(client: &Client) -> Vec<Record> {
    let (mut records, mut after) = (Vec::new(), None);
    loop {
        let page = client.call(Export { agent: None, after }).unwrap();
        records.extend(page.records);
        after = page.next;
        if after.is_none() {
            return records;
        }
    }
}
