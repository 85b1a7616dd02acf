//! The transit engine: keys with versions, tokens with policies, and the documented errors.

use std::collections::{BTreeMap, VecDeque};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use serde_json::{Value, json};

const NONCE_LENGTH: usize = 12;
const TOO_OLD: &str = "ciphertext or signature version is disallowed by policy (too old)";

/// The engine, and everything that a test wants to know of it or change about it.
pub struct Engine {
    keys: BTreeMap<String, TransitKey>,
    /// Each token with the paths that it may use; `None` for all of them.
    tokens: BTreeMap<String, Option<Vec<String>>>,
    /// Nobody gets anything until it is unsealed.
    pub sealed: bool,
    /// The namespace in which the engine is mounted.
    pub namespace: Option<String>,
    /// The answers to the next requests, whatever they are.
    pub next_answers: VecDeque<Answer>,
    /// The method and path of each request.
    pub requests: Vec<String>,
    /// All that was encrypted or decrypted.
    pub plaintexts: Vec<Vec<u8>>,
}

struct TransitKey {
    versions: Vec<[u8; 32]>,
    min_decryption_version: usize,
    deletion_allowed: bool,
    derived: bool,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The document; null for an empty body.
    pub body: Value,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

impl Answer {
    fn data(data: &Value) -> Self {
        Answer { status: 200, body: json!({ "data": data }), headers: Vec::new() }
    }

    /// A refusal in Vault's form.
    pub fn refusal(status: u16, errors: &[&str]) -> Self {
        Answer { status, body: json!({ "errors": errors }), headers: Vec::new() }
    }

    /// The same with another header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Engine {
    pub(super) fn new(root_token: &str) -> Self {
        Engine {
            keys: BTreeMap::new(),
            tokens: [(root_token.to_owned(), None)].into(),
            sealed: false,
            namespace: None,
            next_answers: VecDeque::new(),
            requests: Vec::new(),
            plaintexts: Vec::new(),
        }
    }

    /// Makes a token that may use these paths, such as `transit/decrypt/trueup`, and nothing else.
    pub fn allow(&mut self, token: &str, paths: &[&str]) {
        self.tokens.insert(token.to_owned(), Some(paths.iter().map(|path| (*path).to_owned()).collect()));
    }

    pub(super) fn answer(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        namespace: Option<&str>,
        body: &Value,
    ) -> Answer {
        self.requests.push(format!("{method} {path}"));
        if let Some(answer) = self.next_answers.pop_front() {
            return answer;
        }
        if self.sealed {
            return Answer::refusal(503, &["Vault is sealed"]);
        }
        match token.and_then(|token| self.tokens.get(token)) {
            Some(None) => {}
            Some(Some(paths)) if paths.iter().any(|allowed| allowed == path) => {}
            Some(Some(_)) => return Answer::refusal(403, &["1 error occurred:\n\t* permission denied\n\n"]),
            None => {
                let told = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";
                return Answer::refusal(403, &[told]);
            }
        }
        let segments: Vec<&str> = path.split('/').collect();
        if namespace != self.namespace.as_deref() || segments[0] != "transit" {
            let told = format!("no handler for route \"{path}\". route entry not found.");
            return Answer::refusal(404, &[&told]);
        }
        self.route(method, &segments[1..], body)
    }

    fn route(&mut self, method: &str, segments: &[&str], body: &Value) -> Answer {
        match (method, segments) {
            ("POST" | "PUT", ["keys", name]) => self.create(name, body),
            ("GET", ["keys", name]) => self.describe(name),
            ("POST" | "PUT", ["keys", name, "rotate"]) => self.with_key(name, |key| {
                key.versions.push(random());
                Answer::data(&json!({ "latest_version": key.versions.len() }))
            }),
            ("POST" | "PUT", ["keys", name, "config"]) => self.with_key(name, |key| key.configure(body)),
            ("DELETE", ["keys", name]) => self.delete(name),
            ("POST" | "PUT", ["encrypt", name]) => self.encrypt(name, body),
            ("POST" | "PUT", ["decrypt", name]) => self.decrypt(name, body),
            ("POST" | "PUT", ["rewrap", name]) => match self.opened(name, body) {
                Ok(plaintext) => self.encrypt(name, &json!({ "plaintext": BASE64.encode(plaintext) })),
                Err(refusal) => refusal,
            },
            _ => Answer::refusal(405, &["unsupported operation"]),
        }
    }

