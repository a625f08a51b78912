//! What a caller writes, on its way in: checked, and free of secrets. Every text that is stored passes here (spec M14).

use std::collections::BTreeMap;

use memoryd_proto::{Fault, Id};

use crate::domain::intake;
use crate::domain::secrets::Redactor;

/// Takes in the texts of one call.
pub(super) struct Entry<'a> {
    redactor: &'a Redactor,
    /// The kinds of secrets that were redacted.
    pub(super) redacted: Vec<String>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, redacted: Vec::new() }
    }

    /// The text without secrets.
    pub(super) fn text(&mut self, text: &str) -> String {
        let clean = self.redactor.redact(text);
        self.redacted.extend(clean.found);
        clean.text.into_owned()
    }

    /// A document without secrets.
    pub(super) fn document(&mut self, text: &str) -> Result<String, Fault> {
        Ok(self.text(intake::document(text)?))
    }

    /// A word to filter by.
    pub(super) fn label(&mut self, kind: &str, text: &str) -> Result<String, Fault> {
        Ok(self.text(&intake::label(kind, text)?))
    }

    /// Words to filter by.
    pub(super) fn labels(&mut self, kind: &str, texts: &[String]) -> Result<Vec<String>, Fault> {
        texts.iter().map(|text| self.label(kind, text)).collect()
    }

    /// An id of the caller's choice. It names things, so it is refused where another text would be redacted.
    pub(super) fn id<K>(&self, id: &Id<K>) -> Result<(), Fault> {
        match self.redactor.redact(id.as_str()).found.first() {
            None => Ok(()),
            Some(kind) => Err(Fault::invalid(
                format!("An id looks like a secret ({kind})"),
                "Ids are stored and shown as they are. Choose one that gives nothing away.",
            )),
        }
    }

    /// The caller's own fields.
    pub(super) fn attributes(&mut self, attributes: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        attributes.iter().map(|(key, value)| (self.text(key), self.text(value))).collect()
    }
}
