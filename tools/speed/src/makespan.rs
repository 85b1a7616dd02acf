//! Work that waits: resources behind a server that takes its time. How long the program needs from the first request to
//! the last answer, which leaves out its start and its planning, beside the least that anyone could: the longest path
//! of waits, or all waits shared by as many as may be under way.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::tool::Tool;
use crate::watch::Watch;

const RESOURCES: usize = 200;
const AT_A_TIME: usize = 32;
const TRIES: usize = 5;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Makespan {
    pub(crate) resources: usize,
    pub(crate) at_a_time: usize,
    pub(crate) bound_s: f64,
    pub(crate) took_s: Vec<f64>,
}

/// Deploys the work several times.
pub(crate) fn measure(tool: &Tool, folder: &Path) -> Result<Makespan, Failure> {
    let work = Work::new(RESOURCES);
    let mut took_s = Vec::new();
    for _ in 0..TRIES {
        let server = Server::start()?;
        deploy(tool, &work.program(server.port), folder)?;
        took_s.push(server.took_s(RESOURCES)?);
    }
    Ok(Makespan { resources: RESOURCES, at_a_time: AT_A_TIME, bound_s: work.bound_s(AT_A_TIME), took_s })
}

fn deploy(tool: &Tool, program: &str, folder: &Path) -> Result<(), Failure> {
    let stack = folder.join("makespan");
    let home = folder.join("home");
    let failed = |error| Failure::at(&stack, error);
    if stack.exists() {
        fs::remove_dir_all(&stack).map_err(failed)?;
    }
    for folder in [&stack, &home] {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(stack.join("main.tf"), program).map_err(failed)?;
    let mut command = tool.command(&home);
    command.args(["deploy", "--yes", "--stage", "bench", "--parallelism", &AT_A_TIME.to_string()]);
    let output = command.current_dir(&stack).stdin(Stdio::null()).output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("the deploy against a slow server failed: {said}")));
    }
    fs::remove_dir_all(&stack).map_err(failed)
}

/// Resources that each take a while, and some of the earlier ones.
struct Work {
    waits_ms: Vec<u64>,
    after: Vec<Vec<usize>>,
}

impl Work {
    /// Always the same.
    fn new(resources: usize) -> Self {
        let mut chance = Chance(0x5eed);
        let waits_ms = (0..resources).map(|_| 100 + chance.below(401)).collect();
        let after = (0..resources).map(|it| {
            let mut after: Vec<usize> =
                (0..chance.below(3)).filter_map(|_| it.checked_sub(1 + chance.below(40) as usize)).collect();
            after.sort_unstable();
            after.dedup();
            after
        });
        let after = after.collect();
        Work { waits_ms, after }
    }

    fn program(&self, port: u16) -> String {
        let mut text = String::new();
        for (it, (wait_ms, after)) in self.waits_ms.iter().zip(&self.after).enumerate() {
            let after: Vec<String> = after.iter().map(|it| format!("std_http.r{it}.id")).collect();
            let _ = write!(
                text,
                "resource \"std_http\" \"r{it}\" {{\n  create = {{\n    method = \"PUT\"\n    url    = \
                 \"http://127.0.0.1:{port}/{it}/{wait_ms}\"\n    body   = {{ after = [{}] }}\n  }}\n}}\n\n",
                after.join(", ")
            );
        }
        text
    }

    fn bound_s(&self, at_a_time: usize) -> f64 {
        let mut ends: Vec<u64> = Vec::new();
        for (wait_ms, after) in self.waits_ms.iter().zip(&self.after) {
            let begin = after.iter().map(|it| ends[*it]).max().unwrap_or(0);
            ends.push(begin + wait_ms);
        }
        let path = ends.into_iter().max().unwrap_or(0) as f64;
        let shared = self.waits_ms.iter().sum::<u64>() as f64 / at_a_time as f64;
        path.max(shared) / 1e3
    }
}

/// Numbers that look drawn, and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Answers each request after as many milliseconds as its address ends with.
struct Server {
    port: u16,
    seen: Arc<Mutex<Requests>>,
}

/// When requests came and were answered, from when the server was started.
#[derive(Default)]
struct Requests {
    first_s: Option<f64>,
    last_s: f64,
    answered: usize,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let failed = |error| Failure::new(format!("cannot listen on this machine: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let seen = Arc::new(Mutex::new(Requests::default()));
        let (shared, watch) = (seen.clone(), Watch::start());
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let shared = shared.clone();
                // A connection that breaks off fails the deploy, which says so.
                std::thread::spawn(move || serve(&connection, &shared, watch));
            }
        });
        Ok(Server { port, seen })
    }

    fn took_s(&self, answered: usize) -> Result<f64, Failure> {
        let seen = self.seen.lock().map_err(|_| Failure::new("the slow server broke down"))?;
        match seen.first_s {
            Some(first_s) if seen.answered == answered => Ok(seen.last_s - first_s),
            _ => Err(Failure::new(format!("{} requests were sent, not {answered}", seen.answered))),
        }
    }
}

fn serve(connection: &TcpStream, shared: &Mutex<Requests>, watch: Watch) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    while let Some((object, wait_ms)) = request(&mut reader)? {
        let came_s = watch.elapsed().as_secs_f64();
        wait(Duration::from_millis(wait_ms));
        let body = format!("{{\"id\":\"{object}\"}}");
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if let Ok(mut seen) = shared.lock() {
            seen.first_s = Some(seen.first_s.map_or(came_s, |first| first.min(came_s)));
            seen.last_s = seen.last_s.max(watch.elapsed().as_secs_f64());
            seen.answered += 1;
        }
        let mut connection = connection;
        connection.write_all(answer.as_bytes())?;
    }
    Ok(())
}

/// The object and the wait that a request names; nothing at the end of the connection.
fn request(reader: &mut impl BufRead) -> std::io::Result<Option<(String, u64)>> {
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let mut parts = path.trim_start_matches('/').split('/');
    let object = parts.next().unwrap_or_default().to_owned();
    Ok(Some((object, parts.next().and_then(|it| it.parse().ok()).unwrap_or(0))))
}

#[expect(clippy::disallowed_methods, reason = "a server that takes its time takes real time")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_longest_path_or_the_shared_work() {
        let work = Work { waits_ms: vec![100, 200, 300], after: vec![vec![], vec![0], vec![]] };
        assert_eq!(work.bound_s(3), 0.3);
        assert_eq!(work.bound_s(1), 0.6);
    }

    #[test]
    fn a_request_is_read_to_its_end() {
        let text = "PUT /7/120 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcPUT /8/1 HTTP/1.1\r\n\r\n";
        let mut reader = text.as_bytes();
        let read: Vec<_> = std::iter::from_fn(|| request(&mut reader).expect("it is text")).collect();
        assert_eq!(read, [("7".to_owned(), 120), ("8".to_owned(), 1)]);
    }
}
