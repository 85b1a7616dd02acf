//! Stands between the provider and the emulator: counts what is under way, and answers some requests as AWS would.
//!
//! The emulators take much that AWS refuses, so what AWS says then is said here, word for word.

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a request is answered with instead of being passed on.
#[derive(Clone)]
pub(crate) struct Fault {
    /// What the request's head or body contains.
    pub(crate) on: String,
    /// How often.
    pub(crate) times: usize,
    pub(crate) answer: Answer,
}

#[derive(Clone)]
pub(crate) enum Answer {
    /// A whole answer.
    Document { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// The request is carried out, and the answer lost.
    Lost,
    /// The request is carried out and answered; of several, the last one is the last that ever is.
    Last,
}

/// A running proxy. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    faults: Arc<Mutex<Vec<Fault>>>,
    heard: Arc<Mutex<Vec<String>>>,
    under_way: Arc<watch::Sender<usize>>,
    up: Arc<Mutex<bool>>,
}

impl Proxy {
    /// Passes on to this port, on the current runtime.
    pub(crate) async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Proxy {
            port: listener.local_addr().unwrap().port(),
            faults: Arc::default(),
            heard: Arc::default(),
            under_way: Arc::new(watch::Sender::new(0)),
            up: Arc::new(Mutex::new(true)),
        };
        let serving = proxy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                // What was sent is carried out, though the sender hangs up: a task of its own.
                tokio::spawn(async move { serving.serve(stream, upstream).await });
            }
        });
        proxy
    }

    /// From now on, requests that contain a text are answered so, so many times.
    pub(crate) fn fault(&self, on: &str, times: usize, answer: Answer) {
        self.faults.lock().unwrap().push(Fault { on: on.to_owned(), times, answer });
    }

    /// From now on every connection is cut, as if nobody were there; or no longer.
    pub(crate) fn set_up(&self, up: bool) {
        *self.up.lock().unwrap() = up;
    }

    /// Everything is cut after so many more requests that contain a text.
    pub(crate) fn go_down_after(&self, on: &str, requests: usize) {
        self.faults.lock().unwrap().push(Fault { on: on.to_owned(), times: requests, answer: Answer::Last });
    }

    /// How many requests so far contained a text.
    pub(crate) fn heard(&self, text: &str) -> usize {
        self.heard.lock().unwrap().iter().filter(|request| request.contains(text)).count()
    }

    /// Waits until all that was sent has been carried out.
    pub(crate) async fn idle(&self) {
        // Whatever was written to a connection is read by its task before this one goes on.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.under_way.subscribe().wait_for(|count| *count == 0).await.unwrap();
    }

    async fn serve(&self, mut client: TcpStream, upstream: u16) -> io::Result<()> {
        let mut server: Option<TcpStream> = None;
        loop {
            let Some(request) = read_message(&mut client).await? else { return Ok(()) };
            if !*self.up.lock().unwrap() {
                return Ok(());
            }
            self.under_way.send_modify(|count| *count += 1);
            let answered = self.answer(&request, &mut server, upstream).await;
            self.under_way.send_modify(|count| *count -= 1);
            match answered? {
                Some(answer) => client.write_all(&answer).await?,
                None => return Ok(()),
            }
        }
    }

    async fn answer(
        &self,
        request: &[u8],
        server: &mut Option<TcpStream>,
        upstream: u16,
    ) -> io::Result<Option<Vec<u8>>> {
        let text = String::from_utf8_lossy(request).into_owned();
        let fault = self.chosen(&text);
        self.heard.lock().unwrap().push(text);
        match fault {
            Some(Answer::Document { status, headers, body }) => {
                let headers: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let length = body.len();
                let answer =
                    format!("HTTP/1.1 {status} .\r\n{headers}content-length: {length}\r\n\r\n{body}");
                Ok(Some(answer.into_bytes()))
            }
            Some(Answer::Lost) => {
                Self::pass_on(request, server, upstream).await?;
                Ok(None)
            }
            Some(Answer::Last) | None => Self::pass_on(request, server, upstream).await.map(Some),
        }
    }

    fn chosen(&self, request: &str) -> Option<Answer> {
        let mut faults = self.faults.lock().unwrap();
        let fault = faults.iter_mut().find(|fault| fault.times > 0 && request.contains(&fault.on))?;
        fault.times -= 1;
        if matches!(fault.answer, Answer::Last) && fault.times == 0 {
            self.set_up(false);
        }
        Some(fault.answer.clone())
    }

    async fn pass_on(request: &[u8], server: &mut Option<TcpStream>, upstream: u16) -> io::Result<Vec<u8>> {
        if let Some(open) = server {
            // A connection that the server closed in the meantime gives no answer.
            if open.write_all(request).await.is_ok()
                && let Ok(Some(answer)) = read_answer(open, request).await
            {
                return Ok(answer);
            }
        }
        let mut fresh = TcpStream::connect(("127.0.0.1", upstream)).await?;
        fresh.write_all(request).await?;
        let answer = read_answer(&mut fresh, request).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        *server = Some(fresh);
        Ok(answer)
    }
}

async fn read_answer(stream: &mut TcpStream, request: &[u8]) -> io::Result<Option<Vec<u8>>> {
    if request.starts_with(b"HEAD ") { read_head(stream).await } else { read_message(stream).await }
}

/// A message up to the end of its head.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    let mut byte = [0];
    while !message.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).await? == 0 {
            return Ok(None);
        }
        message.push(byte[0]);
    }
    Ok(Some(message))
}

/// A whole message: of a known length, or in chunks.
async fn read_message(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let Some(mut message) = read_head(stream).await? else { return Ok(None) };
    let head = String::from_utf8_lossy(&message).to_ascii_lowercase();
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if header("expect:") == Some("100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    if let Some(length) = header("content-length:").and_then(|length| length.parse::<usize>().ok()) {
        let begin = message.len();
        message.resize(begin + length, 0);
        stream.read_exact(&mut message[begin..]).await?;
    } else if header("transfer-encoding:") == Some("chunked") {
        let mut byte = [0];
        let begin = message.len();
        while !message[begin..].ends_with(b"0\r\n\r\n") {
            stream.read_exact(&mut byte).await?;
            message.push(byte[0]);
        }
    }
    Ok(Some(message))
}
