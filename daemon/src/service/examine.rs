//! What is wrong with the memory and its daemon (`memoryctl doctor`).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use memoryd_proto::{Examine, Examined, Fault, Serve, Status, StatusReport, Tier, Trouble};
use rusqlite::Connection;

use super::App;
use crate::database;

/// Free bytes from which nothing is said of the disk.
const ROOM: u64 = 200 << 20;

/// How long a job may be overdue: it waits for others, and for the machine to wake up.
const PATIENCE: TimeDelta = TimeDelta::hours(1);

/// How far the journal may be ahead of the clock.
const AHEAD: TimeDelta = TimeDelta::minutes(5);

/// What is wrong, and what to do.
type Found = Vec<(String, String)>;

impl Serve<Examine> for App {
    fn serve(&self, _: Examine) -> Result<Examined, Fault> {
        self.examine()
    }
}

impl App {
    /// Looks for everything that can be wrong. Nothing is changed.
    ///
    /// # Errors
    /// When the status cannot be told.
    pub fn examine(&self) -> Result<Examined, Fault> {
        let status: StatusReport = self.serve(Status {})?;
        let mut examined = Examined::default();
        examined.note("permissions", []);
        examined.findings.extend(self.open_to_others());
        examined.note("database", self.damage());
        examined.note("copies", self.damaged_copies());
        examined.note("archive", self.damaged_archive());
        examined.note("model", model(&status));
        examined.note("disk", full(&self.about.data_dir));
        examined.note("clock", self.clock_behind());
        examined.note("schedule", overdue(&status));
        examined.note("memory tree", self.tree_troubles(&status));
        examined.note("chroma", chroma(&status));
        Ok(examined)
    }

    /// Files that others than the user may read.
    fn open_to_others(&self) -> Vec<Trouble> {
        let data = &self.about.data_dir;
        let files =
            [data.clone(), self.view().reader.path().to_owned(), data.join("archive"), data.join("backups")];
        let open = files.iter().filter(|path| mode(path).is_some_and(|mode| mode & 0o077 != 0));
        open.map(|path| {
            let shown = path.display();
            Trouble {
                check: "permissions".to_owned(),
                problem: format!("Others may read {shown}"),
                advice: format!("Close it: chmod go-rwx '{shown}', or memoryctl doctor --fix"),
                open: Some(shown.to_string()),
            }
        })
        .collect()
    }

    fn damage(&self) -> Found {
        let checked = self.view().read(|connection: &Connection| {
            let mut statement = connection.prepare("PRAGMA quick_check(3)").map_err(database::Error::from)?;
            let told =
                statement.query_map([], |row| row.get::<_, String>(0)).map_err(database::Error::from)?;
            Ok::<_, database::Error>(told.collect::<Result<Vec<_>, _>>()?)
        });
        let told = match checked {
            Ok(told) => told,
            Err(error) => vec![error.to_string()],
        };
        told.into_iter()
            .filter(|told| told != "ok")
            .map(|told| {
                let advice = match self.view().copies.newest() {
                    Some(name) => format!("Put its newest copy in its place: memoryctl restore {name}"),
                    None => "Export what can be read: memoryctl export FILE. There is no copy to restore."
                        .to_owned(),
                };
                (format!("The database is damaged: {told}"), advice)
            })
            .collect()
    }

    fn damaged_copies(&self) -> Found {
        let listed = self.view().copies.list();
        let copies = match listed {
            Ok(copies) => copies,
            Err(error) => return vec![(error.to_string(), "Check the folder's permissions.".to_owned())],
        };
        copies
            .into_iter()
            .map(|copy| self.view().copies.opened(copy))
            .filter(|copy| copy.improvements.is_none())
            .map(|copy| {
                let folder = self.view().copies.folder().display();
                (
                    format!("The copy {} cannot be read", copy.name),
                    format!("Remove it from {folder}, and make another: memoryctl backup"),
                )
            })
            .collect()
    }

    fn damaged_archive(&self) -> Found {
        let read = || {
            let archive = &self.view().archive;
            let mut damaged = Vec::new();
            for month in archive.months(None)? {
                damaged.extend(archive.read(&month, |_| {})?);
            }
            Ok::<_, crate::archive::Error>(damaged)
        };
        let advice =
            || "Bring the file back from a backup of yours; all other parts of it are still read.".to_owned();
        match read() {
            Ok(damaged) => damaged
                .into_iter()
                .map(|damage| {
                    (
                        format!(
                            "{} bytes of {} from byte {} on cannot be read",
                            damage.bytes, damage.file, damage.at
                        ),
                        advice(),
                    )
                })
                .collect(),
            Err(error) => vec![(error.to_string(), advice())],
        }
    }

