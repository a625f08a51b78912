//! Progress bars. They show on standard error, and only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over records. Set its length when it is known.
pub fn records() -> ProgressBar {
    bar(0, "{bar:30} {pos} of {len} records")
}

/// A bar over the bytes of a file; hidden when there is no end in sight.
pub fn bytes(length: Option<u64>) -> ProgressBar {
    length.map_or_else(ProgressBar::hidden, |length| bar(length, "{bar:30} {bytes} of {total_bytes}"))
}

/// A bar over what jobs do, one after the other.
pub fn jobs() -> ProgressBar {
    bar(0, "{msg} {bar:30} {pos} of {len}")
}

/// A bar over the steps of a migration.
pub fn steps() -> ProgressBar {
    bar(0, "{pos} of {len} records {msg} {bar:30}")
}

/// A bar over the entries of the memory tree.
pub fn notes() -> ProgressBar {
    bar(0, "memory tree  {bar:30} {human_pos} of {human_len} embedded{msg}")
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    ProgressBar::new(length).with_style(style)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_templates_are_valid() {
        super::records();
        super::jobs();
        super::steps();
        super::notes();
        super::bytes(Some(1));
    }
}
