//! Searches bytes for secrets, by means of its own: what the program scrubs is no measure of what it leaves.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// A piece of a secret gives it away from this length on, or from half of it.
const PIECE_LENGTH_MIN: usize = 12;
const PIECE_LENGTH_ENOUGH: usize = 32;

/// How a secret would show: a name for the form, and the bytes.
fn traces(secret: &str) -> Vec<(&'static str, String)> {
    let json = serde_json::to_string(secret).unwrap();
    let json = json.trim_matches('"').to_owned();
    let twice = serde_json::to_string(&json).unwrap().trim_matches('"').to_owned();
    let bytes = |form: fn(u8) -> String| secret.bytes().map(form).collect::<String>();
    let percent = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let mut traces = vec![
        ("as it is", secret.to_owned()),
        ("JSON", json),
        ("JSON in JSON", twice),
        ("percent", bytes(percent)),
        ("percent throughout", bytes(|byte| format!("%{byte:02x}"))),
        ("hexadecimal", bytes(|byte| format!("{byte:02x}"))),
        ("hexadecimal", bytes(|byte| format!("{byte:02X}"))),
        ("debug", format!("{secret:?}").trim_matches('"').to_owned()),
    ];
    for before in ["", "x", "xx"] {
        for engine in [&STANDARD, &URL_SAFE] {
            let encoded = engine.encode(format!("{before}{secret}"));
            let encoded = encoded.trim_end_matches('=');
            // The ends depend on what stands beside the secret.
            if let Some(middle) = encoded.get(4..encoded.len() - 2).filter(|middle| middle.len() >= 6) {
                traces.push(("base64", middle.to_owned()));
            }
        }
    }
    let length = (secret.len() / 2).clamp(PIECE_LENGTH_MIN, PIECE_LENGTH_ENOUGH);
    let pieces = secret.as_bytes().windows(length).filter_map(|piece| std::str::from_utf8(piece).ok());
    traces.extend(pieces.map(|piece| ("a piece", piece.to_owned())));
    traces
}

/// Secrets to search for.
pub(super) struct Finder(Vec<(String, Vec<(&'static str, String)>)>);

impl Finder {
    pub(super) fn new(secrets: &[&str]) -> Self {
        Finder(secrets.iter().map(|secret| ((*secret).to_owned(), traces(secret))).collect())
    }

    /// The first secret that shows, and how.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<String> {
        self.0.iter().find_map(|(secret, traces)| {
            let found = traces.iter().find(|(_, trace)| contains(bytes, trace.as_bytes()));
            found.map(|(form, trace)| format!("{secret:?} {form}: {trace:?}"))
        })
    }

    /// Fails if a secret shows.
    #[track_caller]
    pub(super) fn assert_absent(&self, place: &str, bytes: &[u8]) {
        if let Some(found) = self.find(bytes) {
            panic!("{place} shows {found}\n{}", String::from_utf8_lossy(bytes));
        }
    }

    /// Fails if a secret shows in a file below a folder.
    #[track_caller]
    pub(super) fn assert_absent_below(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.assert_absent_below(&path);
            } else if let Some(found) = self.find(&std::fs::read(&path).unwrap()) {
                panic!("{} shows {found}", path.display());
            }
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && bytes.windows(part.len()).any(|window| window == part)
}

/// Planted leaks, one of each form.
#[test]
fn planted_leaks_are_found() {
    let secret = "s3cr\"t/of+ä&thing";
    let finder = Finder::new(&[secret]);
    assert_eq!(finder.find(b"nothing is here, not even s3cr"), None);
    for (form, trace) in traces(secret) {
        let leak = format!("...{trace}...");
        assert!(finder.find(leak.as_bytes()).is_some(), "{form}: {leak}");
    }
    for before in ["", "a", "ab", "abc"] {
        let leak = STANDARD.encode(format!("{before}{secret}, and more"));
        assert!(finder.find(leak.as_bytes()).is_some(), "{leak}");
    }
}
