//! How answers look: pages of lines, fields, prose and tables; colours; numbers and times for people.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use anstyle::{AnsiColor, Style};
use chrono::{DateTime, Local, TimeDelta, Utc};
use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, Width, presets};
use memoryd_client::proto::{ContextState, Mode, Scope};

/// Prose is wrapped here when the terminal is wider, or when there is none.
const PROSE: usize = 96;

/// The last column of a table is never narrower than this.
const NARROWEST: u16 = 20;

/// Text that is shown in a style. Colours are dropped later where they are not wanted.
pub struct Painted<T>(Style, T);

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, text) = self;
        write!(f, "{style}{text}{style:#}")
    }
}

/// What stands out.
pub fn strong<T: Display>(text: T) -> Painted<T> {
    Painted(Style::new().bold(), text)
}

/// What steps back.
pub fn faint<T: Display>(text: T) -> Painted<T> {
    Painted(Style::new().dimmed(), text)
}

/// What is well.
pub fn good<T: Display>(text: T) -> Painted<T> {
    Painted(AnsiColor::Green.on_default(), text)
}

/// What is not.
pub fn bad<T: Display>(text: T) -> Painted<T> {
    Painted(AnsiColor::Red.on_default().bold(), text)
}

/// What deserves a second look.
pub fn notable<T: Display>(text: T) -> Painted<T> {
    Painted(AnsiColor::Yellow.on_default(), text)
}

/// Text for people, line by line.
pub struct Page {
    text: String,
    width: Option<usize>,
}

impl Page {
    /// An empty page for a terminal of `width` columns, or for no terminal.
    pub fn new(width: Option<usize>) -> Self {
        Self { text: String::new(), width }
    }

    /// What is on the page.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a line.
    pub fn line(&mut self, line: impl Display) {
        self.put(format_args!("{line}\n"));
    }

    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Adds a heading, set off from what is above.
    pub fn heading(&mut self, heading: &str) {
        if !self.text.is_empty() {
            self.gap();
        }
        self.line(strong(heading));
    }

    /// Adds labelled values, one below the other. Those without a value are left out.
    pub fn fields<const N: usize>(&mut self, fields: [(&str, Option<String>); N]) {
        let widest = fields.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
        for (label, value) in fields {
            if let Some(value) = value {
                self.put(format_args!("{}{value}\n", faint(format_args!("{label:<widest$}  "))));
            }
        }
    }

    /// Adds text that may be long, behind `first` and below it.
    pub fn prose(&mut self, first: &str, text: &str) {
        let margin =
            " ".repeat(textwrap::core::display_width(&anstream::adapter::strip_str(first).to_string()));
        let width = self.width.unwrap_or(PROSE).min(PROSE).max(margin.len() + 20);
        let mut lead = first;
        for paragraph in clean(text).lines() {
            for line in textwrap::wrap(paragraph, width - margin.len()) {
                self.put(format_args!("{}\n", format!("{lead}{line}").trim_end()));
                lead = &margin;
            }
        }
    }

    /// Adds a table. Its last column gives way when the terminal is narrow; it is cut there, and nowhere else.
    pub fn table<const N: usize>(&mut self, header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(header);
        for row in rows {
            let mut row = Row::from(row.map(|cell| one_line(&cell)));
            row.max_height(1);
            table.add_row(row);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if index + 1 < N { 2 } else { 0 }));
        }
        if let Some(width) = self.width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
            for (index, column) in table.column_iter_mut().enumerate() {
                column.set_constraint(if index + 1 < N {
                    ColumnConstraint::ContentWidth
                } else {
                    ColumnConstraint::LowerBoundary(Width::Fixed(NARROWEST))
                });
            }
        }
        let text = table.to_string();
        let mut lines = text.lines().map(str::trim_end);
        if let Some(header) = lines.next() {
            self.line(faint(header));
        }
        for line in lines {
            self.line(line);
        }
    }

    fn put(&mut self, text: fmt::Arguments) {
        self.text.write_fmt(text).expect("a String takes any text");
    }
}

/// Advice below an error, indented.
pub fn advice(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Text without control characters: what agents stored must not steer the terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\n';
    if text.contains(steers) { text.replace(steers, " ").into() } else { text.into() }
}

/// Text as a single line without control characters.
pub fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A time that something took.
pub fn milliseconds(time: f64) -> String {
    match time {
        time if time < 1000.0 => format!("{time:.0} ms"),
        time if time < 60_000.0 => format!("{:.1} s", time / 1000.0),
        time => format!("{:.1} min", time / 60_000.0),
    }
}