    fn create(&mut self, name: &str, body: &Value) -> Answer {
        let derived = body["derived"].as_bool().unwrap_or(false);
        let key = TransitKey {
            versions: vec![random()],
            min_decryption_version: 1,
            deletion_allowed: false,
            derived,
        };
        self.keys.entry(name.to_owned()).or_insert(key);
        self.describe(name)
    }

    fn describe(&self, name: &str) -> Answer {
        let Some(key) = self.keys.get(name) else { return Answer::refusal(404, &[]) };
        Answer::data(&json!({
            "name": name, "type": "chacha20-poly1305", "supports_encryption": true, "derived": key.derived,
            "latest_version": key.versions.len(), "min_decryption_version": key.min_decryption_version,
        }))
    }

    fn with_key(&mut self, name: &str, change: impl FnOnce(&mut TransitKey) -> Answer) -> Answer {
        self.keys.get_mut(name).map_or_else(not_found, change)
    }

    fn delete(&mut self, name: &str) -> Answer {
        if self.keys.get(name).is_some_and(|key| !key.deletion_allowed) {
            return Answer::refusal(400, &["error deleting policy: deletion is not allowed for this key"]);
        }
        self.keys.remove(name);
        Answer { status: 204, body: Value::Null, headers: Vec::new() }
    }

    /// As the real one does for a token that may create, it makes a key that is not there.
    fn encrypt(&mut self, name: &str, body: &Value) -> Answer {
        if !self.keys.contains_key(name) {
            self.create(name, &Value::Null);
        }
        let Some(plaintext) = body["plaintext"].as_str().and_then(|text| BASE64.decode(text).ok()) else {
            return Answer::refusal(400, &["failed to base64-decode plaintext"]);
        };
        let key = &self.keys[name];
        if key.derived {
            return Answer::refusal(400, &["missing 'context' for key derivation"]);
        }
        let (version, nonce) = (key.versions.len(), random::<NONCE_LENGTH>());
        let cipher = ChaCha20Poly1305::new((&key.versions[version - 1]).into());
        let sealed = cipher.encrypt(&Nonce::from(nonce), plaintext.as_slice()).expect("it is short");
        self.plaintexts.push(plaintext);
        let text = format!("vault:v{version}:{}", BASE64.encode([&nonce[..], &sealed].concat()));
        Answer::data(&json!({ "ciphertext": text, "key_version": version }))
    }

    fn decrypt(&mut self, name: &str, body: &Value) -> Answer {
        match self.opened(name, body) {
            Ok(plaintext) => {
                let answer = Answer::data(&json!({ "plaintext": BASE64.encode(&plaintext) }));
                self.plaintexts.push(plaintext);
                answer
            }
            Err(refusal) => refusal,
        }
    }

    fn opened(&self, name: &str, body: &Value) -> Result<Vec<u8>, Answer> {
        let refused = |told: &str| Answer::refusal(400, &[told]);
        let key = self.keys.get(name).ok_or_else(not_found)?;
        let text = body["ciphertext"].as_str().unwrap_or_default();
        let rest = text.strip_prefix("vault:v").ok_or_else(|| refused("invalid ciphertext: no prefix"))?;
        let parts = rest.split_once(':').and_then(|(version, sealed)| {
            Some((version.parse::<usize>().ok()?, BASE64.decode(sealed).ok()?))
        });
        let (version, sealed) =
            parts.ok_or_else(|| refused("invalid ciphertext: could not decode base64"))?;
        if version < key.min_decryption_version {
            return Err(refused(TOO_OLD));
        }
        let own = version.checked_sub(1).and_then(|index| key.versions.get(index));
        let own = own.ok_or_else(|| refused("invalid ciphertext: version is too new"))?;
        let (nonce, sealed) =
            sealed.split_first_chunk::<NONCE_LENGTH>().ok_or_else(|| refused("invalid ciphertext"))?;
        let opened = ChaCha20Poly1305::new(own.into()).decrypt(&Nonce::from(*nonce), sealed);
        opened.map_err(|_| refused("chacha20poly1305: message authentication failed"))
    }
}

impl TransitKey {
    fn configure(&mut self, body: &Value) -> Answer {
        if let Some(version) = body["min_decryption_version"].as_u64() {
            self.min_decryption_version = usize::try_from(version).unwrap_or(usize::MAX);
        }
        self.deletion_allowed = body["deletion_allowed"].as_bool().unwrap_or(self.deletion_allowed);
        Answer { status: 204, body: Value::Null, headers: Vec::new() }
    }
}

fn not_found() -> Answer {
    Answer::refusal(400, &["encryption key not found"])
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}
