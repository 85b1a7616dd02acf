//! What a server answers.

use std::io::{self, Write};
use std::net::TcpStream;

use super::{Hostile, asking, dripping, each, in_one_line, run, silent, without_end};

type Answer = fn(&mut TcpStream) -> io::Result<()>;

static MEBIBYTE: [u8; 1 << 20] = [b'x'; 1 << 20];
const TOO_LARGE: &str = "the answer has more than 4 MiB";
const TOO_SLOW: &str = "no answer within 1 s";
const NONE: &str = "was not answered";

const CHUNKED: &str = "HTTP/1.1 200 .\r\nTransfer-Encoding: chunked\r\n\r\n";
const BEGUN: &str = "HTTP/1.1 200 .\r\na: ";

fn mebibytes(stream: &mut TcpStream) -> io::Result<()> {
    without_end(stream, &MEBIBYTE)
}

fn closed(_: &mut TcpStream) -> io::Result<()> {
    Ok(())
}

/// Answers that are of no use: how each begins and goes on, and what is said of it.
const BROKEN: [(&str, &str, Answer, &str); 24] = [
    ("20 GB declared, none sent", "HTTP/1.1 200 .\r\nContent-Length: 20000000000\r\n\r\n", silent, TOO_SLOW),
    (
        "20 GB declared and sent",
        "HTTP/1.1 200 .\r\nContent-Length: 20000000000\r\n\r\n",
        mebibytes,
        TOO_LARGE,
    ),
    ("no length", "HTTP/1.1 200 .\r\n\r\n", mebibytes, TOO_LARGE),
    (
        "chunks without end",
        CHUNKED,
        |it| without_end(it, &[&b"1000\r\n"[..], &MEBIBYTE[..0x1000], b"\r\n"].concat()),
        TOO_LARGE,
    ),
    ("a refusal without end", "HTTP/1.1 400 .\r\n\r\n", mebibytes, TOO_LARGE),
    (
        "a chunk of 16 EB",
        CHUNKED,
        |it| it.write_all(b"fffffffffffffff0\r\n").and_then(|()| mebibytes(it)),
        TOO_LARGE,
    ),
    ("a chunk beyond all numbers", CHUNKED, |it| it.write_all(b"fffffffffffffffff\r\n"), NONE),
    ("a negative chunk", CHUNKED, |it| it.write_all(b"-1\r\n"), NONE),
    (
        "a size of a chunk without end",
        CHUNKED,
        |it| it.write_all(b"8").and_then(|()| without_end(it, b";x")),
        NONE,
    ),
    (
        "trailers without end",
        CHUNKED,
        |it| it.write_all(b"0\r\n").and_then(|()| without_end(it, b"a: b\r\n")),
        NONE,
    ),
    ("a header without end", BEGUN, mebibytes, NONE),
    ("headers without end", "HTTP/1.1 200 .\r\n", |it| without_end(it, b"a: b\r\n"), NONE),
    ("a status without end", "HTTP/1.1 200 ", mebibytes, NONE),
    ("provisional answers without end", "", |it| without_end(it, b"HTTP/1.1 100 Continue\r\n\r\n"), TOO_SLOW),
    ("a body that drips", "HTTP/1.1 200 .\r\n\r\n", |it| dripping(it, b'x'), TOO_SLOW),
    ("chunks that drip", CHUNKED, |it| dripping(it, b'0'), TOO_SLOW),
    ("a header that drips", BEGUN, |it| dripping(it, b'x'), TOO_SLOW),
    ("silence", "", silent, TOO_SLOW),
    ("nothing", "", closed, NONE),
    ("less than declared", "HTTP/1.1 200 .\r\nContent-Length: 10\r\n\r\n12345", closed, NONE),
    ("two lengths", "HTTP/1.1 200 .\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n123", closed, NONE),
    ("a negative length", "HTTP/1.1 200 .\r\nContent-Length: -1\r\n\r\n123", closed, NONE),
    ("another protocol", "SSH-2.0-OpenSSH_9.6\r\n\r\n", closed, NONE),
    ("noise", "\0\u{1b}\r\n\r\n\u{80}", closed, NONE),
];

/// BOUND-2, BOUND-1: each is an error that says so, and the process neither hangs nor fills the memory.
#[test]
fn answers_of_no_use_are_errors() {
    each(BROKEN, |(what, head, goes_on, expected)| {
        let server = Hostile::start(move |_, stream| {
            stream.write_all(head.as_bytes())?;
            goes_on(stream)
        });
        let timeout = if expected == TOO_SLOW { "  timeout = 1\n" } else { "" };
        let told = run(&asking(&server.url, timeout), "plan --stage t", &[]);
        assert_eq!(told.code, 1, "{what}: {told:?}");
        assert!(in_one_line(&told.err).contains(expected), "{what}: {}", told.err);
        // The same question has the same answer, so that one that is too large is asked once.
        assert_eq!(server.times_asked(), if expected == TOO_LARGE { 1 } else { 2 }, "{what}");
    });
}

/// BOUND-2: what is odd and harmless is taken as it was sent, and not unpacked.
#[test]
fn odd_answers_are_taken_as_they_are() {
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let sized = |more: &str, body: &str| {
        format!("HTTP/1.1 200 .\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    };
    let rows = [
        (
            "more than declared",
            "HTTP/1.1 200 .\r\nContent-Length: 2\r\nConnection: close\r\n\r\n1234567".to_owned(),
            2,
        ),
        ("said to be packed", sized("Content-Encoding: gzip\r\n", "no gzip"), 7),
        ("said to be packed twice", sized("Content-Encoding: gzip, br\r\n", "neither"), 7),
        ("JSON that nests", sized("", &nested), nested.len()),
        ("a large number", sized("", "[1e999999999, 1e-999999999]"), 27),
        ("a long number", sized("", &"9".repeat(1_000_000)), 1_000_000),
        ("no text at all", sized("", "\u{0}\u{1b}[2J\u{fffe}"), 6),
        ("one answer after another", sized("", "1") + &sized("", "22"), 1),
    ];
    each(rows, |(what, answer, length)| {
        let server = Hostile::saying(answer);
        let told = run(&asking(&server.url, ""), "deploy --stage t --yes --json", &[]);
        assert_eq!(told.code, 0, "{what}: {told:?}");
        assert!(told.out.contains(&format!("\"size\":{length}")), "{what}: {length} in {}", told.out.len());
    });
}
