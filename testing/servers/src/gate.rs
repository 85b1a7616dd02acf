//! A server between a client and a server of HTTP that can hold one exchange in its middle, so that a test acts while it is
//! under way: before the server has heard of it, or after it was carried out and before the client knows.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a test waits for what it wants to hold: whoever should ask for it has failed before that.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// What is held of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// The request: the server never hears of it.
    Request,
    /// The answer: the server has carried it out.
    Answer,
}

/// Where an exchange that is to be held stands.
#[derive(Default)]
struct State {
    /// What the next request to be held contains, and what of it is held.
    awaited: Option<(String, Held)>,
    /// One is held.
    is_held: bool,
    /// Counts what was to be held: what is held when the next one is awaited never goes on.
    round: u64,
}

/// A running gate; it serves until the process ends.
pub struct Gate {
    port: u16,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Gate {
    /// Stands before a port of this machine, and lets everything pass.
    ///
    /// # Panics
    /// If there is no port to serve at.
    pub fn before(upstream: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap_or_else(|error| panic!("cannot find a free port: {error}"));
        let port = listener.local_addr().map_or(0, |address| address.port());
        let shared: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let serving = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = serving.clone();
                // A client that hangs up ends its own exchange and no other.
                std::thread::spawn(move || serve(client, upstream, &shared));
            }
        });
        Gate { port, shared }
    }

    /// Where it answers.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The next request that contains a text is held. What is held already never goes on.
    pub fn hold(&self, text: &str, held: Held) {
        self.with(|state| {
            let awaited = Some((text.to_owned(), held));
            *state = State { awaited, is_held: false, round: state.round + 1 };
        });
    }

    /// Waits until one is held.
    ///
    /// # Panics
    /// If nobody asks for it.
    pub fn wait(&self) {
        let (state, changed) = &*self.shared;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(state, WAIT_MAX, |state| !state.is_held);
        let timeout = waited.unwrap_or_else(PoisonError::into_inner).1;
        assert!(!timeout.timed_out(), "nobody asked for what was to be held");
    }

    /// Lets what is held go on.
    pub fn release(&self) {
        self.with(|state| state.is_held = false);
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        let (state, changed) = &*self.shared;
        change(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }
}

fn serve(client: TcpStream, upstream: u16, shared: &(Mutex<State>, Condvar)) -> io::Result<()> {
    let mut requests = BufReader::new(client.try_clone()?);
    let mut client = client;
    while let Some(request) = read_message(&mut requests, Some(&mut client), false)? {
        let held = chosen(shared, &request);
        if held == Some(Held::Request) {
            hold(shared)?;
        }
        let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream))?;
        server.write_all(&request)?;
        let bodiless = request.starts_with(b"HEAD ");
        let answer = read_message(&mut BufReader::new(server), None, bodiless)?;
        if held == Some(Held::Answer) {
            hold(shared)?;
        }
        client.write_all(&answer.ok_or(io::ErrorKind::UnexpectedEof)?)?;
    }
    Ok(())
}

/// What of this request is to be held, if it is the awaited one; no other is, then.
fn chosen(shared: &(Mutex<State>, Condvar), request: &[u8]) -> Option<Held> {
    let mut state = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
    let (text, held) = state.awaited.as_ref()?;
    let held = String::from_utf8_lossy(request).contains(text).then_some(*held)?;
    state.awaited = None;
    Some(held)
}

/// Holds the exchange of this thread until it is released, or is to go on no more.
fn hold(shared: &(Mutex<State>, Condvar)) -> io::Result<()> {
    let (state, changed) = shared;
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.is_held = true;
    let round = state.round;
    changed.notify_all();
    let waited = changed.wait_while(state, |state| state.is_held && state.round == round);
    match waited.unwrap_or_else(PoisonError::into_inner).round == round {
        true => Ok(()),
        false => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

/// A whole message: of a known length, or in chunks. Whoever asks whether to go on with the body is told to.
fn read_message(
    stream: &mut impl BufRead,
    sender: Option<&mut TcpStream>,
    bodiless: bool,
) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    while !message.ends_with(b"\r\n\r\n") {
        if stream.read_until(b'\n', &mut message)? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&message).to_ascii_lowercase();
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if header("expect:") == Some("100-continue")
        && let Some(sender) = sender
    {
        sender.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if bodiless {
        return Ok(Some(message));
    }
    if let Some(length) = header("content-length:").and_then(|length| length.parse::<u64>().ok()) {
        stream.take(length).read_to_end(&mut message)?;
    } else if header("transfer-encoding:") == Some("chunked") {
        let begin = message.len();
        while !message[begin..].ends_with(b"0\r\n\r\n") {
            if stream.read_until(b'\n', &mut message)? == 0 {
                return Ok(None);
            }
        }
    }
    Ok(Some(message))
}
