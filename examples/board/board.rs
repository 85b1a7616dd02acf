//! A notice board behind a small REST API, for the tutorial: `rustc board.rs`, then `./board start FOLDER`.
//!
//! `start` leaves a server behind that shows the files of the folder, and prints its address once it listens;
//! `stop ADDRESS` ends it. Notices are kept in memory, as the JSON objects that came in:
//!
//!     POST   /notices      puts one up
//!     GET    /notices/ID   shows it
//!     PUT    /notices/ID   changes it
//!     DELETE /notices/ID   takes it down
//!     GET    /notices      shows all

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["start", folder] => start(folder),
        ["serve", folder] => serve(Path::new(folder)),
        ["stop", address] => stop(address),
        _ => Err(io::Error::other("usage: board start FOLDER | board stop ADDRESS")),
    }
}

/// Leaves a server behind and prints where it listens.
fn start(folder: &str) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve", folder]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn()?;
    let mut address = String::new();
    BufReader::new(server.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?).read_line(&mut address)?;
    print!("{address}");
    Ok(())
}

fn stop(address: &str) -> io::Result<()> {
    let mut server = TcpStream::connect(address.trim_start_matches("http://"))?;
    server.write_all(b"POST /stop HTTP/1.1\r\n\r\n")?;
    server.read_to_end(&mut Vec::new()).map(|_| ())
}

fn serve(folder: &Path) -> io::Result<()> {
    // Whatever port is free.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}", listener.local_addr()?);
    let mut board = Board { notices: BTreeMap::new(), last: 0 };
    for connection in listener.incoming() {
        let mut connection = connection?;
        let Ok(request) = Request::read(&mut connection) else { continue };
        let (status, kind, body) = match request.path.strip_prefix("/notices") {
            Some(id) => board.answer(&request.method, id.trim_start_matches('/'), &request.body),
            None if request.path == "/stop" => ("200 OK", "text/plain", String::new()),
            None => page(folder, &request.path),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
        let _ = write!(connection, "{head}Connection: close\r\n\r\n{body}");
        if request.path == "/stop" {
            return Ok(());
        }
    }
    Ok(())
}

type Answer = (&'static str, &'static str, String);

const JSON: &str = "application/json";

struct Board {
    notices: BTreeMap<u64, String>,
    last: u64,
}

impl Board {
    fn answer(&mut self, method: &str, id: &str, body: &str) -> Answer {
        let known = id.parse().ok().filter(|id| self.notices.contains_key(id));
        match (method, known) {
            ("POST", None) => {
                self.last += 1;
                self.notices.insert(self.last, body.to_owned());
                ("201 Created", JSON, self.shown(self.last))
            }
            ("PUT", Some(id)) => {
                self.notices.insert(id, body.to_owned());
                ("200 OK", JSON, self.shown(id))
            }
            ("DELETE", Some(id)) => {
                self.notices.remove(&id);
                ("204 No Content", JSON, String::new())
            }
            ("GET", Some(id)) => ("200 OK", JSON, self.shown(id)),
            ("GET", None) if id.is_empty() => {
                let all: Vec<String> = self.notices.keys().map(|id| self.shown(*id)).collect();
                ("200 OK", JSON, format!("[{}]\n", all.join(",\n")))
            }
            _ => ("404 Not Found", JSON, "{}".to_owned()),
        }
    }

    /// A notice with its id.
    fn shown(&self, id: u64) -> String {
        format!("{{\"id\":\"{id}\",{}", self.notices[&id].trim_start_matches('{'))
    }
}

fn page(folder: &Path, path: &str) -> Answer {
    let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    match std::fs::read_to_string(folder.join(name)) {
        Ok(text) if !name.contains("..") => ("200 OK", "text/html; charset=utf-8", text),
        _ => ("404 Not Found", "text/plain", "There is no such page.\n".to_owned()),
    }
}

struct Request {
    method: String,
    path: String,
    body: String,
}

impl Request {
    fn read(connection: &mut TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(connection);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            match header.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Request { method, path, body: String::from_utf8_lossy(&body).into_owned() })
    }
}
