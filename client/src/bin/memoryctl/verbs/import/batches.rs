//! Cutting a file of records into batches that the daemon takes at once.

use std::io::BufRead;
use std::path::Path;

use memoryd_client::proto::{Fault, Record};

use super::record;
use crate::input;

/// Records of a batch.
const RECORDS: usize = 256;

/// Bytes of lines from which a batch is full, so that it stays far below what a frame may hold.
const BYTES: usize = 4 * 1024 * 1024;

/// Records that are sent at once, and the lines they stand on.
pub struct Batch {
    pub records: Vec<Record>,
    pub lines: Vec<u64>,
}

/// The batches of a file. Empty lines are skipped.
pub struct Batches<'a, R> {
    reader: R,
    path: &'a Path,
    line: u64,
    bytes: u64,
}

impl<'a, R: BufRead> Batches<'a, R> {
    /// The batches of what `reader` reads from `path`.
    pub fn new(reader: R, path: &'a Path) -> Self {
        Self { reader, path, line: 0, bytes: 0 }
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next batch; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Batch>, Fault> {
        let mut batch = Batch { records: Vec::new(), lines: Vec::new() };
        let mut size = 0;
        let mut line = String::new();
        while batch.records.len() < RECORDS && size < BYTES {
            line.clear();
            let read =
                self.reader.read_line(&mut line).map_err(|error| input::unreadable(self.path, &error))?;
            if read == 0 {
                break;
            }
            self.line += 1;
            self.bytes += read as u64;
            if !line.trim().is_empty() {
                batch.records.push(record(&line, self.line, self.path)?);
                batch.lines.push(self.line);
                size += read;
            }
        }
        Ok(if batch.records.is_empty() { None } else { Some(batch) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "{\"context\":{\"context\":\"coding\",\"interactions\":3}}\n";

    #[test]
    fn a_file_is_cut_and_its_lines_are_counted() {
        let text = format!("\n{}", RECORD.repeat(RECORDS + 1));
        let mut batches = Batches::new(text.as_bytes(), Path::new("file"));
        let first = batches.next().unwrap().unwrap();
        assert_eq!((first.records.len(), first.lines[0]), (RECORDS, 2));
        assert_eq!(batches.next().unwrap().unwrap().lines, [RECORDS as u64 + 2]);
        assert!(batches.next().unwrap().is_none());
        assert_eq!(batches.bytes(), text.len() as u64);
    }

    #[test]
    fn a_broken_line_is_named() {
        let text = format!("{RECORD}oops\n");
        let fault = Batches::new(text.as_bytes(), Path::new("file")).next().err().unwrap();
        assert!(fault.message.starts_with("Line 2 of file is no record"), "{fault}");
    }
}