    /// The journal's time is a lower bound of the true one.
    fn clock_behind(&self) -> Found {
        let newest = self.view().read(|connection| {
            let micros: Option<i64> =
                connection.query_row("SELECT max(at) FROM operation", [], |row| row.get(0))?;
            Ok::<_, database::Error>(micros.map(database::instant))
        });
        let now: DateTime<Utc> = self.now();
        match newest {
            Ok(Some(newest)) if newest - now > AHEAD => vec![(
                format!("The clock says {now:.0}, and the journal was written at {newest:.0} already"),
                "Set the clock. Jobs wait until it has caught up.".to_owned(),
            )],
            Ok(_) => Vec::new(),
            Err(error) => vec![(error.to_string(), "See the finding on the database.".to_owned())],
        }
    }

    fn tree_troubles(&self, status: &StatusReport) -> Found {
        let (view, tree) = (self.view(), &self.config.tree);
        let mut found: Found = status
            .tree
            .polled
            .iter()
            .map(|why| {
                (why.clone(), "Changes are found every two seconds instead; nothing is lost.".to_owned())
            })
            .collect();
        if !view.vault.exists() {
            return found;
        }
        let reading = match view.reading() {
            Ok(reading) => reading,
            Err(error) => {
                found.push((error.to_string(), "Check the permissions of the tree's folders.".to_owned()));
                return found;
            }
        };
        found.extend(reading.unread.iter().map(|told| {
            (
                format!("A file of the memory tree is not read: {told}"),
                "Save it as UTF-8, below a megabyte.".to_owned(),
            )
        }));
        let most = |tier: Tier| match tier {
            Tier::Hot => Some(tree.hot_lines),
            Tier::Project | Tier::Domain => Some(tree.warm_lines),
            Tier::Local | Tier::Shared | Tier::Corrections | Tier::Index | Tier::Cold => None,
        };
        for sheet in &reading.sheets {
            let lines = sheet.text.lines().count();
            if let Some(most) = most(sheet.leaf.tier).filter(|most| lines > *most as usize) {
                found.push((
                    format!("{} has {lines} lines, more than {most}", sheet.leaf.path.display()),
                    "Tend it: memoryctl maintain compact-notes. Preferences are never taken out: shorten them by hand."
                        .to_owned(),
                ));
            }
        }
        found
    }
}

fn mode(path: &Path) -> Option<u32> {
    Some(path.metadata().ok()?.permissions().mode())
}

fn model(status: &StatusReport) -> Found {
    let told = |why: &String| (why.clone(), "Words still find everything.".to_owned());
    status.degraded.iter().map(told).collect()
}

fn full(data_dir: &PathBuf) -> Found {
    match rustix::fs::statvfs(data_dir) {
        Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM => vec![(
            format!(
                "Only {} MB are free where the data lies",
                disk.f_bavail.saturating_mul(disk.f_frsize) >> 20
            ),
            "Make room, or move the data directory and set MEMORYD_DATA_DIR.".to_owned(),
        )],
        Ok(_) => Vec::new(),
        Err(error) => vec![(
            format!("The disk under {} cannot be looked at: {error}", data_dir.display()),
            "Check that it is mounted.".to_owned(),
        )],
    }
}

fn overdue(status: &StatusReport) -> Found {
    let mut found: Found = status
        .failing
        .iter()
        .map(|job| {
            let why = job.last.as_ref().and_then(|last| last.failed.clone()).unwrap_or_default();
            (
                format!("The job {} failed {} times in a row: {why}", job.job, job.failures),
                format!("See what it would do: memoryctl maintain {} --dry-run", job.job),
            )
        })
        .collect();
    if let Some(job) = &status.next_job
        && let Some(next) = job.next.filter(|next| status.now - *next > PATIENCE && !job.running)
    {
        found.push((
            format!("The job {} should have run at {next:.0}", job.job),
            "Restart the daemon: memoryctl stop, memoryctl start. If that does not help, run memoryctl maintain.".to_owned(),
        ));
    }
    found
}

fn chroma(status: &StatusReport) -> Found {
    let Some(chroma) = &status.chroma else { return Vec::new() };
    let away =
        chroma.trouble.iter().map(|told| (told.clone(), format!("{} records wait for it.", chroma.waiting)));
    let refused = chroma.aside.iter().map(|aside| {
        let which = format!("Chroma refuses {} in {}: {}", aside.id, aside.collection, aside.reason);
        (which, "Change the record, or the collection there; it is told again then.".to_owned())
    });
    away.chain(refused).collect()
}
