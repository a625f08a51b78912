//! The bar of the vectors that fill in, below what happens.

use indicatif::ProgressBar;

use super::left;
use crate::verbs::import::progress;

/// How vectors fill in, for whoever looks at a terminal.
pub struct Fill {
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Fill {
    /// Nothing fills in yet.
    pub fn new(wanted: bool) -> Self {
        Self { wanted, bar: None }
    }

    /// Shows how many of the entries have vectors. Returns whether there is a bar now that shows it.
    pub fn show(&mut self, done: u64, of: u64, left_seconds: Option<u64>) -> bool {
        if !self.wanted || done >= of {
            self.end();
            return false;
        }
        let bar = self.bar.get_or_insert_with(progress::notes);
        bar.set_length(of);
        bar.set_message(left(left_seconds));
        bar.set_position(done);
        !bar.is_hidden()
    }

    /// Says something where the bar is, which comes back below it.
    pub fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Takes the bar away.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
