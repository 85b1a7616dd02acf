//! Buckets of states that answer badly.

use std::io::{self, Write};
use std::net::TcpStream;

use trueup_test_servers::http::Request;

use super::{Hostile, each, in_one_line, run, without_end};
use crate::binary::stack;

type Answer = fn(&Request, &mut TcpStream) -> io::Result<()>;

const OBJECT: &str =
    "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nLast-Modified: Thu, 19 Nov 2026 20:00:00 GMT\r\nConnection: close\r\n";
const MISSING: &str = "HTTP/1.1 404 .\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// An object with these headers and this body.
fn object(stream: &mut TcpStream, rest: &str) -> io::Result<()> {
    stream.write_all(OBJECT.as_bytes())?;
    stream.write_all(rest.as_bytes())
}

/// No object, and lists that begin so.
fn list(request: &Request, stream: &mut TcpStream, rest: &str) -> io::Result<()> {
    let is_list = request.path.contains("list-type=2");
    stream.write_all(if is_list { rest.as_bytes() } else { MISSING.as_bytes() })
}

/// One page of a list that goes on.
fn page(request: &Request, stream: &mut TcpStream) -> io::Result<()> {
    let body = "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>true</IsTruncated>\
                <NextContinuationToken>more</NextContinuationToken></ListBucketResult>";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    list(request, stream, &(head + body))
}

const ROWS: [(&str, Answer, &str); 12] = [
    (
        "9 EB declared",
        |_, it| object(it, "Content-Length: 9000000000000000000\r\n\r\n"),
        "the answer has more than 1024 MiB",
    ),
    (
        "20 GB declared",
        |_, it| object(it, "Content-Length: 20000000000\r\n\r\n"),
        "the answer has more than 1024 MiB",
    ),
    ("a list without end", page, "the list has more than 256 pages"),
    (
        "a page of 20 GB",
        |ask, it| list(ask, it, "HTTP/1.1 200 OK\r\nContent-Length: 20000000000\r\n\r\n"),
        "a page of the list has more than 4 MiB",
    ),
    (
        "a page without end",
        |ask, it| {
            list(ask, it, "HTTP/1.1 200 OK\r\n\r\n<?xml version=\"1.0\"?>")?;
            if ask.path.contains("list-type=2") { without_end(it, &[b' '; 65_536]) } else { Ok(()) }
        },
        "a page of the list has more than 4 MiB",
    ),
    (
        "a refusal without end",
        |_, it| {
            it.write_all(b"HTTP/1.1 403 .\r\n\r\n<Error>")?;
            without_end(it, &[b' '; 65_536])
        },
        "an error of the service has more than 1 MiB",
    ),
    (
        "a list that is none",
        |ask, it| list(ask, it, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<<<<<"),
        "cannot list the state",
    ),
    (
        "no time",
        |_, it| it.write_all(b"HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\n{}"),
        "is damaged",
    ),
    (
        "no tag",
        |_, it| {
            it.write_all(b"HTTP/1.1 200 OK\r\nLast-Modified: Thu, 19 Nov 2026 20:00:00 GMT\r\nContent-Length: 2\r\n\r\n{}")
        },
        "cannot",
    ),
    ("an object that is none", |_, it| object(it, "Content-Length: 5\r\n\r\n<<<<<"), "is damaged"),
    (
        "redirects without end",
        |_, it| {
            it.write_all(b"HTTP/1.1 302 .\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        },
        "redirect",
    ),
    (
        "a redirect to a file",
        |_, it| {
            it.write_all(b"HTTP/1.1 302 .\r\nLocation: file:///etc/hostname\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        },
        "the service answers with status 302",
    ),
];

const CREDENTIALS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIA1"),
    ("AWS_SECRET_ACCESS_KEY", "s3cret-of-the-key"),
    ("AWS_SESSION_TOKEN", "t0ken-71c9-5d41"),
];

/// BOUND-2, BOUND-1: each is an error that says so, within a bounded memory.
#[test]
fn buckets_that_answer_badly_are_errors() {
    each(ROWS, |(what, answer, expected)| {
        let server = Hostile::start(answer);
        let address = format!("s3://states/team?endpoint={}", server.url);
        let folder = stack("resource \"terraform_data\" \"a\" {\n}\n");
        let environment = [&CREDENTIALS[..], &[("TRUEUP_STATE", &*address)]].concat();
        let told = run(&folder, "plan --stage t", &environment);
        assert_eq!(told.code, 1, "{what}: {told:?}");
        assert!(in_one_line(&told.err).contains(expected), "{what}: {}", told.err);
        assert!(!told.err.contains("t0ken-71c9") && !told.err.contains("s3cret"), "{what}: {}", told.err);
    });
}
