//! A small API with objects, in a process that outlives those it is called by. It keeps the truth, and can end its
//! caller at a chosen request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

/// The server, which runs until the test ends.
#[derive(Clone)]
pub(crate) struct Server {
    url: String,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    things: BTreeMap<u64, Json>,
    next: u64,
    /// How often something was made under each name.
    made: BTreeMap<String, u64>,
    requests: u64,
    blow: Option<Blow>,
}

/// When the caller is ended.
struct Blow {
    /// At which request that changes something, counted from now.
    countdown: u64,
    moment: Moment,
    strike: Box<dyn FnOnce() + Send>,
}

/// Which moment of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// Nothing has happened yet, and nothing will.
    BeforeTheEffect,
    /// It has happened, and nobody hears of it.
    BeforeTheAnswer,
    /// The answer is on its way.
    AfterTheAnswer,
    /// It has happened, and the caller hears of it after the blow.
    BeforeALateAnswer,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let server = Server { url, shared: Arc::default() };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        server
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("no request panics")
    }

    /// A resource of a stack that is an object here, seen as soon as it is there; what changes its kind is replaced.
    pub(crate) fn thing(&self, number: usize, size: u64, kind: u64, depends: &str) -> String {
        let url = &self.url;
        format!(
            r#"resource "std_http" "t{number}" {{
  create {{
    url  = "{url}/things"
    body = {{ name = "{{name}}", size = {size} }}
  }}
  read {{ url = "{url}/things/{{id}}" }}
  update {{
    url  = "{url}/things/{{id}}"
    body = {{ size = {size} }}
  }}
  delete {{ url = "{url}/things/{{id}}" }}
  lookup {{
    url     = "{url}/things?name={{name}}"
    pointer = "/items/0"
  }}
  triggers = {kind}
  consistency_window = 0
{depends}}}
"#
        )
    }

    /// Ends the caller at a request from now on.
    pub(crate) fn strike_at(&self, countdown: u64, moment: Moment, strike: impl FnOnce() + Send + 'static) {
        self.shared().blow = Some(Blow { countdown, moment, strike: Box::new(strike) });
    }

    /// Whether the blow has not fallen; it will not fall any more.
    pub(crate) fn call_off(&self) -> bool {
        self.shared().blow.take().is_some()
    }

    /// The names and sizes of all that exists, by id.
    pub(crate) fn truth(&self) -> BTreeMap<u64, (String, u64)> {
        let named = |it: &Json| {
            (it["name"].as_str().unwrap_or_default().to_owned(), it["size"].as_u64().unwrap_or(0))
        };
        self.shared().things.iter().map(|(id, it)| (*id, named(it))).collect()
    }

    /// The names under which something was made more than once.
    pub(crate) fn doubled(&self) -> Vec<String> {
        self.shared().made.iter().filter(|(_, times)| **times > 1).map(|(name, _)| name.clone()).collect()
    }

    fn serve(&self, stream: TcpStream) {
        let Ok(mut writer) = stream.try_clone() else { return };
        let mut reader = BufReader::new(stream);
        while let Some((method, path, body)) = read_request(&mut reader) {
            let moment = self.moment(&method);
            if moment == Some(Moment::BeforeTheEffect) {
                return self.strike();
            }
            let (status, answer) = self.answer(&method, &path, &body);
            if moment == Some(Moment::BeforeTheAnswer) {
                return self.strike();
            }
            if moment == Some(Moment::BeforeALateAnswer) {
                self.strike();
            }
            let text = answer.to_string();
            let sent = write!(
                writer,
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            );
            if moment == Some(Moment::AfterTheAnswer) {
                return self.strike();
            }
            if sent.is_err() {
                return;
            }
        }
    }

    /// Counts a request that changes something; whether the blow falls at this one.
    fn moment(&self, method: &str) -> Option<Moment> {
        let mut shared = self.shared();
        if method == "GET" {
            return None;
        }
        shared.requests += 1;
        let blow = shared.blow.as_mut()?;
        if blow.countdown > 0 {
            blow.countdown -= 1;
            return None;
        }
        Some(blow.moment)
    }

    fn strike(&self) {
        if let Some(blow) = self.shared().blow.take() {
            (blow.strike)();
        }
    }

    fn answer(&self, method: &str, path: &str, body: &[u8]) -> (u16, Json) {
        let mut shared = self.shared();
        let body: Json = serde_json::from_slice(body).unwrap_or(Json::Null);
        if let Some(name) = path.strip_prefix("/things?name=") {
            let items: Vec<&Json> = shared.things.values().filter(|it| it["name"] == name).collect();
            return if items.is_empty() { (404, json!({})) } else { (200, json!({ "items": items })) };
        }
        let id = path.strip_prefix("/things/").and_then(|id| id.parse::<u64>().ok());
        match (method, id) {
            ("POST", None) => {
                shared.next += 1;
                let id = shared.next;
                let name = body["name"].as_str().unwrap_or_default().to_owned();
                let alive = shared.things.values().any(|it| it["name"] == name.as_str());
                // Nothing keeps a caller from making two under one name; that is what must not happen.
                *shared.made.entry(format!("{name} while it was there: {alive}")).or_default() +=
                    u64::from(alive) * 2;
                let thing = json!({ "id": id, "name": name, "size": body["size"] });
                shared.things.insert(id, thing.clone());
                (201, thing)
            }
            ("GET", Some(id)) => shared.things.get(&id).map_or((404, json!({})), |it| (200, it.clone())),
            ("PUT", Some(id)) => match shared.things.get_mut(&id) {
                Some(thing) => {
                    thing["size"] = body["size"].clone();
                    (200, thing.clone())
                }
                None => (404, json!({})),
            },
            ("DELETE", Some(id)) => match shared.things.remove(&id) {
                Some(_) => (200, json!({})),
                None => (404, json!({})),
            },
            _ => (400, json!({ "error": format!("{method} {path}") })),
        }
    }
}

/// The method, path and body of the next request; `None` when there is none.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((method, path, body))
}
