//! A small REST API on loopback: things with a name and a size.
//!
//! It serves one connection after another in the order they come, so that whatever a client sent before it was cut off
//! has happened, or never will, when its next request is served.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

/// What happens to a request instead of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is answered so, and nothing is done.
    Status(u16, &'static str),
    /// It is done, and answered so.
    Refused(u16, &'static str),
    /// It is done, and the connection is closed without an answer.
    LostAnswer,
    /// It is done, and never answered: the connection stays until the client gives up.
    Silence,
    /// It is answered with this many bytes.
    Flood(usize),
}

#[derive(Default)]
pub(crate) struct Api {
    pub(crate) things: BTreeMap<u64, Json>,
    /// What was asked: method, path, and body if there was one.
    pub(crate) requests: Vec<String>,
    /// All headers, in order.
    pub(crate) headers: Vec<String>,
    faults: BTreeMap<&'static str, VecDeque<Fault>>,
    tokens: BTreeMap<String, u64>,
    next: u64,
    /// How many reads a new thing takes to become ready.
    pub(crate) reads_until_ready: u64,
    pub(crate) ends_as: &'static str,
}

pub(crate) struct Server {
    pub(crate) url: String,
    api: Arc<Mutex<Api>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::serving(|stream, api| drop(serve(stream, api)), "http")
    }

    /// The same, behind TLS with this certificate.
    pub(crate) fn start_encrypted(cert_pem: &str, key_pem: &str) -> Self {
        use rustls::pki_types::pem::PemObject;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};
        let cert = CertificateDer::from_pem_slice(cert_pem.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(vec![cert], key).unwrap());
        let encrypted = move |stream: TcpStream, api: &Mutex<Api>| {
            let session = rustls::ServerConnection::new(config.clone()).unwrap();
            drop(serve(rustls::StreamOwned::new(session, stream), api));
        };
        Self::serving(encrypted, "https")
    }

    fn serving(serve: impl Fn(TcpStream, &Mutex<Api>) + Send + 'static, scheme: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let api = Arc::new(Mutex::new(Api { ends_as: "ready", ..Api::default() }));
        let shared = api.clone();
        // It ends with the process: nothing outlives the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &shared);
            }
        });
        Server { url, api }
    }

    pub(crate) fn api(&self) -> MutexGuard<'_, Api> {
        self.api.lock().unwrap()
    }

    /// Makes the next request of this method go so.
    pub(crate) fn fault(&self, method: &'static str, fault: Fault) {
        self.api().faults.entry(method).or_default().push_back(fault);
    }

    /// What was asked since this was last asked.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.api().requests)
    }

    /// The things there are, without their ids.
    pub(crate) fn sizes(&self) -> Vec<String> {
        self.api().things.values().map(|thing| thing["size"].to_string()).collect()
    }

    pub(crate) fn shared(&self) -> Arc<Mutex<Api>> {
        self.api.clone()
    }
}

/// Serves one request.
fn serve(stream: impl Read + Write, api: &Mutex<Api>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        match line.trim() {
            "" => break,
            header => headers.push(header.to_owned()),
        }
    }
    let header = |name: &str| {
        let own = headers.iter().filter_map(|it| it.split_once(": "));
        own.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
    };
    let length = header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let fault = {
        let mut api = api.lock().unwrap();
        api.requests.push(format!("{method} {path} {body}").trim().to_owned());
        api.headers.extend(headers.iter().cloned());
        api.faults.get_mut(method).and_then(VecDeque::pop_front)
    };
    if let Some(Fault::Status(status, header)) = fault {
        let answer =
            format!("HTTP/1.1 {status} X\r\n{header}Connection: close\r\nContent-Length: 5\r\n\r\nfault");
        return stream.get_mut().write_all(answer.as_bytes());
    }
    let (status, answer) = api.lock().unwrap().answer(method, path, &body, header("idempotency-key"));
    if let Some(Fault::Refused(status, header)) = fault {
        let answer =
            format!("HTTP/1.1 {status} X\r\n{header}Connection: close\r\nContent-Length: 5\r\n\r\nfault");
        return stream.get_mut().write_all(answer.as_bytes());
    }
    let answer = match fault {
        Some(Fault::LostAnswer) => return Ok(()),
        Some(Fault::Silence) => {
            // Until the client gives up.
            let _ = stream.read(&mut [0]);
            return Ok(());
        }
        Some(Fault::Flood(bytes)) => format!("\"{}\"", "x".repeat(bytes)),
        _ if answer.is_null() => String::new(),
        _ => answer.to_string(),
    };
    let length = answer.len();
    let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    stream.get_mut().write_all(head.as_bytes())?;
    stream.get_mut().write_all(answer.as_bytes())?;
    stream.get_mut().flush()
}

impl Api {
    fn answer(&mut self, method: &str, path: &str, body: &str, token: Option<String>) -> (u16, Json) {
        let body: Json = serde_json::from_str(body).unwrap_or(Json::Null);
        let id = path.strip_prefix("/things/").and_then(|id| id.parse::<u64>().ok());
        match (method, id) {
            ("POST", _) => {
                let known = token.as_ref().and_then(|token| self.tokens.get(token)).copied();
                let id = known.unwrap_or_else(|| self.make(body));
                self.tokens.extend(token.map(|token| (token, id)));
                (201, self.things.get(&id).cloned().unwrap_or_default())
            }
            ("GET", None) => {
                let name = path.split_once("?name=").map_or("", |(_, name)| name);
                let found: Vec<&Json> = self.things.values().filter(|it| it["name"] == name).collect();
                (200, json!({ "items": found }))
            }
            (_, Some(id)) if self.things.contains_key(&id) => self.act(method, id, &body),
            _ => (404, json!({ "error": "no such thing" })),
        }
    }

    fn make(&mut self, body: Json) -> u64 {
        self.next += 1;
        let mut thing = body;
        thing["id"] = json!(self.next);
        thing["reads_left"] = json!(self.reads_until_ready);
        thing["status"] = json!(if self.reads_until_ready == 0 { self.ends_as } else { "starting" });
        self.things.insert(self.next, thing);
        self.next
    }

    fn act(&mut self, method: &str, id: u64, body: &Json) -> (u16, Json) {
        let ends_as = self.ends_as;
        let Some(thing) = self.things.get_mut(&id) else { return (404, Json::Null) };
        match method {
            "PUT" => {
                thing["size"] = body["size"].clone();
                (200, thing.clone())
            }
            "DELETE" => {
                self.things.remove(&id);
                (204, Json::Null)
            }
            _ => {
                let left = thing["reads_left"].as_u64().unwrap_or(0);
                if left > 0 {
                    thing["reads_left"] = json!(left - 1);
                }
                if left == 1 {
                    thing["status"] = json!(ends_as);
                }
                (200, thing.clone())
            }
        }
    }
}
