//! A text with the Base64 and hexadecimal digits in it decoded: they may hold secrets that were encoded before.

use super::views::View;

/// The shortest run of such characters that is decoded: longer than most words, and what a secret of nine characters becomes.
const RUN_LENGTH_MIN: usize = 16;

/// The longest text that is looked through.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// An encoding: the value of a character, how many bits that is, and in how many places a run may begin.
#[derive(Clone, Copy)]
struct Decoder {
    value: fn(u8) -> Option<u8>,
    bits: u32,
    places: usize,
}

const DECODERS: [Decoder; 2] =
    [Decoder { value: base64, bits: 6, places: 4 }, Decoder { value: hexadecimal, bits: 4, places: 2 }];

/// The text with each run of digits decoded, for each encoding and each place within a run where it may begin.
pub(super) fn decoded_views(text: &str) -> Vec<View<'static>> {
    if text.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let views = DECODERS
        .iter()
        .filter(|decoder| decoder.occurs_in(text))
        .flat_map(|decoder| (0..decoder.places).map(|place| decoder.view(text.as_bytes(), place)));
    views.chain(dump_view(text.as_bytes())).collect()
}

/// The text with hexadecimal dumps in it decoded: bytes with something between them, such as `5a:71`, `5a 71`, `5a71 3722`
/// and `0x5a, 0x71`. `None` if there is none.
fn dump_view(text: &[u8]) -> Option<View<'static>> {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    let (mut at, mut found) = (0, false);
    while at < text.len() {
        let dump = dump_at(text, at);
        let length = dump.last().map_or(1, |(last, _)| last + 2 - at);
        // Digits without anything between them are another decoder's.
        if dump.len() * 2 >= RUN_LENGTH_MIN && length > dump.len() * 2 {
            starts.extend(dump.iter().map(|(start, _)| narrow(*start)));
            bytes.extend(dump.iter().map(|(_, byte)| *byte));
            found = true;
        } else {
            starts.extend((at..at + length).map(narrow));
            bytes.extend_from_slice(&text[at..at + length]);
        }
        at += length;
    }
    starts.push(narrow(text.len()));
    found.then(|| View { bytes: bytes.into(), starts: Some(starts) })
}

/// The bytes of a dump that begins at a place, each with the place of its two digits.
fn dump_at(text: &[u8], mut at: usize) -> Vec<(usize, u8)> {
    let mut dump = Vec::new();
    while let Some(byte) = digit_pair(&text[at..]) {
        dump.push((at, byte));
        at += 2;
        let between = text[at..].iter().take(2).take_while(|byte| b" :-.,;\n".contains(byte)).count();
        if digit_pair(&text[at + between..]).is_some() || text[at + between..].starts_with(b"0x") {
            at += between;
        }
        if text[at..].starts_with(b"0x") {
            at += 2;
        }
    }
    dump
}

fn digit_pair(text: &[u8]) -> Option<u8> {
    match text {
        [high, low, ..] => Some(hexadecimal(*high)? << 4 | hexadecimal(*low)?),
        _ => None,
    }
}

impl Decoder {
    /// Whether there is a run to decode.
    fn occurs_in(&self, text: &str) -> bool {
        let mut length = 0;
        text.bytes().any(|byte| {
            length = if (self.value)(byte).is_some() { length + 1 } else { 0 };
            length >= RUN_LENGTH_MIN
        })
    }

    fn view(&self, text: &[u8], place: usize) -> View<'static> {
        let (mut bytes, mut starts) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        let mut at = 0;
        while at < text.len() {
            let run = text[at..].iter().take_while(|byte| (self.value)(**byte).is_some()).count();
            if run < RUN_LENGTH_MIN + place {
                let kept = run.max(1);
                bytes.extend_from_slice(&text[at..at + kept]);
                starts.extend((at..at + kept).map(narrow));
                at += kept;
                continue;
            }
            let decoded = self.decoded(&text[at + place..at + run]);
            // Whatever is found in a run, the run as a whole is what stands for it.
            starts.extend(decoded.iter().map(|_| narrow(at)));
            bytes.extend(decoded);
            at += run;
        }
        starts.push(narrow(text.len()));
        View { bytes: bytes.into(), starts: Some(starts) }
    }

    fn decoded(&self, run: &[u8]) -> Vec<u8> {
        let (mut bits, mut count, mut decoded) = (0_u32, 0, Vec::with_capacity(run.len()));
        for value in run.iter().filter_map(|byte| (self.value)(*byte)) {
            bits = (bits << self.bits | u32::from(value)) & 0xffff;
            count += self.bits;
            if count >= 8 {
                count -= 8;
                decoded.push((bits >> count & 0xff) as u8);
            }
        }
        decoded
    }
}

/// Of either alphabet.
fn base64(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Texts that are looked through are shorter than that.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
