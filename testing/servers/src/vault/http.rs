//! One request and its answer, after which the connection ends.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::Value;

use super::transit::Answer;

/// The largest body that is read.
const BODY_BYTES_MAX: usize = 1024 * 1024;

pub(super) struct Exchange<S: Read + Write> {
    stream: BufReader<S>,
    pub(super) method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl<S: Read + Write> Exchange<S> {
    pub(super) fn read(stream: S) -> io::Result<Self> {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let mut exchange = Exchange { stream, method, path, headers, body: Value::Null };
        let length: usize = exchange.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length.min(BODY_BYTES_MAX)];
        exchange.stream.read_exact(&mut body)?;
        exchange.body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(exchange)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let Answer { status, body, headers } = answer;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let stream = self.stream.get_mut();
        write!(
            stream,
            "HTTP/1.1 {status} .\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )?;
        stream.flush()
    }
}
