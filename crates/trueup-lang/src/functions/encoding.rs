//! Encodings: base64decode base64encode base64gzip csvdecode jsondecode jsonencode textdecodebase64 textencodebase64
//! urlencode yamldecode yamlencode.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use flate2::Compression;
use flate2::write::GzEncoder;
use trueup_core::Value;

use super::{Call, Function, Outcome, Problem, Returns, Wanted, function, nullable, param};
use super::{csv, json, yaml, yaml_write};

/// Bits that are left over in the last character do not matter.
const LENIENT_BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

const STR: &[super::Parameter] = &[param("str", Wanted::Text)];

pub(super) const FUNCTIONS: &[Function] = &[
    function("base64decode", STR, Returns::Text, base64decode),
    function("base64encode", STR, Returns::Text, |call| Ok(Value::string(BASE64.encode(call.text(0))))),
    function("base64gzip", STR, Returns::Text, base64gzip),
    function("csvdecode", STR, Returns::Any, csv::csvdecode),
    function("jsondecode", STR, Returns::Any, json::jsondecode),
    function("jsonencode", &[nullable("val")], Returns::Text, json::jsonencode).with_unknown(),
    function(
        "textdecodebase64",
        &[param("source", Wanted::Text), param("encoding", Wanted::Text)],
        Returns::Text,
        textdecodebase64,
    ),
    function(
        "textencodebase64",
        &[param("string", Wanted::Text), param("encoding", Wanted::Text)],
        Returns::Text,
        textencodebase64,
    ),
    function("urlencode", STR, Returns::Text, urlencode),
    function("yamldecode", &[param("src", Wanted::Text)], Returns::Any, yaml::yamldecode),
    function("yamlencode", &[nullable("value")], Returns::Text, yaml_write::yamlencode),
];

fn decoded(call: &Call<'_>) -> Result<Vec<u8>, Problem> {
    // Line breaks within are no mistake.
    let text: String = call.text(0).chars().filter(|char| !matches!(char, '\r' | '\n')).collect();
    LENIENT_BASE64.decode(text).map_err(|_| Problem::at(0, "this is no base64"))
}

fn base64decode(call: &Call<'_>) -> Outcome {
    String::from_utf8(decoded(call)?).map(Value::string).map_err(|_| {
        Problem::at(0, "what is encoded here is not UTF-8 text")
            .hint("other encodings are read by `textdecodebase64`")
    })
}

fn base64gzip(call: &Call<'_>) -> Outcome {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(call.text(0).as_bytes()).and_then(|()| encoder.finish());
    match written {
        Ok(bytes) => Ok(Value::string(BASE64.encode(bytes))),
        Err(error) => Err(Problem::new(format!("cannot compress: {error}"))),
    }
}

/// The encodings that are known.
#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16 {
        big_endian: bool,
    },
    /// With a mark of its order at the beginning.
    Utf16Marked,
    /// One byte per character, up to this one.
    Latin {
        last: u8,
    },
    Windows1252,
    /// One of the encodings of the web.
    Other(&'static encoding_rs::Encoding),
}

/// What the bytes 0x80 to 0x9f stand for in windows-1252; the gaps stand for nothing.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn encoding(call: &Call<'_>) -> Result<Encoding, Problem> {
    let name = call.text(1).to_ascii_lowercase().replace('_', "-");
    match name.as_str() {
        "utf-8" | "utf8" => Ok(Encoding::Utf8),
        "utf-16le" => Ok(Encoding::Utf16 { big_endian: false }),
        "utf-16be" => Ok(Encoding::Utf16 { big_endian: true }),
        "utf-16" => Ok(Encoding::Utf16Marked),
        "iso-8859-1" | "latin1" | "l1" | "iso-ir-100" | "cp819" | "ibm819" => {
            Ok(Encoding::Latin { last: 0xff })
        }
        "us-ascii" | "ascii" => Ok(Encoding::Latin { last: 0x7f }),
        "windows-1252" | "cp1252" => Ok(Encoding::Windows1252),
        _ => {
            let found = encoding_rs::Encoding::for_label(call.text(1).as_bytes());
            // Others can be read but not written.
            let found = found.filter(|found| found.output_encoding() == *found);
            found.map(Encoding::Other).ok_or_else(|| {
                Problem::at(1, format!("the encoding {} is not known", call.shown(call.text(1)))).hint(
                    "known are UTF-8, UTF-16, ISO-8859-1 to -16, windows-1250 to -1258, Shift_JIS, EUC-JP, GB18030, \
                     Big5, EUC-KR, KOI8-R and others of the web",
                )
            })
        }
    }
}

