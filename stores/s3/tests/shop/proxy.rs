//! A server between the store and another server, which does to requests what networks and busy servers do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What happens to a request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Passes,
    /// The server says that it should come more slowly.
    Throttled,
    /// The server fails without doing anything.
    Fails,
    /// It arrives, and the connection breaks before the answer.
    AnswerLost,
    /// The server does it, and says that it failed.
    FailsAfterwards,
    /// It arrives twice; the answer is that to the second.
    Doubled,
}

type Oracle = dyn FnMut(&str) -> Way + Send;

/// Starts a proxy to a server on this machine, which asks by the first line of each request what happens to it. Its port.
pub(crate) fn start(server: u16, way: impl FnMut(&str) -> Way + Send + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let way: Arc<Mutex<Box<Oracle>>> = Arc::new(Mutex::new(Box::new(way)));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let way = way.clone();
            // A client that goes away takes its request with it.
            std::thread::spawn(move || drop(pass_on(client, server, &way)));
        }
    });
    port
}

fn pass_on(mut client: TcpStream, server: u16, way: &Mutex<Box<Oracle>>) -> std::io::Result<()> {
    let (head, body) = request(&client)?;
    let first = head.lines().next().unwrap_or_default().to_owned();
    let way = (way.lock().unwrap())(&first);
    match way {
        Way::Throttled => return client.write_all(&error("503 Slow Down", "SlowDown")),
        Way::Fails => return client.write_all(&error("500 Internal Server Error", "InternalError")),
        Way::Passes | Way::AnswerLost | Way::FailsAfterwards | Way::Doubled => {}
    }
    let mut answer = ask(server, &head, &body)?;
    if way == Way::Doubled {
        answer = ask(server, &head, &body)?;
    }
    match way {
        Way::AnswerLost => Ok(()),
        Way::FailsAfterwards => client.write_all(&error("500 Internal Server Error", "InternalError")),
        _ => client.write_all(&answer),
    }
}

/// The head of a request, without what is said of the connection, and its body.
fn request(client: &TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(said) = lower.strip_prefix("content-length:") {
            length = said.trim().parse().unwrap_or(0);
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head + "Connection: close\r\n\r\n", body))
}

fn ask(server: u16, head: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, server))?;
    server.write_all(head.as_bytes())?;
    server.write_all(body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    Ok(answer)
}

fn error(status: &str, code: &str) -> Vec<u8> {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>");
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}
