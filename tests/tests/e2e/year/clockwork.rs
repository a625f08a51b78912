//! A daemon of its own process whose clock the test turns.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use chrono::{DateTime, Utc};
use memoryd_client::Client;
use memoryd_proto::{Happening, JobReport, Phase, Watch};
use memoryd_tests::Home;

/// The daemon.
pub struct Clockwork {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    client: Client,
}

impl Clockwork {
    /// Starts it in a home, at an instant, and waits until it serves.
    pub fn start(home: &Home, now: DateTime<Utc>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_turned"))
            .env_clear()
            .env("HOME", home.path())
            .env("MEMORYD_SOCKET", home.socket())
            .env("MEMORYD_DATA_DIR", home.data_dir())
            .env("MEMORYD_CONFIG", home.config_file())
            .env("MEMORYD_NOW", now.to_rfc3339())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut clockwork = Self { child, orders, answers, client: home.client() };
        assert_eq!(clockwork.answer(), "\"ready\"");
        clockwork
    }

    /// A client at its socket.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Turns its clock.
    pub fn turn(&mut self, to: DateTime<Utc>) {
        self.order(&to.to_rfc3339());
        assert_eq!(self.answer(), "\"turned\"");
    }

    /// Lets it run what is due.
    pub fn tend(&mut self) -> Vec<JobReport> {
        self.order("tend");
        let answer = self.answer();
        let reports: Result<Vec<JobReport>, String> = serde_json::from_str(&answer).unwrap();
        reports.unwrap()
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it run what is due, and kills it once a job has made changes and is not done. Whether it came to that.
    pub fn kill_in_a_job(mut self) -> bool {
        let mut next = self.client.call(Watch::default()).unwrap().next;
        self.orders.write_all(b"tend\n").unwrap();
        let (client, answers) = (&self.client, &mut self.answers);
        let in_a_job = std::thread::scope(|scope| {
            let done = scope.spawn(move || answers.read_line(&mut String::new()).unwrap());
            while !done.is_finished() {
                let seen = client.call(Watch { after: Some(next), wait_ms: 20 }).unwrap();
                next = seen.next;
                if seen.events.iter().any(|event| is_changing(&event.what)) {
                    self.child.kill().unwrap();
                    return done.join().unwrap() == 0;
                }
            }
            false
        });
        let _ = self.child.kill();
        self.child.wait().unwrap();
        in_a_job
    }

    fn order(&mut self, order: &str) {
        self.orders.write_all(format!("{order}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

fn is_changing(what: &Happening) -> bool {
    matches!(what, Happening::JobProgress { phase: Phase::Changing, .. })
}
