//! Where answers go: as text for people, or as one JSON document.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

use crate::exit::Outcome;
use crate::render::Page;

/// Takes the answer of a verb.
pub struct Output<'a> {
    writer: &'a mut dyn Write,
    json: bool,
    width: Option<usize>,
}

impl<'a> Output<'a> {
    /// Answers to `writer`, as JSON or as text in lines of `width`.
    pub fn new(writer: &'a mut dyn Write, json: bool, width: Option<usize>) -> Self {
        Self { writer, json, width }
    }

    /// Writes a reply: as it is for programs, as `render` puts it for people.
    pub fn reply<T: Serialize>(&mut self, reply: &T, render: impl FnOnce(&mut Page, &T)) -> Outcome {
        if self.json {
            serde_json::to_writer_pretty(&mut *self.writer, reply).map_err(io::Error::from)?;
            writeln!(self.writer)?;
        } else {
            let mut page = Page::new(self.width);
            render(&mut page, reply);
            self.writer.write_all(page.text().as_bytes())?;
        }
        self.writer.flush()?;
        Ok(())
    }

    /// Writes one of many replies, on a line of its own.
    pub fn line<T: Serialize>(&mut self, reply: &T, text: impl Display) -> Outcome {
        if self.json {
            serde_json::to_writer(&mut *self.writer, reply).map_err(io::Error::from)?;
            writeln!(self.writer)?;
        } else {
            writeln!(self.writer, "{text}")?;
        }
        self.writer.flush()?;
        Ok(())
    }

    /// Whether a person reads along.
    pub fn is_for_people(&self) -> bool {
        !self.json
    }

    /// Whether a person looks at it on a terminal.
    pub fn is_on_terminal(&self) -> bool {
        !self.json && self.width.is_some()
    }

    /// The plain stream, for what has a form of its own.
    pub fn raw(&mut self) -> &mut dyn Write {
        self.writer
    }
}
