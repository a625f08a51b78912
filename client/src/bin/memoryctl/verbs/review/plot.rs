//! Drawings of a review, as SVG. Each says in words what it shows, and nothing is told by colour alone.

use std::fmt::Display;

use memoryd_client::proto::{AgentReview, ContextReview, Day, Point};

use super::markup::Markup;
use super::words;
use crate::render::{grouped, percent};

/// A place in a drawing, to a tenth of a unit.
fn at(place: f64) -> String {
    format!("{place:.1}")
}

/// The drawing itself, with its title and what it says.
fn drawing(
    markup: &mut Markup,
    id: &str,
    (width, height): (u32, u32),
    (title, description): (&str, &str),
    draw: impl FnOnce(&mut Markup),
) {
    let (name, about) = (format!("{id}-title"), format!("{id}-about"));
    let names = format!("{name} {about}");
    let view = format!("0 0 {width} {height}");
    let attributes: [(&str, &dyn Display); 3] =
        [("viewBox", &view), ("role", &"img"), ("aria-labelledby", &names)];
    markup.open("svg", &attributes);
    markup.element("title", &[("id", &name)], title).element("desc", &[("id", &about)], description);
    draw(markup);
    markup.close("svg").raw("\n");
}

/// Left, right, top and bottom of the field in which an agent's lines run.
const FIELD: (f64, f64, f64, f64) = (24.0, 216.0, 10.0, 96.0);

/// Success and quality of an agent, week by week. Weeks without tasks are gaps.
pub fn agent(markup: &mut Markup, place: usize, agent: &AgentReview) {
    let told: Vec<String> = agent.weeks.iter().filter(|point| point.tasks > 0).map(told).collect();
    let description = if told.is_empty() { "No tasks.".to_owned() } else { told.join("; ") };
    let title = format!("Success and quality of {} over twelve weeks", agent.agent);
    drawing(markup, &format!("agent-{place}"), (320, 118), (&title, &description), |markup| {
        let (left, right, ..) = FIELD;
        for mark in [0.0, 50.0, 100.0] {
            let y = at(height(mark));
            let class = if mark == 0.0 { "axis" } else { "grid" };
            markup.draw("line", &[("class", &class), ("x1", &left), ("x2", &right), ("y1", &y), ("y2", &y)]);
            let middle = at(height(mark) + 3.5);
            markup.element("text", &[("class", &"tick end"), ("x", &(left - 5.0)), ("y", &middle)], mark);
        }
        if let (Some(first), Some(last)) = (agent.weeks.first(), agent.weeks.last()) {
            let (first, last) = (words::day(first.week.monday()), words::day(last.week.monday()));
            markup.element("text", &[("class", &"tick"), ("x", &left), ("y", &112)], first);
            markup.element("text", &[("class", &"tick end"), ("x", &right), ("y", &112)], last);
        }
        let quality: Vec<Option<f64>> = agent.weeks.iter().map(|point| point.quality).collect();
        let success: Vec<Option<f64>> =
            agent.weeks.iter().map(|point| point.success_rate().map(|rate| 100.0 * rate)).collect();
        line(markup, "quality", &quality);
        line(markup, "success", &success);
        labels(markup, last(&success), last(&quality));
    });
}

fn told(point: &Point) -> String {
    let rate = point.success_rate().map(percent).unwrap_or_default();
    let quality = words::quality(point.quality);
    format!("{}: {} tasks, {rate} succeeded, quality {quality}", point.week, point.tasks)
}

/// How high a value from 0 to 100 stands.
fn height(value: f64) -> f64 {
    let (_, _, top, bottom) = FIELD;
    bottom - (bottom - top) * value / 100.0
}

fn last(values: &[Option<f64>]) -> Option<f64> {
    values.iter().rev().find_map(|value| *value)
}

