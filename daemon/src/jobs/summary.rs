//! A program of the user's choice that says a long note in a sentence (spec M7).

use std::cell::RefCell;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::domain::secrets::Redactor;
use crate::domain::text::excerpt;

/// How long the program may take for a note.
const PATIENCE: Duration = Duration::from_secs(20);

/// Characters of a sentence, at most.
const LONGEST: usize = 400;

/// The program, if there is one.
pub(super) struct Summariser<'a> {
    /// Its words; none without one.
    program: &'a [String],
    redactor: &'a Redactor,
    /// Why it failed first. It is not asked again then.
    failure: RefCell<Option<String>>,
}

impl<'a> Summariser<'a> {
    /// A program and its arguments, if there is one.
    pub fn new(program: &'a [String], redactor: &'a Redactor) -> Self {
        Self { program, redactor, failure: RefCell::default() }
    }

    /// A note in a sentence, free of secrets; none without a program, and once it failed.
    pub fn summary(&self, text: &str) -> Option<String> {
        if self.program.is_empty() || self.failure.borrow().is_some() {
            return None;
        }
        match said(self.program, &self.redactor.redact(text).text, PATIENCE) {
            Ok(said) => Some(excerpt(&self.redactor.redact(&said).text, LONGEST)),
            Err(why) => {
                let told = format!("tree.summariser failed, so notes are shortened to their rules: {why}");
                self.failure.replace(Some(told));
                None
            }
        }
    }

    /// Why the program failed, if it did.
    pub fn failure(self) -> Option<String> {
        self.failure.into_inner()
    }
}

/// What a program says to a text.
fn said(words: &[String], text: &str, patience: Duration) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("no program is named")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    let answer = answer(&mut child, text, patience);
    // It may have more to say, or nothing at all.
    let _ = child.kill();
    let ended = child.wait().map_err(|error| format!("{program}: {error}"))?;
    let answer = answer.ok_or_else(|| format!("{program} took longer than {} s", patience.as_secs()))?;
    let answer = String::from_utf8(answer).map_err(|_| format!("{program} wrote no UTF-8 text"))?;
    match answer.trim() {
        "" => Err(format!("{program} wrote nothing ({ended})")),
        said => Ok(said.to_owned()),
    }
}

/// Gives a program a text, and waits until it has written all of its answer. A program that reads or writes nothing must
/// not hold up the job, so threads of their own wait for it.
fn answer(child: &mut Child, text: &str, patience: Duration) -> Option<Vec<u8>> {
    let (mut input, mut output) = (child.stdin.take()?, child.stdout.take()?);
    let text = text.to_owned();
    thread::spawn(move || input.write_all(text.as_bytes()));
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.by_ref().take(1 << 16).read_to_end(&mut answer);
        let _ = tell.send(read.map(|_| answer));
    });
    told.recv_timeout(patience).ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str], text: &str) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        said(&words, text, Duration::from_millis(200))
    }

    #[test]
    fn m7_a_program_says_it_or_it_is_told_why_not() {
        assert_eq!(run(&["cat"], "Use tabs\n").unwrap(), "Use tabs");
        assert!(run(&["true"], "Use tabs").unwrap_err().contains("wrote nothing"));
        assert!(run(&["/no/such/program"], "Use tabs").unwrap_err().contains("/no/such/program"));
        assert!(run(&["tail", "-f", "/dev/null"], "Use tabs").unwrap_err().contains("took longer"));
        assert_eq!(run(&["cat"], &"x".repeat(1 << 20)).unwrap().len(), 1 << 16);
    }

    #[test]
    fn m14_what_a_program_says_is_free_of_secrets() {
        let (program, redactor) = (["cat".to_owned()], Redactor::new(&[]).unwrap());
        let summariser = Summariser::new(&program, &redactor);
        let said = summariser.summary("Push with ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY\nalways").unwrap();
        assert!(said.starts_with("Push with [redacted") && said.ends_with("always"), "{said}");
    }
}
