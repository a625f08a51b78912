//! `memoryctl review`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use memoryd_client::proto::{Fault, Review, ReviewList, ReviewOf, Reviews, Serve, Week};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint, grouped, percent_if, time};
use crate::verbs::export::replace::Replacement;

#[cfg(test)]
mod fixture;
mod markup;
mod open;
mod page;
mod plot;
mod text;
mod words;

#[derive(Args, Debug)]
pub struct Arguments {
    /// The week, such as 2026-W05 [default: the week that runs]
    #[arg(value_name = "WEEK", conflicts_with = "list")]
    week: Option<Week>,
    /// Write it as a page for a browser, replaced as a whole; - for standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long, conflicts_with = "html")]
    open: bool,
    /// List the reviews that are kept
    #[arg(long, conflicts_with_all = ["html", "open"])]
    list: bool,
}

#[derive(Serialize)]
struct Written {
    file: PathBuf,
    opened: bool,
}

pub fn run(
    arguments: Arguments,
    service: &(impl Serve<ReviewOf> + Serve<Reviews>),
    out: &mut Output,
) -> Outcome {
    if arguments.list {
        return out.reply(&service.serve(Reviews {})?, list);
    }
    let review = service.serve(ReviewOf { week: arguments.week })?;
    let written = match arguments.html {
        None if !arguments.open => return out.reply(&review, text::render),
        Some(file) if file.as_os_str() == "-" => {
            out.raw().write_all(page::page(&review).as_bytes())?;
            return Ok(out.raw().flush()?);
        }
        Some(file) => {
            write(&file, &review)?;
            Written { file, opened: false }
        }
        None => {
            let file = open::place(review.week)?;
            write(&file, &review)?;
            Written { opened: open::show(open::PROGRAMS, &file), file }
        }
    };
    out.reply(&written, |page, written| {
        page.line(format_args!("The review of {} is in {}", review.week, written.file.display()));
        if arguments.open && !written.opened {
            page.line("There is no program to open it with: open the file in a browser.");
        }
    })
}

fn write(file: &Path, review: &Review) -> Result<(), Fault> {
    let written = || -> io::Result<()> {
        let mut replacement = Replacement::of(file)?;
        replacement.writer().write_all(page::page(review).as_bytes())?;
        replacement.finish()
    };
    written().map_err(|error| {
        Fault::invalid(
            format!("{} cannot be written: {error}", file.display()),
            "Nothing was changed there. Check the path, its permissions and the space left.",
        )
    })
}

fn list(page: &mut Page, list: &ReviewList) {
    if list.reviews.is_empty() {
        page.line("No review is kept yet. The week that runs: memoryctl review");
        return;
    }
    page.table(
        ["week", "tasks", "success", "quality", "stored", "criteria met", "made"],
        list.reviews.iter().map(|one| {
            [
                one.week.to_string(),
                grouped(one.all.tasks),
                percent_if(one.all.success_rate()),
                words::quality(one.all.quality),
                grouped(one.all.stored),
                format!("{} of {}", one.met, one.judged),
                time(one.made_at),
            ]
        }),
    );
    page.gap();
    page.line(faint("Show one: memoryctl review WEEK"));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::verbs::testing::{Fake, shown, written};

    fn arguments() -> Arguments {
        Arguments { week: None, html: None, open: false, list: false }
    }

    #[test]
    fn a_page_is_written_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("review.html");
        let fake = Fake::default().reply::<ReviewOf>(fixture::lively(6));
        let asked = Arguments { html: Some(file.clone()), ..arguments() };
        let (text, outcome) = written(false, |out| run(asked, &fake, out));
        assert!(outcome.is_ok());
        assert_eq!(text, format!("The review of 2026-W05 is in {}\n", file.display()));
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("<!doctype html>"));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_dash_is_standard_output() {
        let fake = Fake::default().reply::<ReviewOf>(fixture::empty());
        let asked = Arguments { html: Some("-".into()), ..arguments() };
        let (text, outcome) = written(false, |out| run(asked, &fake, out));
        assert!(outcome.is_ok());
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
    }

    #[test]
    fn kept_reviews_are_a_table() {
        let reviews = vec![fixture::lively(6).summary(), fixture::empty().summary()];
        let text = shown(|page| list(page, &ReviewList { reviews }));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("week      tasks  success  quality  stored  criteria met  made"));
        assert!(lines[1].starts_with("2026-W05  "), "{text}");
        assert!(lines[2].contains("2026-W05  0      –        –        0       1 of 1"), "{text}");
    }

    #[test]
    fn without_reviews_the_list_says_so() {
        let text = shown(|page| list(page, &ReviewList { reviews: Vec::new() }));
        assert!(text.starts_with("No review is kept yet."), "{text}");
    }
}
