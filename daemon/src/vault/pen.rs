//! Writing files of the tree, beside people who save them whenever they like.
//!
//! No file can be changed under the condition that it says something. So a new text is exchanged with the file in one
//! step, and then what came out is looked at. If that is not what was read, somebody saved in between: it goes back. It
//! is looked at again before it is removed, and once more later, for those who had the file open and write to it only
//! then. What they write is brought in line by line. Whatever comes out of a file and was not read goes back into it.
//!
//! Some take a file away, or empty it, before they write it anew, and would write over what is put in its place. So a
//! file that had a text and has none is waited for.
//!
//! Beside the file `NAME` lie meanwhile `.NAME.PID.N.draft`, a text that is not complete, or `.NAME.PID.N.swap`, one that
//! is: the new text before the exchange, and whatever was in the file after it.

mod held;
mod sweep;

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::fs::OFlags;

use held::Held;

use super::rename::{claim, exchange};
use super::{Error, FOLDERS, Vault, file, read};
use crate::domain::merge::merge;

/// How often something is tried again because somebody saves at the same time.
const AGAIN: usize = 16;

/// How often there is a pause for a file that somebody took away, until they are believed to have removed it.
const PAUSES: usize = 1000;

/// How long a pause is.
const PAUSE: Duration = Duration::from_millis(1);

/// How many removed files are watched for late writes.
const WATCHED: usize = 32;

/// The only one that writes files of the tree.
pub struct Pen {
    vault: Vault,
    /// Where files that were replaced have names.
    held: PathBuf,
    /// Lets others write.
    pause: Box<dyn Fn() + Send + Sync>,
    /// Numbers what lies beside files.
    drawn: AtomicU64,
    /// Files that were replaced, the latest last.
    replaced: Mutex<VecDeque<Replaced>>,
}

/// A file that has no name any more. Who had it open may still write to it.
#[derive(Debug)]
struct Replaced {
    path: PathBuf,
    text: String,
    file: File,
    /// None where it cannot be held.
    held: Option<Held>,
}

impl Pen {
    /// Writes what `vault` reads. The folder `held` is for it alone, and best on the same file system.
    #[must_use]
    pub fn new(vault: Vault, held: PathBuf) -> Self {
        let pause = Box::new(|| std::thread::sleep(PAUSE));
        Self { vault, held, pause, drawn: AtomicU64::new(0), replaced: Mutex::default() }
    }

    /// What it writes.
    #[must_use]
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Whether a path of the tree leads to a file, by a link perhaps.
    #[must_use]
    pub fn leads_to(&self, path: &Path, file: &Path) -> bool {
        let real = |path| self.vault.inside(path).ok();
        real(path).is_some_and(|path| Some(path) == real(file))
    }

