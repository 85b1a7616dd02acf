//! A small server of HTTP whose answers a test decides. Each connection serves one request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

/// The largest body that is read.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Such as `POST`.
    pub method: String,
    /// The path with its query; the whole address, if the client takes the server for a proxy.
    pub path: String,
    /// The first line and the headers, as they were sent.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Answer {
    /// This status, with a body of JSON.
    Json(u16, String),
    /// None: the connection stays open until the client is gone.
    Silence,
}

/// A server that runs until the process ends.
pub struct HttpServer {
    url: String,
}

impl HttpServer {
    /// Starts a server at a free port. Requests are answered side by side.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap_or_else(|error| panic!("cannot find a free port: {error}"));
        let port = listener.local_addr().map_or(0, |address| address.port());
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = answer.clone();
                // A client that hangs up ends its own exchange and no other.
                std::thread::spawn(move || serve(stream, &*answer));
            }
        });
        HttpServer { url: format!("http://127.0.0.1:{port}") }
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&Request) -> Answer) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = Request::read(&mut stream)?;
    match answer(&request) {
        Answer::Json(status, body) => write_json(stream.get_mut(), status, "", &body),
        Answer::Silence => stream.read(&mut [0]).map(drop),
    }
}

impl Request {
    /// Reads a request.
    pub fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let mut request = Request::default();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            request.head.push_str(&line);
        }
        let mut words = request.head.split_whitespace().map(str::to_owned);
        (request.method, request.path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let length: usize = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        request.body = vec![0; length.min(BODY_BYTES_MAX)];
        stream.read_exact(&mut request.body)?;
        Ok(request)
    }

    /// A header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        headers.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Writes an answer, after which the connection ends. Each line of `headers` ends with `\r\n`.
pub fn write_json(stream: &mut impl Write, status: u16, headers: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} .\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )?;
    stream.flush()
}
