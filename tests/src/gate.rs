//! A gate before a server: it lets everything through, or answers in its place.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What becomes of a connection.
#[derive(Clone, Debug)]
pub enum Pass {
    /// It goes through to the server.
    Through,
    /// It is answered this.
    Answer(String),
    /// It is answered nothing, and kept.
    Silence,
}

/// A gate before a server at a port of this machine.
pub struct Gate {
    port: u16,
    state: Arc<Mutex<State>>,
}

struct State {
    pass: Pass,
    open: Vec<TcpStream>,
}

impl Gate {
    /// A gate before the server at `port`, which lets everything through.
    pub fn before(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let own = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { pass: Pass::Through, open: Vec::new() }));
        let kept = state.clone();
        // It ends with the process.
        std::thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let mut state = kept.lock().unwrap();
                state.open.push(caller.try_clone().unwrap());
                match &state.pass {
                    Pass::Through => {
                        if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                            state.open.push(server.try_clone().unwrap());
                            join(&caller, &server);
                        }
                    }
                    Pass::Silence => {}
                    Pass::Answer(answer) => {
                        let answer = answer.clone();
                        std::thread::spawn(move || answered(caller, &answer));
                    }
                }
            }
        });
        Self { port: own, state }
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on connections are treated so. Those that are open are closed.
    pub fn set(&self, pass: Pass) {
        let mut state = self.state.lock().unwrap();
        state.pass = pass;
        for stream in state.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Lets bytes pass both ways.
fn join(one: &TcpStream, other: &TcpStream) {
    for (from, to) in [(one, other), (other, one)] {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

/// Reads the head of a request, and answers it.
fn answered(mut caller: TcpStream, answer: &str) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match caller.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let _ = caller.write_all(answer.as_bytes());
    let _ = caller.shutdown(Shutdown::Write);
    let _ = std::io::copy(&mut caller, &mut std::io::sink());
}
