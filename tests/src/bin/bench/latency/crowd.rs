//! Many clients at the same time, each with a connection of its own.

use memoryd_proto::{Confidence, Ping, Recall, Remember, Report, Request, frame};

use super::alone::{BLOCKING, CACHED, ECHO, FRESH, PING, QUICK, REMEMBER, REPEATED, REPORT};
use super::{CROWD, Row, Stage};
use crate::echo::Echo;
use crate::measure;

/// Measures every kind of request.
pub fn measure(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    // Each client makes the same number of requests.
    let requests = stage.requests.next_multiple_of(CROWD);
    let (daemon, agent) = (stage.daemon, &stage.agent);

    let message = frame::encode(&Request::from(Ping {}))?;
    let echoing = |echo: &Echo| {
        measure::many(CROWD, requests * QUICK, |_| {
            let (mut client, message) = (echo.client()?, &message);
            Ok(move |_| client.call(message))
        })
    };
    let (echoed, blocked) = (echoing(stage.echo)?, echoing(stage.blocking)?);
    let pinged = measure::many(CROWD, requests * QUICK, |_| {
        let client = daemon.client();
        client.greet()?;
        Ok(move |_| Ok(client.call(Ping {}).map(drop)?))
    })?;

    let fresh = stage.fresh(requests);
    let asking = |texts: &[String]| {
        let texts = texts.to_vec();
        measure::many(CROWD, requests, move |_| {
            let (client, texts) = (daemon.client(), texts.clone());
            client.greet()?;
            Ok(move |number: usize| {
                let text = &texts[number % texts.len()];
                Ok(client.call(Recall::new(agent.clone(), text)).map(drop)?)
            })
        })
    };
    let recalled = asking(&fresh)?;
    let cached = asking(&fresh[..REPEATED.min(fresh.len())])?;

    let client = daemon.client();
    let recalls = fresh
        .iter()
        .map(|text| Ok((text, client.call(Recall::new(agent.clone(), text))?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let reported = measure::many(CROWD, requests, |_| {
        let (client, recalls) = (daemon.client(), &recalls);
        client.greet()?;
        Ok(move |number: usize| {
            let (task, recalled) = &recalls[number];
            let mut report = Report::new(
                format!("crowd-{number}").parse()?,
                agent.clone(),
                task,
                number.is_multiple_of(2),
            );
            report.recall = Some(recalled.recall.clone());
            report.used = recalled.items.iter().take(1).map(|item| item.id.clone()).collect();
            Ok(client.call(report).map(drop)?)
        })
    })?;

    let lessons = stage.fresh(requests);
    let remembered = measure::many(CROWD, requests, |_| {
        let (client, lessons) = (daemon.client(), &lessons);
        client.greet()?;
        Ok(move |number: usize| {
            let confidence = Confidence::new(0.8)?;
            let lesson = Remember::new(agent.clone(), "search_strategy", confidence, &lessons[number]);
            Ok(client.call(lesson).map(drop)?)
        })
    })?;

    Ok([
        (ECHO, echoed),
        (BLOCKING, blocked),
        (PING, pinged),
        (FRESH, recalled),
        (CACHED, cached),
        (REPORT, reported),
        (REMEMBER, remembered),
    ]
    .map(|(name, durations)| Row { name, durations })
    .into())
}
