//! `memoryctl notes improve`: what could be done better, going by recent work (spec M13).

use memoryd_client::proto::{ShortcomingKind, ShortcomingList};

use crate::render::{Page, clean, count, faint, notable};

pub(super) fn render(page: &mut Page, reply: &ShortcomingList) {
    let looked =
        format!("{} in {}", count(reply.tasks, "task", "tasks"), count(reply.days.into(), "day", "days"));
    if reply.points.is_empty() {
        page.line(format_args!("Nothing stands out: {looked}."));
    }
    let mut kind = None;
    for point in &reply.points {
        if kind.replace(point.kind) != Some(point.kind) {
            page.heading(heading(point.kind));
        }
        page.prose("- ", &point.said);
        page.line(faint(format_args!("  {}", clean(&point.sources.join(", ")))));
    }
    for unread in &reply.unread {
        page.line(notable(format_args!("not read: {}", clean(unread))));
    }
    if !reply.points.is_empty() {
        page.gap();
        page.line(faint(format_args!("Going by {looked}. What is reusable is worth `memoryctl log`.")));
    }
}

fn heading(kind: ShortcomingKind) -> &'static str {
    match kind {
        ShortcomingKind::TaskType => "Tasks that fail",
        ShortcomingKind::Weakness => "Weaknesses that come back",
        ShortcomingKind::Repeated => "Lessons that did not stick",
        ShortcomingKind::Misleading => "Lessons that did not help",
    }
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::Shortcoming;

    use super::*;
    use crate::verbs::testing::shown;

    #[test]
    fn m13_each_shortcoming_cites_its_sources() {
        let point = |kind, said: &str, sources: &[&str]| Shortcoming {
            kind,
            said: said.to_owned(),
            sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        };
        let reply = ShortcomingList {
            days: 14,
            tasks: 5,
            points: vec![
                point(ShortcomingKind::TaskType, "2 of 3 debug tasks failed.", &["evaluation e1 of ada"]),
                point(ShortcomingKind::Repeated, "Put right 2 times: Use tabs", &["/t/c.md:9", "/t/c.md:5"]),
                point(ShortcomingKind::Repeated, "Came up 2 times: Ask", &["/t/c.md:1"]),
            ],
            unread: vec!["/t/x.md is no UTF-8 text".to_owned()],
        };
        assert_eq!(
            shown(|page| render(page, &reply)),
            "\
Tasks that fail
- 2 of 3 debug tasks failed.
  evaluation e1 of ada

Lessons that did not stick
- Put right 2 times: Use tabs
  /t/c.md:9, /t/c.md:5
- Came up 2 times: Ask
  /t/c.md:1
not read: /t/x.md is no UTF-8 text

Going by 5 tasks in 14 days. What is reusable is worth `memoryctl log`.
"
        );
        let none = ShortcomingList { days: 1, ..ShortcomingList::default() };
        assert_eq!(shown(|page| render(page, &none)), "Nothing stands out: 0 tasks in 1 day.\n");
    }
}
