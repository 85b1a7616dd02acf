//! Where a server sends clients.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Hostile, asking, each, in_one_line, run};

const TOKEN: &str = "t0ken-of-the-header-71c9";
const HEADERS: &str = "  headers = {\n    Authorization = \"Bearer t0ken-of-the-header-71c9\"\n    X-Api-Key     = \"t0ken-of-the-header-71c9\"\n  }\n";

/// What a redirect says of where, by the number of a request.
type Location = fn(usize) -> String;

/// A server that redirects to whatever this says of the number of a request.
fn redirecting(status: u16, location: impl Fn(usize) -> String + Send + Sync + 'static) -> Hostile {
    let count = AtomicUsize::new(0);
    Hostile::start(move |_, stream| {
        let header = location(count.fetch_add(1, Ordering::SeqCst));
        let answer =
            format!("HTTP/1.1 {status} there\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes())
    })
}

/// BOUND-1: redirects without end are followed ten times, and not again.
#[test]
fn redirects_without_end_are_left() {
    let rows: [(&str, Location); 4] = [
        ("a circle", |_| "Location: /\r\n".to_owned()),
        ("a circle of two", |number| format!("Location: /{}\r\n", number % 2)),
        ("a chain", |number| format!("Location: /{number}\r\n")),
        ("a chain that grows", |number| format!("Location: /{}\r\n", "a/".repeat(1000 * number))),
    ];
    let rows = rows.into_iter().flat_map(|row| [301, 302, 303, 307, 308].map(|status| (status, row)));
    each(rows, |(status, (what, location))| {
        let server = redirecting(status, location);
        let told = run(&asking(&server.url, ""), "plan --stage t", &[]);
        assert_eq!(told.code, 1, "{what}: {told:?}");
        assert!(in_one_line(&told.err).contains("it redirects too often"), "{what}: {told:?}");
        assert_eq!(server.times_asked(), 11, "{what} by {status}");
    });
}

/// BOUND-1: what leads elsewhere is not followed, and what leads nowhere is an error.
#[test]
fn redirects_to_elsewhere_are_not_followed() {
    let other = Hostile::saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    let port = other.url.rsplit(':').next().unwrap().to_owned();
    let rows = [
        format!("Location: {}/\r\n", other.url),
        format!("Location: http://localhost:{port}/\r\n"),
        format!("Location: //127.0.0.1:{port}/\r\n"),
        format!("Location: \\\\\\\\127.0.0.1:{port}/\r\n"),
        format!("Location: http://ada:pw@127.0.0.1:{port}/\r\n"),
        format!("Location: https://127.0.0.1:{port}/\r\n"),
        "Location: file:///etc/hostname\r\n".to_owned(),
        "Location: ftp://127.0.0.1/\r\n".to_owned(),
        "Location: gopher://127.0.0.1/\r\n".to_owned(),
        "Location: data:text/plain,no\r\n".to_owned(),
        "Location: javascript:alert(1)\r\n".to_owned(),
        "Location: http://\r\n".to_owned(),
        "Location: http://[\r\n".to_owned(),
        "Location: http://127.0.0.1:99999/\r\n".to_owned(),
        "Location: \u{e4}\u{0}\r\n".to_owned(),
        "Location: http://\u{202e}\u{ff0e}\r\n".to_owned(),
        String::new(),
    ];
    each(rows, |header| {
        let shown = header.clone();
        let server = redirecting(302, move |_| header.clone());
        let told = run(&asking(&server.url, HEADERS), "plan --stage t", &[]);
        assert_eq!(told.code, 1, "{shown:?}: {told:?}");
        let said = in_one_line(&told.err);
        assert!(
            said.contains("was answered with 302") || said.contains("was not answered"),
            "{shown:?}: {said}"
        );
        assert!(!told.err.contains(TOKEN) && server.times_asked() <= 2, "{shown:?}: {said}");
    });
    assert_eq!(other.times_asked(), 0, "nobody else is asked, and gets no header");
}
