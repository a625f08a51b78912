//! One client. What is to be compared is measured in turn, so that what disturbs one disturbs the other.

use memoryd::embed::{Embed, Onnx};
use memoryd_proto::{Confidence, Ping, Recall, Remember, Report, Request, frame};

use super::{Row, Stage};
use crate::affinity::OneCore;
use crate::measure::{self, Durations};

pub const ECHO: &str = "raw echo, runtime";
pub const BLOCKING: &str = "raw echo, blocking thread";
pub const PING: &str = "ping";
const ECHO_HERE: &str = "raw echo, runtime, all on one core";
pub const BLOCKING_HERE: &str = "raw echo, blocking thread, all on one core";
pub const PING_HERE: &str = "ping, all on one core";
pub const EMBEDDING: &str = "embedding alone";
pub const FRESH: &str = "recall, fresh text";
pub const CACHED: &str = "recall, embedding cached";
const AGAIN: &str = "recall, embedding cached, at the end of the bench";
pub const REPORT: &str = "report on a recall";
pub const REMEMBER: &str = "remember";

/// How many times as many of the requests that take next to no time.
pub const QUICK: usize = 10;

/// How many of them are made before it is the turn of the next kind.
const BLOCK: usize = 100;

/// Different texts that are asked again and again.
pub const REPEATED: usize = 20;

/// Measures every kind of request.
pub fn measure(stage: &Stage<'_>, model: &Onnx) -> anyhow::Result<Vec<Row>> {
    let client = stage.daemon.client();
    let ask = |text: &str| client.call(Recall::new(stage.agent.clone(), text));

    let [echoed, blocked, pinged] = quick(stage)?;
    let held = OneCore::hold(&[stage.daemon.pid(), stage.echo.pid(), stage.blocking.pid()])?;
    let [echoed_here, blocked_here, pinged_here] = quick(stage)?;
    drop(held);

    let fresh = stage.fresh(stage.requests);
    let [embedded, recalled] = measure::in_turn(
        stage.requests,
        1,
        [&mut |number| Ok(model.embed(&[&fresh[number]]).map(drop)?), &mut |number| {
            Ok(ask(&fresh[number]).map(drop)?)
        }],
    )?;

    let known = &fresh[..REPEATED.min(fresh.len())];
    let cached = measure::one(stage.requests, |number| Ok(ask(&known[number % known.len()]).map(drop)?))?;

    let recalls = fresh.iter().map(|text| Ok((text, ask(text)?))).collect::<anyhow::Result<Vec<_>>>()?;
    let reported = measure::one(recalls.len(), |number| {
        let (task, recalled) = &recalls[number];
        let mut report =
            Report::new(format!("alone-{number}").parse()?, stage.agent.clone(), task, number % 2 == 0);
        report.recall = Some(recalled.recall.clone());
        report.used = recalled.items.iter().take(1).map(|item| item.id.clone()).collect();
        Ok(client.call(report).map(drop)?)
    })?;

    let lessons = stage.fresh(stage.requests);
    let remembered = measure::one(lessons.len(), |number| {
        let confidence = Confidence::new(0.8)?;
        let lesson = Remember::new(stage.agent.clone(), "search_strategy", confidence, &lessons[number]);
        Ok(client.call(lesson).map(drop)?)
    })?;

    Ok([
        (ECHO, echoed),
        (BLOCKING, blocked),
        (PING, pinged),
        (ECHO_HERE, echoed_here),
        (BLOCKING_HERE, blocked_here),
        (PING_HERE, pinged_here),
        (EMBEDDING, embedded),
        (FRESH, recalled),
        (CACHED, cached),
        (REPORT, reported),
        (REMEMBER, remembered),
    ]
    .map(|(name, durations)| Row { name, durations })
    .into())
}

/// The two echo servers and the daemon's ping, in turn.
fn quick(stage: &Stage<'_>) -> anyhow::Result<[Durations; 3]> {
    let message = frame::encode(&Request::from(Ping {}))?;
    let client = stage.daemon.client();
    let (mut echo, mut blocking) = (stage.echo.client()?, stage.blocking.client()?);
    measure::in_turn(
        stage.requests * QUICK,
        BLOCK,
        [&mut |_| echo.call(&message), &mut |_| blocking.call(&message), &mut |_| {
            Ok(client.call(Ping {}).map(drop)?)
        }],
    )
}

/// Asks again what was asked before, once many recalls are on record.
pub fn again(stage: &Stage<'_>) -> anyhow::Result<Row> {
    let client = stage.daemon.client();
    let known: Vec<String> = (0..REPEATED).map(|number| stage.texts.question(number)).collect();
    let ask = |number: usize| {
        Ok(client.call(Recall::new(stage.agent.clone(), &known[number % REPEATED])).map(drop)?)
    };
    measure::one(REPEATED, ask)?;
    Ok(Row { name: AGAIN, durations: measure::one(stage.requests, ask)? })
}
