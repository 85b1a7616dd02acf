//! Servers that mean no good: they ask for days, redirect to anywhere, and answer without end. Each ends with an error that
//! says what is wrong, in time, and within a bounded memory.

mod answers;
mod buckets;
mod delays;
mod redirects;

use std::io::{self, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use trueup_cli_harness::{Folder, Told};
use trueup_test_servers::http::Request;

use crate::binary::stack;

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a process may reserve, in KiB: far less than these servers declare.
const MEMORY_KIB_MAX: u64 = 6 * 1024 * 1024;

/// A server that answers with whatever a test writes.
struct Hostile {
    url: String,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Hostile {
    /// Starts one for the rest of the test.
    fn start(answer: impl Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        let (noted, answer) = (asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, answer) = (noted.clone(), answer.clone());
                std::thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    let Ok(request) = Request::read(&mut stream) else { return };
                    noted.lock().unwrap().push(request.clone());
                    // A client that hangs up has had enough.
                    let _ = answer(&request, stream.get_mut());
                });
            }
        });
        Hostile { url, asked }
    }

    /// One that answers every request with these bytes.
    fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_, stream| stream.write_all(&answer))
    }

    /// How often it was asked.
    fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// Writes the same again and again until the client is gone.
fn without_end(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    loop {
        stream.write_all(bytes)?;
    }
}

/// Writes the same byte now and then until the client is gone.
fn dripping(stream: &mut TcpStream, byte: u8) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    loop {
        stream.write_all(&[byte])?;
        // The client has nothing more to say: this passes the time.
        let _ = stream.read(&mut [0]);
    }
}

/// Keeps the connection open until the client is gone.
fn silent(stream: &mut TcpStream) -> io::Result<()> {
    while stream.read(&mut [0])? > 0 {}
    Ok(())
}

/// Runs a command within the memory, and checks that it ends in time; what it said.
#[expect(clippy::disallowed_methods, reason = "it measures a real process")]
fn run(folder: &Folder, arguments: &str, environment: &[(&str, &str)]) -> Told {
    let plain = folder.command(arguments);
    let limited = format!("ulimit -v {MEMORY_KIB_MAX}; exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &limited]).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(folder.path()).env_clear().stdin(std::process::Stdio::null());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let begun = Instant::now();
    let told = Told::of(command.envs(environment.iter().copied()).output().unwrap(), arguments);
    assert!(begun.elapsed() < PATIENCE, "{arguments} takes {:?}: {told:?}", begun.elapsed());
    told
}

/// What was said, without the breaks of its lines.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A data source that asks this address, with more of its attributes, and tries twice.
fn asking(url: &str, more: &str) -> Folder {
    stack(&format!(
        "stack {{\n  retry {{\n    attempts = 2\n    backoff  = \"1ms\"\n  }}\n}}\n\
         data \"std_http\" \"a\" {{\n  url = \"{url}\"\n{more}}}\n\
         output \"size\" {{\n  value = length(data.std_http.a.body)\n}}\n"
    ))
}

/// Checks many rows side by side: most of their time, they wait.
fn each<Row: Send>(rows: impl IntoIterator<Item = Row>, check: impl Fn(Row) + Sync) {
    std::thread::scope(|scope| {
        for row in rows {
            let check = &check;
            scope.spawn(move || check(row));
        }
    });
}