/// A line through values, broken where there are none, with a dot at each.
fn line(markup: &mut Markup, class: &'static str, values: &[Option<f64>]) {
    let (left, right, ..) = FIELD;
    #[allow(clippy::cast_precision_loss, reason = "there are a dozen weeks")]
    let x = |n: usize| left + 4.0 + (right - left - 8.0) * n as f64 / (values.len().max(2) - 1) as f64;
    let dots: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(n, value)| value.map(|value| (n, height(value)))).collect();
    for run in dots.chunk_by(|(before, _), (after, _)| before + 1 == *after).filter(|run| run.len() > 1) {
        let path: Vec<String> = run.iter().map(|(n, y)| format!("{},{}", at(x(*n)), at(*y))).collect();
        markup.draw("polyline", &[("class", &class), ("points", &path.join(" "))]);
    }
    for (n, y) in dots {
        markup.draw("circle", &[("class", &class), ("cx", &at(x(n))), ("cy", &at(y)), ("r", &"2.4")]);
    }
}

/// Names both lines where they end, one above the other.
fn labels(markup: &mut Markup, success: Option<f64>, quality: Option<f64>) {
    const APART: f64 = 14.0;
    let (Some(success), Some(quality)) = (success, quality) else { return };
    let (_, right, top, bottom) = FIELD;
    let (mut upper, mut lower) = (height(success), height(quality));
    let success_above = upper <= lower;
    if !success_above {
        (upper, lower) = (lower, upper);
    }
    if lower - upper < APART {
        let middle = f64::midpoint(upper, lower).clamp(top + APART / 2.0, bottom - APART / 2.0);
        (upper, lower) = (middle - APART / 2.0, middle + APART / 2.0);
    }
    let (success_y, quality_y) = if success_above { (upper, lower) } else { (lower, upper) };
    for (class, y, text) in [
        ("success", success_y, format!("success {success:.0} %")),
        ("quality", quality_y, format!("quality {quality:.0}")),
    ] {
        markup.element("text", &[("class", &class), ("x", &(right + 6.0)), ("y", &at(y + 4.0))], text);
    }
}

/// The tasks of each day: a bar for those that succeeded, and a hatched one on top for those that failed. Days that have
/// not begun have no number.
pub fn days(markup: &mut Markup, days: &[Day], begun: usize) {
    const BASE: f64 = 122.0;
    const HIGH: f64 = 96.0;
    let most = days.iter().map(|day| day.tasks).max().unwrap_or_default().max(1);
    let told: Vec<String> = days
        .iter()
        .take(begun)
        .map(|day| format!("{}: {} of {} succeeded", day.day.format("%A"), day.succeeded, day.tasks))
        .collect();
    drawing(markup, "days", (336, 146), ("Tasks day by day", &told.join("; ")), |markup| {
        markup.raw(
            "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"5\" height=\"5\"/>\
             <line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"5\"/></pattern></defs>",
        );
        #[allow(clippy::cast_precision_loss, reason = "a bar is drawn to a tenth of a unit")]
        let tall = |tasks: u64| HIGH * tasks as f64 / most as f64;
        let mut x = 0.0;
        for (n, day) in days.iter().enumerate() {
            let (succeeded, failed) = (tall(day.succeeded), tall(day.tasks - day.succeeded));
            let (left, middle) = (at(x + 9.0), at(x + 24.0));
            for (class, y, high) in
                [("bar", BASE - succeeded, succeeded), ("bar failed", BASE - succeeded - failed, failed)]
            {
                if high > 0.0 {
                    markup.draw(
                        "rect",
                        &[
                            ("class", &class),
                            ("x", &left),
                            ("y", &at(y)),
                            ("width", &30),
                            ("height", &at(high)),
                        ],
                    );
                }
            }
            if n < begun {
                let above = at(BASE - succeeded - failed - 6.0);
                let label: [(&str, &dyn Display); 3] =
                    [("class", &"label middle"), ("x", &middle), ("y", &above)];
                let counts = format!("{}/{}", day.succeeded, day.tasks);
                markup.element("text", &label, if day.tasks == 0 { "0" } else { &counts });
            }
            let name = day.day.format("%a");
            markup.element("text", &[("class", &"tick middle"), ("x", &middle), ("y", &140)], name);
            x += 48.0;
        }
        markup.draw(
            "line",
            &[("class", &"axis"), ("x1", &0), ("x2", &336), ("y1", &at(BASE)), ("y2", &at(BASE))],
        );
    });
}

