//! A server that repeats all it is sent, in every form.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Starts one for the rest of the test. Paths that begin with `/refuse` are refused, all others answered.
pub(super) fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(serve(stream)));
        }
    });
    url
}

fn serve(stream: TcpStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = told.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let request = format!("{head}\n{}", String::from_utf8_lossy(&body));
    let refused = head.split(' ').nth(1).is_some_and(|path| path.starts_with("/refuse"));
    let (status, answer) = match refused {
        true => ("400 Bad Request", repeated(&request)),
        false => ("200 OK", answered(&request)),
    };
    let length = answer.len();
    write!(
        stream.get_mut(),
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
    )
}

/// What a careless server says of a request that it does not like.
fn repeated(request: &str) -> String {
    let json = serde_json::to_string(request).unwrap();
    let percent = request.bytes().fold(String::new(), |mut percent, byte| {
        let _ = write!(percent, "%{byte:02X}");
        percent
    });
    let hexadecimal = percent.replace('%', "").to_lowercase();
    let words: Vec<&str> = request.split_whitespace().collect();
    // As some servers show tokens: cut short.
    let cut: Vec<String> = words.iter().map(|word| word.chars().take(word.len() * 2 / 3).collect()).collect();
    let base64 = STANDARD.encode(request);
    format!("bad words: {cut:?}\n{base64}\n{hexadecimal}\n{percent}\n{json}\n{request}\n{words:?}")
}

/// What such a server answers to one that it likes.
fn answered(request: &str) -> String {
    let echo = serde_json::json!({
        "id": "7",
        "echo": request,
        "encoded": STANDARD.encode(request),
        "words": request.split_whitespace().collect::<Vec<_>>(),
        "plain": "nothing to hide",
        "by_word": request.split_whitespace().map(|word| (word.to_owned(), 1)).collect::<std::collections::BTreeMap<_, _>>(),
    });
    echo.to_string()
}