fn textencodebase64(call: &Call<'_>) -> Outcome {
    let encoding = encoding(call)?;
    let text = call.text(0);
    let bytes: Option<Vec<u8>> = match encoding {
        Encoding::Utf8 => Some(text.as_bytes().to_vec()),
        Encoding::Utf16 { big_endian } => Some(utf16(text, big_endian)),
        Encoding::Utf16Marked => Some([vec![0xfe, 0xff], utf16(text, true)].concat()),
        Encoding::Other(other) => {
            let (bytes, _, unmappable) = other.encode(text);
            (!unmappable).then(|| bytes.into_owned())
        }
        Encoding::Latin { last } => {
            text.chars().map(|char| u8::try_from(u32::from(char)).ok().filter(|byte| *byte <= last)).collect()
        }
        Encoding::Windows1252 => text
            .chars()
            .map(|char| match WINDOWS_1252.iter().position(|known| *known == char) {
                Some(at) => u8::try_from(0x80 + at).ok(),
                None => u8::try_from(u32::from(char)).ok().filter(|byte| !(0x80..0xa0).contains(byte)),
            })
            .collect(),
    };
    match bytes {
        Some(bytes) => Ok(Value::string(BASE64.encode(bytes))),
        None => Err(Problem::at(0, "the text holds characters that this encoding does not have")),
    }
}

fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
    let bytes = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
    text.encode_utf16().flat_map(bytes).collect()
}

fn from_utf16(bytes: &[u8], big_endian: bool) -> Option<String> {
    let unit = |pair: &[u8]| match big_endian {
        true => u16::from_be_bytes([pair[0], pair[1]]),
        false => u16::from_le_bytes([pair[0], pair[1]]),
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
    Some(String::from_utf16_lossy(&units)).filter(|_| bytes.len().is_multiple_of(2))
}

fn textdecodebase64(call: &Call<'_>) -> Outcome {
    let encoding = encoding(call)?;
    let bytes = decoded(call)?;
    let text = match encoding {
        Encoding::Utf8 => String::from_utf8(bytes).ok(),
        Encoding::Utf16 { big_endian } => from_utf16(&bytes, big_endian),
        Encoding::Utf16Marked => match bytes.as_slice() {
            [0xff, 0xfe, rest @ ..] => from_utf16(rest, false),
            [0xfe, 0xff, rest @ ..] | rest => from_utf16(rest, true),
        },
        Encoding::Other(other) => Some(other.decode_without_bom_handling(&bytes).0.into_owned()),
        Encoding::Latin { last } => bytes
            .iter()
            .all(|byte| *byte <= last)
            .then(|| bytes.iter().map(|byte| char::from(*byte)).collect()),
        Encoding::Windows1252 => Some(
            bytes
                .iter()
                .map(|byte| match byte {
                    0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
                    other => char::from(*other),
                })
                .collect(),
        ),
    };
    text.map(Value::string).ok_or_else(|| Problem::at(0, "what is encoded here is no text in this encoding"))
}

fn urlencode(call: &Call<'_>) -> Outcome {
    let mut encoded = String::new();
    for byte in call.text(0).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    Ok(Value::string(encoded))
}