/// How warm a context is: a bar that is full when it is warm, its end of this week set off.
pub fn context(markup: &mut Markup, place: usize, context: &ContextReview) {
    const WIDE: f64 = 336.0;
    let state = &context.state;
    let full = state.warm_from.max(1);
    #[allow(clippy::cast_precision_loss, reason = "a bar is drawn to a tenth of a unit")]
    let long = |count: u64| WIDE * count.min(full) as f64 / full as f64;
    let (all, before) = (long(state.interactions), long(state.interactions.saturating_sub(context.grown)));
    let title = format!("How warm {} is", state.name);
    let about = format!(
        "{} of {full} interactions, {} of them this week",
        grouped(state.interactions),
        context.grown
    );
    drawing(markup, &format!("context-{place}"), (336, 10), (&title, &about), |markup| {
        markup.draw("rect", &[("class", &"track"), ("width", &336), ("height", &10), ("rx", &2)]);
        markup.draw("rect", &[("class", &"bar"), ("width", &at(before)), ("height", &10), ("rx", &2)]);
        if all > before {
            let (from, long) = (at(before), at(all - before));
            markup.draw("rect", &[("class", &"bar new"), ("x", &from), ("width", &long), ("height", &10)]);
        }
    });
}

/// How many improvements have which Q-value.
pub fn q_values(markup: &mut Markup, bins: &[u64]) {
    const BASE: f64 = 112.0;
    const HIGH: f64 = 90.0;
    let most = bins.iter().copied().max().unwrap_or_default().max(1);
    #[allow(clippy::cast_precision_loss, reason = "there are a few dozen bins")]
    let (wide, count) = (336.0 / bins.len().max(1) as f64, bins.len().max(1) as f64);
    let told: Vec<String> = (0_u32..)
        .zip(bins)
        .filter(|(_, some)| **some > 0)
        .map(|(n, some)| format!("{:.2} to {:.2}: {some}", f64::from(n) / count, f64::from(n + 1) / count))
        .collect();
    let title = "How many improvements have which Q-value";
    drawing(markup, "q-values", (336, 136), (title, &told.join("; ")), |markup| {
        let fullest = bins.iter().position(|some| *some == most);
        for (n, some) in bins.iter().enumerate().filter(|(_, some)| **some > 0) {
            #[allow(clippy::cast_precision_loss, reason = "a bar is drawn to a tenth of a unit")]
            let (x, high) = (wide * n as f64, (HIGH * *some as f64 / most as f64).max(1.5));
            let (left, top) = (at(x + 1.0), at(BASE - high));
            markup.draw(
                "rect",
                &[
                    ("class", &"bar"),
                    ("x", &left),
                    ("y", &top),
                    ("width", &at(wide - 2.0)),
                    ("height", &at(high)),
                ],
            );
            if Some(n) == fullest {
                let (middle, above) = (at(x + wide / 2.0), at(BASE - high - 5.0));
                let label: [(&str, &dyn Display); 3] =
                    [("class", &"label middle"), ("x", &middle), ("y", &above)];
                markup.element("text", &label, grouped(*some));
            }
        }
        markup.draw(
            "line",
            &[("class", &"axis"), ("x1", &0), ("x2", &336), ("y1", &at(BASE)), ("y2", &at(BASE))],
        );
        for (class, x, text) in [
            ("tick", 0, "0 never helps"),
            ("tick middle", 168, "0.5 start"),
            ("tick end", 336, "always helps 1"),
        ] {
            markup.element("text", &[("class", &class), ("x", &x), ("y", &130)], text);
        }
    });
}

/// The share of uses that succeeded.
pub fn record(markup: &mut Markup, id: &str, successes: u64, uses: u64) {
    #[allow(clippy::cast_precision_loss, reason = "a bar is drawn to a tenth of a unit")]
    let long = 72.0 * successes as f64 / uses.max(1) as f64;
    let about = format!("{successes} of {uses} uses succeeded");
    drawing(markup, id, (72, 8), ("Record", &about), |markup| {
        markup.draw("rect", &[("class", &"track"), ("width", &72), ("height", &8), ("rx", &2)]);
        markup.draw("rect", &[("class", &"bar"), ("width", &at(long)), ("height", &8), ("rx", &2)]);
    });
}
