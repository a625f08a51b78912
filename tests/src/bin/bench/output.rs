//! What people and programs read. Nothing else in this program prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench is read on the terminal")]

use serde_json::Value;

/// Prints a paragraph.
pub fn say(text: &str) {
    println!("\n{text}");
}

/// Prints a line.
pub fn line(text: &str) {
    println!("{text}");
}

/// Prints the figures on a line of their own.
pub fn figures(figures: &Value) {
    println!("\n{figures}");
}

/// Tells how far the bench is, or what went wrong, beside its results.
pub fn note(text: &str) {
    eprintln!("{text}");
}

/// A table: the first column to the left, the others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these titles.
    pub fn new(titles: &[&str]) -> Self {
        Self { rows: vec![titles.iter().map(|title| (*title).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Prints it.
    pub fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        println!();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(
                    |(column, (cell, width))| {
                        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                    },
                )
                .collect();
            println!("{}", cells.join("  ").trim_end());
            if number == 0 {
                println!("{}", "-".repeat(widths.iter().sum::<usize>() + 2 * (columns - 1)));
            }
        }
    }
}
