//! Objects of an emulator's buckets, over plain HTTP without a signature.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

pub(crate) fn put(port: u16, path: &str, bytes: &[u8]) {
    ask(port, "PUT", path, bytes);
}

pub(crate) fn get(port: u16, path: &str) -> Vec<u8> {
    ask(port, "GET", path, &[])
}

/// The keys of all objects in a bucket.
pub(crate) fn list(port: u16, bucket: &str) -> Vec<String> {
    let answer = String::from_utf8(get(port, &format!("/{bucket}?list-type=2"))).unwrap();
    assert!(!answer.contains("<IsTruncated>true"), "too many objects for one answer");
    let keys = answer.split("<Key>").skip(1);
    keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned()).collect()
}

/// The body of the answer.
fn ask(port: u16, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    assert!(head.contains(" 200 "), "{method} {path}: {head}");
    assert!(!head.contains("transfer-encoding"), "{method} {path}: {head}");
    answer.split_off(end + 4)
}
