//! Archives: what left the hot store, as compressed JSON lines by month (spec S6).
//!
//! Each write appends a frame of its own and is on disk before it returns. Frames in a row are one valid file, so
//! `zstdcat` reads an archive too. What a crash left half written was never relied on: it is passed over when reading,
//! and put aside before the next write.

mod frames;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use memoryd_proto::{ArchiveKind, Damage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use frames::Piece;

const SUFFIX: &str = ".jsonl.zst";

/// Why an archive cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading or writing failed.
    #[error("The archive {} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A record has no JSON form, or is of another form.
    #[error("The archive {} has a line that cannot be read: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// What was written together is not there.
    #[error("The archive {} is damaged: nothing can be read at byte {at}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
    },
}

/// The folder of the archives.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// Where each file that was written to ends.
    ends: Mutex<HashMap<PathBuf, u64>>,
}

/// A file of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ArchiveKind,
    /// When that left, such as `2026-04`.
    pub month: String,
    /// The file.
    pub path: PathBuf,
}

/// Where records lie that were written together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The byte at which they begin.
    pub at: u64,
    /// How many bytes they take.
    pub bytes: u64,
}

impl Archive {
    /// The archives in `folder`.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, ends: Mutex::default() }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that takes what leaves at `at`.
    #[must_use]
    pub fn file(&self, kind: ArchiveKind, at: DateTime<Utc>) -> PathBuf {
        self.folder.join(format!("{kind}-{}{SUFFIX}", at.format("%Y-%m")))
    }

    /// Appends records, and returns where, once they are on disk.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append<T: Serialize>(
        &self,
        kind: ArchiveKind,
        at: DateTime<Utc>,
        records: &[T],
    ) -> Result<Place, Error> {
        let path = self.file(kind, at);
        let failed = |source| Error::File { path: path.clone(), source };
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)
                .map_err(|source| Error::Line { path: path.clone(), source })?;
            lines.push(b'\n');
        }
        let frame = frames::encode(&lines).map_err(failed)?;
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = !path.exists();
        let mut file =
            OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(failed)?;
        let mut end = file.metadata().map_err(failed)?.len();
        if ends.get(&path) != Some(&end) {
            end = cut(&path, &file).map_err(failed)?;
        }
        file.write_all(&frame).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        if fresh {
            self.sync_folder()?;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = frame.len() as u64;
        ends.insert(path, end + bytes);
        Ok(Place { file: name, at: end, bytes })
    }

    /// The records that were written together at a place.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn at<T: DeserializeOwned>(&self, place: &Place) -> Result<Vec<T>, Error> {
        let path = self.folder.join(&place.file);
        let failed = |source| Error::File { path: path.clone(), source };
        let mut file = File::open(&path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(place.at)).map_err(failed)?;
        file.take(place.bytes).read_to_end(&mut bytes).map_err(failed)?;
        let (_, text) =
            frames::decode(&bytes).ok_or_else(|| Error::Damaged { path: path.clone(), at: place.at })?;
        text.lines()
            .map(|line| {
                serde_json::from_str(line).map_err(|source| Error::Line { path: path.clone(), source })
            })
            .collect()
    }

    /// The newest archived record of a kind that `wanted` accepts, and those right before it that it accepts too, the
    /// newest first. What one operation removes lies together.
    ///
    /// # Errors
    /// When an archive cannot be read.
    pub fn find<T: DeserializeOwned>(
        &self,
        kind: ArchiveKind,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, Error> {
        for month in self.months(Some(kind))?.iter().rev() {
            let mut records: Vec<T> = Vec::new();
            self.read(month, |line| records.extend(serde_json::from_str(line)))?;
            let newest_first = records.into_iter().rev();
            let found: Vec<T> = newest_first.skip_while(|one| !wanted(one)).take_while(&wanted).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Every archived record of a kind, oldest first.
    ///
    /// # Errors
    /// When an archive cannot be read.
    pub fn all<T: DeserializeOwned>(&self, kind: ArchiveKind) -> Result<Vec<T>, Error> {
        let mut records: Vec<T> = Vec::new();
        for month in self.months(Some(kind))? {
            self.read(&month, |line| records.extend(serde_json::from_str(line)))?;
        }
        Ok(records)
    }

    /// The files, of one kind or all, by kind and month.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn months(&self, kind: Option<ArchiveKind>) -> Result<Vec<Month>, Error> {
        let failed = |source| Error::File { path: self.folder.clone(), source };
        let mut months = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let parts = name.strip_suffix(SUFFIX).and_then(|stem| stem.split_once('-'));
            let Some((first, month)) = parts.map(|(first, month)| (first.to_owned(), month.to_owned()))
            else {
                continue;
            };
            let found = ArchiveKind::ALL.into_iter().find(|one| one.as_str() == first);
            if let Some(found) = found.filter(|found| kind.is_none_or(|wanted| wanted == *found)) {
                months.push(Month { name, kind: found, month, path });
            }
        }
        months.sort_by(|a, b| (a.kind, &a.month).cmp(&(b.kind, &b.month)));
        Ok(months)
    }

    /// Gives each line of a file to `each`, and returns the parts that cannot be read.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, month: &Month, mut each: impl FnMut(&str)) -> Result<Vec<Damage>, Error> {
        let failed = |source| Error::File { path: month.path.clone(), source };
        let bytes = std::fs::read(&month.path).map_err(failed)?;
        let mut damaged = Vec::new();
        for piece in frames::pieces(&bytes) {
            match piece {
                Piece::Whole { text, .. } => text.lines().for_each(&mut each),
                Piece::Damaged { at, bytes } => {
                    damaged.push(Damage { file: month.name.clone(), at: at as u64, bytes: bytes as u64 });
                }
            }
        }
        Ok(damaged)
    }

    fn sync_folder(&self) -> Result<(), Error> {
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| Error::File { path: self.folder.clone(), source })
    }
}

