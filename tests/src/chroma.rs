//! A real Chroma server, in a process of its own, and Python's own client for it.
//!
//! Both need a Python with `chromadb`: that of `MEMORYD_PYTHON`, else `python` beside the executables of this build
//! (`.ci/run` puts it there), else the system's. Where there is none, tests say so and pass by, unless
//! `MEMORYD_DEMANDS` has `chroma`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::demanded;

/// Serves until nobody holds its standard input any more.
const SERVE: &str = r#"
import os, sys, threading
import chromadb_rust_bindings
def leave():
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=leave, daemon=True).start()
chromadb_rust_bindings.cli(["chroma", "run", "--path", sys.argv[1], "--host", "127.0.0.1", "--port", sys.argv[2]])
"#;

/// A Chroma server. It ends when it is dropped, or with the process of the test.
pub struct Chroma {
    child: Child,
    _alive: ChildStdin,
    port: u16,
    data: PathBuf,
    _own: Option<TempDir>,
}

/// The Python that has `chromadb`; none where there is none.
///
/// # Panics
/// When there is none and it is demanded.
pub fn python() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let named = std::env::var_os("MEMORYD_PYTHON").map(PathBuf::from);
        let own = std::env::current_exe().unwrap();
        let built = own.ancestors().skip(2).take(2).map(|target| target.join("python/bin/python"));
        let candidates = named.into_iter().chain(built).chain([PathBuf::from("python3")]);
        let works = |python: &PathBuf| {
            let tried = Command::new(python).args(["-c", "import chromadb_rust_bindings"]).output();
            tried.is_ok_and(|output| output.status.success())
        };
        candidates.into_iter().find(works)
    });
    if found.is_none() {
        demanded("chroma", "no Python here has chromadb, which a real Chroma server needs: see .ci/run");
    }
    found.as_deref()
}

impl Chroma {
    /// A server on an empty directory; none where there is no Python for it.
    pub fn start() -> Option<Self> {
        let own = tempfile::Builder::new().prefix("chroma-").tempdir_in("/tmp").unwrap();
        let data = own.path().to_owned();
        Self::serve(&data, free_port(), Some(own))
    }

    /// A server on a directory, at a port. It answers when this returns.
    pub fn on(data: &Path, port: u16) -> Option<Self> {
        Self::serve(data, port, None)
    }

    fn serve(data: &Path, port: u16, own: Option<TempDir>) -> Option<Self> {
        let mut child = Command::new(python()?)
            .args(["-c", SERVE])
            .arg(data)
            .arg(port.to_string())
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let alive = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening on address") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "the Chroma server ended before it answered");
        }
        // It says so a moment before.
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "the Chroma server ended before it answered");
            std::thread::yield_now();
        }
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Some(Self { child, _alive: alive, port, data: data.to_owned(), _own: own })
    }

    /// The server that the tests of this process share; each with a database of its own.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Chroma>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A new database in it.
    #[must_use]
    pub fn database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("database_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.post("/api/v2/tenants/default_tenant/databases", &format!("{{\"name\":\"{name}\"}}"));
        name
    }

    /// A configuration that shares memory through a database of it.
    #[must_use]
    pub fn config(&self, database: &str) -> String {
        shared_at(self.port, database)
    }

    /// Posts a document to it.
    ///
    /// # Panics
    /// When it refuses.
    pub fn post(&self, path: &str, json: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = json.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{json}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 2"), "{path}: {answer}");
    }

    /// Runs a script in Python's own client: `client` is one for a database of it. Returns what it prints.
    ///
    /// # Panics
    /// When it fails.
    pub fn python(&self, database: &str, script: &str) -> String {
        let begin = "import json, chromadb\n";
        let client = format!(
            "client = chromadb.HttpClient(host=\"127.0.0.1\", port={}, database=\"{database}\")\n",
            self.port
        );
        let output = Command::new(python().unwrap())
            .args(["-c", &format!("{begin}{client}{script}")])
            .output()
            .unwrap();
        let failed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{failed}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it at once, and returns its directory and its port.
    pub fn kill(mut self) -> (PathBuf, u16) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.data.clone(), self.port)
    }
}

/// A configuration that shares memory through a database of the server at a port.
#[must_use]
pub fn shared_at(port: u16, database: &str) -> String {
    format!("store = \"chroma\"\n[chroma]\nurl = \"http://127.0.0.1:{port}\"\ndatabase = \"{database}\"\n")
}

/// A port that nobody listens at.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

impl Drop for Chroma {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
