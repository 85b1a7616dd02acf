//! One request and its answer, after which the connection ends.

use std::io::{self, BufReader, Read, Write};

use serde_json::Value;

use super::transit::Answer;
use crate::http::{Request, write_json};

pub(super) struct Exchange<S: Read + Write> {
    stream: BufReader<S>,
    pub(super) request: Request,
    pub(super) body: Value,
}

impl<S: Read + Write> Exchange<S> {
    pub(super) fn read(stream: S) -> io::Result<Self> {
        let mut stream = BufReader::new(stream);
        let request = Request::read(&mut stream)?;
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        Ok(Exchange { stream, request, body })
    }

    pub(super) fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let Answer { status, body, headers } = answer;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        write_json(self.stream.get_mut(), *status, &headers, &body)
    }
}
