//! APIs that show what they made only a while later, and runs that are killed before they hear of it: the number of objects
//! is the judge.
#![allow(clippy::disallowed_methods, reason = "the API lags behind real time")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use trueup_cli_harness::Folder;
use trueup_test_servers::sized;

use crate::binary::stack;

/// How long a new object stays out of sight.
const LAG: Duration = Duration::from_secs(3);

/// An API whose reads come from a replica.
struct Replica {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// When each object was made, and its name.
    things: Mutex<Vec<(Instant, String)>>,
    made: Condvar,
    /// Whether creates are answered.
    silent: Mutex<bool>,
}

impl Replica {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared: Arc<Shared> = Arc::default();
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = serving.clone();
                std::thread::spawn(move || drop(serve(stream, &shared)));
            }
        });
        Replica { url, shared }
    }

    /// A stack with one object here.
    fn stack(&self) -> Folder {
        let url = &self.url;
        stack(&format!(
            r#"
            resource "std_http" "a" {{
              create {{
                url  = "{url}/things"
                body = {{ name = "{{name}}" }}
              }}
              read   {{ url = "{url}/things/{{name}}" }}
              lookup {{ url = "{url}/things/{{name}}" }}
              update {{
                method = "GET"
                url    = "{url}/things/{{name}}"
              }}
            }}
            "#
        ))
    }

    fn objects(&self) -> usize {
        self.shared.things.lock().unwrap().len()
    }

    fn be_silent(&self, silent: bool) {
        *self.shared.silent.lock().unwrap() = silent;
    }

    fn wait_for_an_object(&self) {
        let things = self.shared.things.lock().unwrap();
        drop(self.shared.made.wait_while(things, |things| things.is_empty()).unwrap());
    }
}

/// Serves one request.
fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header)?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(told) = header.strip_prefix("content-length:") {
            length = told.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let asked = first.split_whitespace().nth(1).unwrap_or_default().trim_start_matches("/things/");
    let found = if first.starts_with("POST") {
        let body: serde_json::Value = serde_json::from_slice(&body)?;
        let name = body["name"].as_str().unwrap().to_owned();
        shared.things.lock().unwrap().push((Instant::now(), name));
        shared.made.notify_all();
        if *shared.silent.lock().unwrap() {
            // Until the client is gone.
            return stream.read(&mut [0]).map(drop);
        }
        true
    } else {
        let things = shared.things.lock().unwrap();
        things.iter().any(|(made, name)| name == asked && made.elapsed() >= LAG)
    };
    let (status, text) = if found { (200, r#"{"id": "one"}"#) } else { (404, "{}") };
    let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", text.len());
    stream.get_mut().write_all(head.as_bytes())?;
    stream.get_mut().write_all(text.as_bytes())
}

/// CRASH-1, CRASH-7, INV-2: the run is killed between effect and answer, and the lookup is late.
#[test]
fn a_killed_run_whose_object_is_shown_late_makes_no_second_one() {
    for _ in 0..sized(1, 5) {
        let replica = Replica::start();
        let folder = replica.stack();
        replica.be_silent(true);
        let run = folder.start("deploy --stage t --yes");
        replica.wait_for_an_object();
        run.kill();
        replica.be_silent(false);
        folder.done("deploy --yes");
        assert_eq!(replica.objects(), 1);
        assert!(folder.done("plan").out.contains("No changes"));
    }
}

/// DRIFT-10: the next run reads a replica that has not heard of the object.
#[test]
fn a_replica_that_lags_does_not_make_an_object_gone() {
    let replica = Replica::start();
    let folder = replica.stack();
    // The first run is killed as soon as it has recorded the answer, while it reads back.
    let run = folder.start("deploy --stage t --yes");
    replica.wait_for_an_object();
    while !folder.run("state show std_http.a --stage t").out.contains("one") {}
    run.kill();
    folder.done("deploy --yes");
    assert_eq!(replica.objects(), 1);
}

/// DRIFT-10: what was removed long after it was written is gone at once.
#[test]
fn a_settled_object_that_is_gone_is_not_waited_for() {
    let replica = Replica::start();
    let folder = replica.stack();
    let short = folder.read("main.tf").replace("lookup", "consistency_window = 0.001\nlookup");
    folder.write("main.tf", &short);
    folder.done("deploy --stage t --yes");
    replica.shared.things.lock().unwrap().clear();
    let told = folder.run("plan --json");
    assert!(told.out.contains("drift-recreate"), "{told:?}");
}