/// Puts aside what follows the last whole frame of a file, and returns where that ends.
fn cut(path: &Path, file: &File) -> std::io::Result<u64> {
    let bytes = std::fs::read(path)?;
    let end = frames::pieces(&bytes)
        .filter_map(|piece| match piece {
            Piece::Whole { end, .. } => Some(end),
            Piece::Damaged { .. } => None,
        })
        .last()
        .unwrap_or(0);
    if end < bytes.len() {
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".cut-{end}"));
        let mut half = aside.clone();
        half.push(".new");
        let mut copy = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&half)?;
        copy.write_all(&bytes[end..])?;
        copy.sync_all()?;
        std::fs::rename(&half, &aside)?;
        file.set_len(end as u64)?;
        file.sync_all()?;
        tracing::warn!(
            archive = %path.display(),
            aside = %Path::new(&aside).display(),
            "the end of an archive was not written to its end, and is put aside"
        );
    }
    Ok(end as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: ArchiveKind = ArchiveKind::Evaluations;

    fn all(archive: &Archive) -> (Vec<String>, u64) {
        let (mut lines, mut damaged) = (Vec::new(), 0);
        for month in archive.months(None).unwrap() {
            let found = archive.read(&month, |line| lines.push(line.to_owned())).unwrap();
            damaged += found.iter().map(|one| one.bytes).sum::<u64>();
        }
        (lines, damaged)
    }

    #[test]
    fn a_write_after_a_crash_in_the_middle_of_one_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = "2026-04-01T04:00:00Z".parse().unwrap();
        let archive = Archive::new(folder.path().to_owned());
        archive.append(KIND, at, &[1, 2]).unwrap();
        let second = archive.append(KIND, at, &[3]).unwrap();
        let path = archive.file(KIND, at);
        let length = path.metadata().unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(length - 3).unwrap();
        assert_eq!(all(&archive), (vec!["1".to_owned(), "2".to_owned()], length - 3 - second.at));

        let third = archive.append(KIND, at, &[4]).unwrap();
        assert_eq!(third.at, second.at);
        assert_eq!(all(&archive), (["1", "2", "4"].map(str::to_owned).to_vec(), 0));
        assert_eq!(archive.at::<u32>(&third).unwrap(), [4]);
        let aside = folder.path().join(format!("evaluations-2026-04.jsonl.zst.cut-{}", second.at));
        assert_eq!(aside.metadata().unwrap().len(), length - 3 - second.at);
    }

    #[test]
    fn what_was_written_together_is_found_by_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = "2026-04-01T04:00:00Z".parse().unwrap();
        let archive = Archive::new(folder.path().to_owned());
        let places: Vec<Place> = (0..3).map(|n| archive.append(KIND, at, &[n, 10 * n]).unwrap()).collect();
        for (n, place) in (0..).zip(&places) {
            assert_eq!(archive.at::<u32>(place).unwrap(), [n, 10 * n]);
        }
        let nowhere = Place { at: places[1].at + 1, ..places[1].clone() };
        assert!(matches!(archive.at::<u32>(&nowhere), Err(Error::Damaged { .. })));
    }
}