/// How quality moves, from the difference between newer and older tasks.
pub fn trend(difference: f64) -> String {
    match difference {
        up if up >= 0.05 => format!("↗ rises by {up:.1}"),
        down if down <= -0.05 => format!("↘ falls by {:.1}", -down),
        _ => "→ steady".to_owned(),
    }
}

/// A share as a percentage, or a dash.
pub fn percent_if(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), percent)
}

/// An amount of data.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    #[allow(clippy::cast_precision_loss, reason = "two digits are shown")]
    let mut scaled = count as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1023.95 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.1} {}", UNITS[unit])
}

/// A number with a thin gap between thousands, and what it counts.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time on the clock of whoever reads it.
pub fn time(at: DateTime<Utc>) -> String {
    at.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}

/// A span of time in its two largest units.
pub fn span(span: TimeDelta) -> String {
    let (days, hours, minutes) = (span.num_days(), span.num_hours() % 24, span.num_minutes() % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{} s", span.num_seconds().max(0)),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// Where something applies.
pub fn scope(scope: &Scope) -> String {
    match scope {
        Scope::Global => "global".to_owned(),
        Scope::Project(hash) => format!("project {hash}"),
    }
}

/// Whether learned utility counts.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Cold => "cold",
        Mode::Warm => "warm",
    }
}

/// A context, and how warm it is.
pub fn context(state: &ContextState) -> String {
    let mode = mode(state.mode);
    let seen = count(state.interactions, "interaction", "interactions");
    match state.mode {
        Mode::Cold => {
            format!("{} ({mode}, {} of {} interactions)", state.name, state.interactions, state.warm_from)
        }
        Mode::Warm => format!("{} ({mode}, {seen})", state.name),
    }
}

/// The word for a value of an enum, as it is written in JSON.
pub fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(|word| word.replace('_', " ")))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(page: &Page) -> String {
        anstream::adapter::strip_str(page.text()).to_string()
    }

    #[test]
    fn data_is_counted_in_units() {
        let shown: Vec<String> = [0, 1023, 1024, 1_048_575, 5 << 30, u64::MAX].map(bytes).into();
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.0 MiB", "5.0 GiB", "16777216.0 TiB"]);
    }

    #[test]
    fn a_trend_is_told_in_words() {
        let told = [4.24, 0.04, 0.0, -0.06].map(trend);
        assert_eq!(told, ["↗ rises by 4.2", "→ steady", "→ steady", "↘ falls by 0.1"]);
    }

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        assert_eq!([0.0, 999.0, 1500.0, 90_000.0].map(milliseconds), ["0 ms", "999 ms", "1.5 s", "1.5 min"]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1, "item", "items"), "1 item");
    }

    #[test]
    fn spans_show_their_two_largest_units() {
        let shown = [0, 59, 60, 3_661, 90_000].map(|seconds| span(TimeDelta::seconds(seconds)));
        assert_eq!(shown, ["0 s", "59 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }

    #[test]
    fn stored_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\rc\nd"), "a [2Jb c\nd");
        assert_eq!(one_line(" a\n\tb\u{7} c "), "a b c");
    }

    #[test]
    fn prose_hangs_below_its_lead() {
        let mut page = Page::new(Some(30));
        page.prose(&format!("{} ", strong("1")), "one two three four five six seven eight\nnine");
        assert_eq!(plain(&page), "1 one two three four five six\n  seven eight\n  nine\n");
    }

    #[test]
    fn a_table_cuts_its_last_column_only() {
        let mut page = Page::new(Some(40));
        page.table(["id", "text"], [["a-long-identifier".to_owned(), "some text that is long".to_owned()]]);
        let text = plain(&page);
        assert!(text.contains("a-long-identifier  some text that i…"), "{text}");
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn a_table_without_a_terminal_cuts_nothing() {
        let mut page = Page::new(None);
        let long = "word ".repeat(100);
        page.table(["id", "text"], [["x".to_owned(), long.clone()]]);
        assert!(plain(&page).contains(long.trim()));
    }

    #[test]
    fn fields_without_a_value_are_left_out() {
        let mut page = Page::new(None);
        page.fields([("a", Some("1".to_owned())), ("longer", None), ("b", Some("2".to_owned()))]);
        assert_eq!(plain(&page), "a       1\nb       2\n");
    }

    #[test]
    fn enums_are_shown_by_their_word() {
        assert_eq!(word(&memoryd_client::proto::Verdict::LowSuccess), "low success");
    }
}
