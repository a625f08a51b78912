//! The least that a request over a socket can cost: a server that sends back what it gets.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::ValueEnum;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::arguments::Echo as Kind;
use crate::daemon::Process;

/// The longest message.
const LONGEST: usize = 256;

/// Serves a socket.
pub fn serve(socket: &Path, kind: Kind) -> anyhow::Result<()> {
    match kind {
        Kind::Runtime => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(on_a_runtime(socket))
        }
        Kind::Threads => on_threads(socket),
    }
}

async fn on_a_runtime(socket: &Path) -> anyhow::Result<()> {
    let listener = tokio::net::UnixListener::bind(socket)?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut message = [0; LONGEST];
            while let Ok(read @ 1..) = stream.read(&mut message).await {
                if stream.write_all(&message[..read]).await.is_err() {
                    break;
                }
            }
        });
    }
}

fn on_threads(socket: &Path) -> anyhow::Result<()> {
    for stream in UnixListener::bind(socket)?.incoming() {
        let mut stream = stream?;
        std::thread::spawn(move || {
            let mut message = [0; LONGEST];
            while let Ok(read @ 1..) = stream.read(&mut message) {
                if stream.write_all(&message[..read]).is_err() {
                    break;
                }
            }
        });
    }
    Ok(())
}

/// A running echo server. It is killed when dropped.
pub struct Echo {
    child: Process,
    socket: PathBuf,
}

impl Echo {
    /// Starts a server at `socket`.
    pub fn start(socket: PathBuf, kind: Kind) -> anyhow::Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .arg("echo")
            .arg(&socket)
            .arg(kind.to_possible_value().context("a kind without a name")?.get_name())
            .stdin(Stdio::piped())
            .spawn()
            .context("The echo server cannot be started")?;
        let echo = Self { child: Process(child), socket };
        let started = Instant::now();
        while echo.client().is_err() {
            if started.elapsed() > Duration::from_secs(10) {
                bail!("The echo server does not answer");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(echo)
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// A connection to it.
    pub fn client(&self) -> anyhow::Result<EchoClient> {
        Ok(EchoClient(UnixStream::connect(&self.socket)?))
    }
}

/// A connection to an echo server.
pub struct EchoClient(UnixStream);

impl EchoClient {
    /// Sends `message` and waits until it is back.
    pub fn call(&mut self, message: &[u8]) -> anyhow::Result<()> {
        let mut back = [0; LONGEST];
        self.0.write_all(message)?;
        self.0.read_exact(&mut back[..message.len()])?;
        Ok(())
    }
}
