//! A text with the Base64 and hexadecimal digits in it decoded: they may hold secrets that were encoded before.

use super::dumps::dump_views;
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

/// The text with each run of digits decoded, for each encoding and each place within a run where it may begin; the same
/// without its line breaks, if it has any; and with dumps decoded.
pub(super) fn decoded_views(plain: &View<'_>, unwrapped: Option<&View<'_>>) -> Vec<View<'static>> {
    if plain.bytes.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let decoded = |text: &View<'_>| -> Vec<View<'static>> {
        let decoders = DECODERS.iter().filter(|decoder| decoder.occurs_in(&text.bytes));
        decoders.flat_map(|decoder| (0..decoder.places).map(|place| decoder.view(text, place))).collect()
    };
    let mut views = decoded(plain);
    views.extend(unwrapped.into_iter().flat_map(decoded));
    views.extend(dump_views(&plain.bytes));
    views
}

impl Decoder {
    /// Whether there is a run to decode.
    fn occurs_in(&self, text: &[u8]) -> bool {
        let mut length = 0;
        text.iter().any(|byte| {
            length = if (self.value)(*byte).is_some() { length + 1 } else { 0 };
            length >= RUN_LENGTH_MIN
        })
    }

    fn view(&self, view: &View<'_>, place: usize) -> View<'static> {
        let text = &view.bytes;
        let narrow = |at: usize| narrow(view.start(at));
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

pub(super) fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Texts that are looked through are shorter than that.
pub(super) fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