    /// Makes the folders of the tree.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make_folders(&self) -> Result<(), Error> {
        FOLDERS.iter().try_for_each(|(name, _)| folder(&self.vault.root.join(name)))
    }

    /// Writes a file whose text is `before`, absent where there is none, so that it is `after`. Whoever reads meanwhile
    /// sees the one or the other, whole. Its mode stays, and its owner where that is allowed. What others save meanwhile
    /// stays, too.
    ///
    /// # Errors
    /// When its text is not `before`, when it leads out of the tree, or when it cannot be written.
    pub fn write(&self, path: &Path, before: Option<&str>, after: Option<&str>) -> Result<(), Error> {
        self.write_of(&self.vault, path, before, after)
    }

    /// Like [`write`](Self::write), for a file of another vault: one [with](Vault::with) a folder that was named.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn write_of(
        &self,
        vault: &Vault,
        path: &Path,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<(), Error> {
        self.look_back();
        let done = self.put(&vault.inside(path)?, before, after);
        self.vault.written.lock().insert(path.to_owned());
        done
    }

    fn put(&self, path: &Path, before: Option<&str>, after: Option<&str>) -> Result<(), Error> {
        if read(path)?.as_deref() != before {
            return Err(changed(path));
        }
        let is_away = before.is_none_or(str::is_empty) && self.vault.keep_text(path, false);
        if is_away && self.comes_back(path) {
            return Err(changed(path));
        }
        self.vault.keep_text(path, after.is_some_and(|after| !after.is_empty()));
        match (before, after) {
            (None, None) => return Ok(()),
            (None, Some(after)) => self.create(path, after)?,
            (Some(before), Some(after)) => self.replace(path, before, after)?,
            (Some(before), None) => return self.remove(path, before),
        }
        // Whoever saved since, and had read the file before, did not see what was written.
        if let Some(after) = after
            && !says(path, after)
            && let Err(error) = self.bring_in(path, before.unwrap_or_default(), after)
        {
            tracing::warn!(%error, "somebody saves over what was just written");
        }
        Ok(())
    }

    /// Brings in what was written to files after they were replaced.
    pub fn look_back(&self) {
        let replaced: Vec<Replaced> = self.replaced.lock().drain(..).collect();
        for mut replaced in replaced {
            // One that is shorter and otherwise the same is being written.
            if let Ok(text) = whole(&replaced.file)
                && !replaced.text.starts_with(&text)
            {
                tracing::info!(file = %replaced.path.display(), "somebody wrote to it while it was replaced");
                match self.bring_in(&replaced.path, &replaced.text, &text) {
                    Ok(()) => {
                        replaced.held.take_if(|held| held.set(&replaced.path, &text).is_err());
                        replaced.text = text;
                    }
                    Err(error) => tracing::warn!(%error, "what somebody wrote could not be brought in yet"),
                }
            }
            self.keep(replaced);
        }
    }

    fn keep(&self, replaced: Replaced) {
        let mut all = self.replaced.lock();
        all.push_back(replaced);
        if all.len() > WATCHED {
            all.pop_front();
        }
    }

    fn create(&self, path: &Path, text: &str) -> Result<(), Error> {
        let swap = &self.draw(path, text)?;
        let created = claim(swap, path).map_err(file(path));
        let free = created.inspect_err(|_| discard(swap))?;
        if !free {
            discard(swap);
            return Err(changed(path));
        }
        sync(path)
    }

    fn replace(&self, path: &Path, before: &str, after: &str) -> Result<(), Error> {
        let swap = &self.draw(path, after)?;
        let exchanged =
            if says(path, before) { exchange(swap, path) } else { Err(ErrorKind::NotFound.into()) };
        match exchanged {
            Ok(true) => {}
            Ok(false) => {
                // Here files cannot be exchanged, and it was looked at just now.
                fs::rename(swap, path).map_err(file(path)).inspect_err(|_| discard(swap))?;
                return sync(path);
            }
            Err(error) => {
                discard(swap);
                let saved = error.kind() == ErrorKind::NotFound;
                return Err(if saved { changed(path) } else { file(path)(error) });
            }
        }
        if says(swap, before) {
            sync(path)?;
            if says(swap, before) {
                return self.retire(path, swap, before);
            }
        }
        self.give_back(path, swap, before, after)
    }

    /// Puts what came out of a file back in its place, as it is not `before` but what somebody saved. Whoever saves over
    /// that is not overwritten either.
    fn give_back(&self, path: &Path, swap: &Path, before: &str, after: &str) -> Result<(), Error> {
        let (mut there, mut out) = (Some(after.to_owned()), plain(swap).ok());
        loop {
            if !self.put_back(swap, path)? {
                // The file was removed meanwhile, and is what came out again.
                sync(path)?;
                return Err(changed(path));
            }
            let now_out = plain(swap).ok();
            if now_out == there {
                break;
            }
            // Somebody saved over what was there: that is the newest, and goes back in turn.
            there = std::mem::replace(&mut out, now_out);
        }
        sync(path)?;
        let Some(rest) = there else { return Err(changed(path)) };
        if rest == after {
            self.retire(path, swap, after)?;
            return Err(changed(path));
        }
        // Both were saved, and perhaps neither after reading the other.
        self.bring_in(path, before, &rest)?;
        self.retire(path, swap, &rest)?;
        self.bring_in(path, before, after)
    }

    fn remove(&self, path: &Path, before: &str) -> Result<(), Error> {
        let swap = &self.beside(path).with_extension("swap");
        if !claim(path, swap).map_err(file(path))? {
            return Err(changed(path));
        }
        if says(swap, before) {
            sync(path)?;
            if says(swap, before) {
                return fs::remove_file(swap).map_err(file(swap));
            }
        }
        if !claim(swap, path).map_err(file(path))? {
            let theirs = plain(swap).map_err(file(swap))?;
            self.bring_in(path, before, &theirs)?;
            discard(swap);
        }
        Err(changed(path))
    }

    /// Makes what a text does to `base` with a file, too, whatever it says.
    fn bring_in(&self, path: &Path, base: &str, text: &str) -> Result<(), Error> {
        for _ in 0..AGAIN {
            let is = match read(path) {
                Ok(Some(is)) => is,
                Ok(None) if self.comes_back(path) => continue,
                // Whoever removed it wanted that.
                Ok(None) => return Ok(()),
                Err(Error::NoText { .. }) => continue,
                Err(error) => return Err(error),
            };
            let merged = merge(base, &is, text);
            if merged == is {
                return Ok(());
            }
            match self.replace(path, &is, &merged) {
                Err(Error::Changed { .. }) => {}
                done => return done,
            }
        }
        Err(changed(path))
    }

    /// Exchanges what lies beside a file with it once more. Returns whether there still was a file; else it is there again.
    fn put_back(&self, swap: &Path, path: &Path) -> Result<bool, Error> {
        loop {
            match exchange(swap, path) {
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if !self.comes_back(path) && claim(swap, path).map_err(file(path))? {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(file(path)(error)),
            }
        }
    }

    /// Waits for a file that is away or empty. Returns whether somebody wrote it.
    fn comes_back(&self, path: &Path) -> bool {
        let is_back = |_| {
            (self.pause)();
            fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
        };
        (0..PAUSES).any(is_back)
    }

    /// Removes what came out of a file, and keeps an eye on it.
    fn retire(&self, path: &Path, swap: &Path, text: &str) -> Result<(), Error> {
        let opened = open_plain(swap).map_err(file(swap))?;
        let n = self.drawn.fetch_add(1, Ordering::Relaxed);
        let held = Held::new(&self.held, n, (path, text), swap).ok();
        fs::remove_file(swap).map_err(file(swap))?;
        self.keep(Replaced { path: path.to_owned(), text: text.to_owned(), file: opened, held });
        Ok(())
    }

    /// Writes a text beside a file and to disk, with the file's mode and owner.
    fn draw(&self, path: &Path, text: &str) -> Result<PathBuf, Error> {
        folder(path.parent().unwrap_or(path))?;
        loop {
            let draft = self.beside(path);
            let swap = draft.with_extension("swap");
            match drawn(&draft, path, text).and_then(|()| claim(&draft, &swap)) {
                Ok(true) => return Ok(swap),
                // The name is taken by what could not be brought to its end.
                Ok(false) => discard(&draft),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    discard(&draft);
                    return Err(file(&draft)(error));
                }
            }
        }
    }

    /// A name for a draft beside a file.
    fn beside(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let n = self.drawn.fetch_add(1, Ordering::Relaxed);
        path.with_file_name(format!(".{name}.{}.{n}.draft", std::process::id()))
    }
}

fn drawn(draft: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut drawn = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    drawn.write_all(text.as_bytes())?;
    if let Ok(there) = fs::metadata(path) {
        // Another's file may be written, but not always given back to them.
        let _ = fchown(&drawn, Some(there.uid()), Some(there.gid()));
        drawn.set_permissions(fs::Permissions::from_mode(there.mode() & 0o7777))?;
    }
    drawn.sync_all()
}

fn says(path: &Path, text: &str) -> bool {
    plain(path).is_ok_and(|is| is == text)
}

/// What is written in a file itself, and not in another that it leads to.
fn plain(path: &Path) -> io::Result<String> {
    whole(&open_plain(path)?)
}

fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// All of an open file.
fn whole(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 1 << 13];
    loop {
        match file.read_at(&mut part, bytes.len() as u64)? {
            0 => return String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into()),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

fn changed(path: &Path) -> Error {
    Error::Changed { path: path.to_owned() }
}

fn discard(path: &Path) {
    let _ = fs::remove_file(path);
}

fn folder(path: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(file(path))
}

/// Lets what a file is named survive a power cut.
fn sync(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(file(folder))
}

#[cfg(test)]
mod tests;
