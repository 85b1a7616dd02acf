//! Digests: md5 sha1 sha256 sha512, the same in base64, of files, and uuidv5.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use trueup_core::Value;

use super::filesystem::read_bytes;
use super::{Call, Function, Outcome, Problem, Returns, Wanted, function, param};

const STR: &[super::Parameter] = &[param("str", Wanted::Text)];
const PATH: &[super::Parameter] = &[param("path", Wanted::Text)];

pub(super) const FUNCTIONS: &[Function] = &[
    function("md5", STR, Returns::Text, |call| hex(&Md5::digest(call.text(0)))),
    function("sha1", STR, Returns::Text, |call| hex(&Sha1::digest(call.text(0)))),
    function("sha256", STR, Returns::Text, |call| hex(&Sha256::digest(call.text(0)))),
    function("sha512", STR, Returns::Text, |call| hex(&Sha512::digest(call.text(0)))),
    function("base64sha256", STR, Returns::Text, |call| base64(&Sha256::digest(call.text(0)))),
    function("base64sha512", STR, Returns::Text, |call| base64(&Sha512::digest(call.text(0)))),
    function("filemd5", PATH, Returns::Text, |call| hex(&Md5::digest(read_bytes(call, 0)?))),
    function("filesha1", PATH, Returns::Text, |call| hex(&Sha1::digest(read_bytes(call, 0)?))),
    function("filesha256", PATH, Returns::Text, |call| hex(&Sha256::digest(read_bytes(call, 0)?))),
    function("filesha512", PATH, Returns::Text, |call| hex(&Sha512::digest(read_bytes(call, 0)?))),
    function("filebase64sha256", PATH, Returns::Text, |call| base64(&Sha256::digest(read_bytes(call, 0)?))),
    function("filebase64sha512", PATH, Returns::Text, |call| base64(&Sha512::digest(read_bytes(call, 0)?))),
    function(
        "uuidv5",
        &[param("namespace", Wanted::Text), param("name", Wanted::Text)],
        Returns::Text,
        uuidv5,
    ),
];

#[allow(clippy::unnecessary_wraps)]
fn hex(digest: &[u8]) -> Outcome {
    Ok(Value::string(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

#[allow(clippy::unnecessary_wraps)]
fn base64(digest: &[u8]) -> Outcome {
    Ok(Value::string(BASE64.encode(digest)))
}

fn uuidv5(call: &Call<'_>) -> Outcome {
    // The namespaces of RFC 4122 differ in one byte only.
    let well_known = |byte: u8| {
        [0x6b, 0xa7, 0xb8, byte, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8]
    };
    let namespace = match call.text(0) {
        "dns" => well_known(0x10),
        "url" => well_known(0x11),
        "oid" => well_known(0x12),
        "x500" => well_known(0x14),
        other => parse_uuid(other).ok_or_else(|| {
            Problem::at(0, format!("{} is no UUID", call.shown(other)))
                .hint("give a UUID, or one of dns, url, oid and x500")
        })?,
    };
    let digest = Sha1::new().chain_update(namespace).chain_update(call.text(1)).finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    Ok(Value::string(uuid_text(bytes, 5)))
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|char| *char != '-').collect();
    let dashes = text.len() == 36 && [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
    if !dashes || digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0u8; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

/// The text of a UUID with these bytes, marked as one of this version.
pub(super) fn uuid_text(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
