//! A server that repeats all it is sent, in every form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use trueup_test_servers::http::{Answer, HttpServer, Request};

use super::finder::json_escaped;
use super::garbled::garbled;

/// A secret that the server issues.
pub(super) const ISSUED: &str = "issu3d-by-the-server-5d41402abc4b2a76";

/// Starts one for the rest of the test. The first part of a path says how it behaves:
///
/// - `/refuse`: every request is refused
/// - `/keep`: requests to delete are refused
/// - `/issue/NAME`: answers hold a token that the request did not
/// - `/issue-broken`: the same in JSON that is cut short
/// - `/issue-text`: the same in text that is no JSON
/// - `/refuse-issue`, `/refuse-issue-broken`: every request is refused with such an answer
/// - `/garbled/FORM/PART`: answers hold what was sent, in that form
/// - `/refuse-garbled/FORM/PART`: every request is refused, quoting what was sent in that form
///
/// All other requests are answered.
pub(super) fn start() -> String {
    HttpServer::start(answer).url().to_owned()
}

fn answer(request: &Request) -> Answer {
    let (head, body) = (&request.head, String::from_utf8_lossy(&request.body));
    let request = format!("{head}\n{body}");
    let path: Vec<&str> = head.split(['/', '?', ' ']).skip(2).collect();
    let (status, answer) = match (path[0], head.starts_with("DELETE")) {
        ("refuse-garbled", _) => (400, format!("bad: {}", sent(&path, head, &body))),
        ("garbled", _) => (200, answered_garbled(&sent(&path, head, &body))),
        ("refuse", _) | ("keep", true) => (400, repeated(&request, &understood(head, &body))),
        ("issue", true) => (400, format!("the token {ISSUED} is in use, so is {ISSUED:?}")),
        ("issue", false) => (200, issued(path[1])),
        ("issue-broken", _) => (200, broken()),
        ("issue-text", _) => (200, format!("access_token={ISSUED}&scope=all")),
        ("refuse-issue", _) => (400, issued("refused")),
        ("refuse-issue-broken", _) => (400, broken()),
        _ => (200, answered(&request)),
    };
    Answer::Json(status, answer)
}

/// What a careless server says of a request that it does not like.
fn repeated(request: &str, understood: &[String]) -> String {
    let bytes = |escape: fn(u8) -> String| request.bytes().map(escape).collect::<String>();
    let json = serde_json::to_string(request).unwrap();
    let percent = bytes(|byte| format!("%{byte:02X}"));
    let hexadecimal = bytes(|byte| format!("{byte:02x}"));
    let entities: String = request.chars().map(|it| format!("&#{};", u32::from(it))).collect();
    let words: Vec<&str> = request.split_whitespace().collect();
    // As some servers show tokens: cut short.
    let cut: Vec<String> = words.iter().map(|word| word.chars().take(word.len() * 2 / 3).collect()).collect();
    let base64 = STANDARD.encode(request);
    format!(
        "bad words: {understood:?}\n{cut:?}\n{base64}\n{hexadecimal}\n{percent}\n{entities}\n{json}\n{}\n{request}\n{words:?}",
        json_escaped(&json)
    )
}

/// The values in a request, as a server sees them that has taken it apart: those of the query, the credentials of the
/// header, and the texts in the JSON document.
fn understood(head: &str, body: &str) -> Vec<String> {
    let query = head.split_whitespace().nth(1).and_then(|path| path.split_once('?')).map_or("", |it| it.1);
    let mut values: Vec<String> =
        query.split('&').filter_map(|pair| Some(unescaped(pair.split_once('=')?.1))).collect();
    for line in head.lines() {
        let Some(credentials) = line.split_once(": Basic ").map(|it| it.1) else { continue };
        let decoded = STANDARD.decode(credentials.trim()).unwrap_or_default();
        let decoded = String::from_utf8_lossy(&decoded).into_owned();
        values.extend(decoded.split_once(':').map(|it| it.1.to_owned()));
    }
    let document: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let mut inner = vec![document];
    while let Some(next) = inner.pop() {
        match next {
            serde_json::Value::String(text) => values.push(text),
            serde_json::Value::Array(items) => inner.extend(items),
            serde_json::Value::Object(entries) => inner.extend(entries.into_iter().map(|it| it.1)),
            _ => {}
        }
    }
    values
}

fn unescaped(text: &str) -> String {
    let text = text.replace('+', " ");
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What such a server answers to one that it likes.
fn answered(request: &str) -> String {
    let words = request.split_whitespace();
    let echo = serde_json::json!({
        "id": "7",
        "echo": request,
        "encoded": STANDARD.encode(request),
        "words": words.clone().collect::<Vec<_>>(),
        "plain": "nothing to hide",
        "by_word": words.map(|word| (word.to_owned(), 1)).collect::<std::collections::BTreeMap<_, _>>(),
    });
    echo.to_string()
}

/// What was sent, in the form that the path names.
fn sent(path: &[&str], head: &str, body: &str) -> String {
    garbled(path[1], path[2], &understood(head, body).concat())
}

fn answered_garbled(sent: &str) -> String {
    serde_json::json!({ "id": "7", "sent": format!("sent: {sent}"), "plain": "nothing to hide" }).to_string()
}

/// An answer that repeats the token that it issues.
fn issued(name: &str) -> String {
    let answer = serde_json::json!({
        "id": format!("{name}-{ISSUED}"),
        "token": ISSUED,
        "url": format!("https://example.com/?token={ISSUED}"),
        "encoded": STANDARD.encode(format!("user:{ISSUED}")),
        "plain": "nothing to hide",
    });
    answer.to_string()
}

/// The same, cut short after the token.
fn broken() -> String {
    let answer = issued("broken");
    let end = answer.rfind("\"url\"").unwrap();
    answer[..end].to_owned()
}
