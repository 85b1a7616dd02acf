//! A text with its escapes undone, in each of the ways that programs escape: a secret is found whichever characters of it
//! were escaped, and how.

use std::borrow::Cow;

use super::decode::{decoded_views, narrow};

/// A text and, for each of its bytes, the byte of the original text at which it begins.
pub(super) struct View<'t> {
    pub(super) bytes: Cow<'t, [u8]>,
    /// One more than there are bytes: the last is the length of the original. Of the original itself there are none.
    pub(super) starts: Option<Vec<u32>>,
}

/// Undoes the escape at the beginning of a text: the bytes it stands for, and its length.
type Unescape = fn(&[u8]) -> Option<(Vec<u8>, usize)>;

/// The kinds of escapes, each with the character that introduces it.
const ESCAPES: [(u8, Unescape); 5] =
    [(b'\\', backslash), (b'%', percent), (b'+', form), (b'&', entity), (b'=', quoted_printable)];

/// How many views there are at most. Documents contain documents as text, escaped once more each time.
const VIEWS_MAX: usize = 16;

/// How many there are of any text, however long: each kind of escape undone once.
const VIEWS_MIN: usize = 1 + ESCAPES.len();

/// The size from which on there are fewer.
const VIEWED_BYTES: usize = 8 << 20;

/// The text as it is, then without the escapes it contains, in every order of undoing them, and without its line breaks;
/// then with what looks like Base64 or hexadecimal digits decoded. Encoded secrets are [forms](super::forms): so one
/// encoding inside another is found.
pub(super) fn views(text: &str) -> Vec<View<'_>> {
    let mut views = unescaped(text);
    let [unbroken, unwrapped] = [b"".as_slice(), b" "].map(|between| views[0].unwrapped(between));
    let decoded = decoded_views(&views[0], unbroken.as_ref());
    views.extend(unbroken.into_iter().chain(unwrapped).chain(decoded));
    views
}

fn unescaped(text: &str) -> Vec<View<'_>> {
    let plain = View { bytes: text.as_bytes().into(), starts: None };
    let mut views = vec![plain];
    let views_max = (VIEWED_BYTES / text.len().max(1)).clamp(VIEWS_MIN, VIEWS_MAX);
    let mut at = 0;
    while at < views.len() && views.len() < views_max {
        for (lead, unescape) in ESCAPES {
            let unescaped = views[at].without(lead, unescape);
            let new = unescaped.filter(|view| views.iter().all(|other| other.bytes != view.bytes));
            views.extend(new);
        }
        at += 1;
    }
    views
}

impl<'t> View<'t> {
    /// The same with something else in place of line breaks, written as they are or as `\n`, and of the spaces around them:
    /// `base64` and `fold` break long texts. `None` if there are none.
    fn unwrapped(&self, between: &[u8]) -> Option<View<'t>> {
        let text = &self.bytes;
        if !(0..text.len()).any(|at| break_length(&text[at..]) > 0) {
            return None;
        }
        let (mut bytes, mut starts) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        let mut at = 0;
        while at < text.len() {
            let length = break_length(&text[at..]);
            if length == 0 {
                bytes.push(text[at]);
                starts.push(narrow(self.start(at)));
                at += 1;
                continue;
            }
            while bytes.last().is_some_and(|byte| b" \t".contains(byte)) {
                bytes.pop();
                starts.pop();
            }
            bytes.extend(between);
            starts.extend(between.iter().map(|_| narrow(self.start(at))));
            at += length;
            at += text[at..].iter().take_while(|byte| b" \t".contains(byte)).count();
        }
        starts.push(narrow(self.start(at)));
        Some(View { bytes: bytes.into(), starts: Some(starts) })
    }

    /// The range of the original text that a range of this one stands for. Several bytes may stand for one stretch of it.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let last = self.start(end.saturating_sub(1));
        let beyond = match &self.starts {
            Some(starts) if end > start => {
                // Starts never decrease.
                let beyond = end + starts[end..].partition_point(|next| *next as usize <= last);
                starts.get(beyond).or(starts.last()).map_or(last, |next| *next as usize)
            }
            _ => self.start(end),
        };
        (self.start(start), beyond)
    }

    /// The byte of the original text at which a byte of this one begins.
    pub(super) fn start(&self, at: usize) -> usize {
        self.starts.as_ref().map_or(at, |starts| starts[at] as usize)
    }

    /// The same without escapes of one kind; `None` if the character that introduces them does not occur.
    fn without(&self, lead: u8, unescape: Unescape) -> Option<View<'t>> {
        if !self.bytes.contains(&lead) {
            return None;
        }
        let length = self.bytes.len();
        let (mut bytes, mut starts) = (Vec::with_capacity(length), Vec::with_capacity(length + 1));
        let mut at = 0;
        while let Some(byte) = self.bytes.get(at) {
            let start = narrow(self.start(at));
            // Those of forms have two that introduce them.
            let escaped = if [lead, b'%'].contains(byte) { unescape(&self.bytes[at..]) } else { None };
            match escaped {
                Some((plain, length)) => {
                    starts.extend(plain.iter().map(|_| start));
                    bytes.extend(plain);
                    at += length;
                }
                None => {
                    starts.push(start);
                    bytes.push(*byte);
                    at += 1;
                }
            }
        }
        starts.push(narrow(self.start(length)));
        Some(View { bytes: bytes.into(), starts: Some(starts) })
    }
}

/// The length of the line break at the beginning of a text; 0 if there is none.
pub(super) fn break_length(text: &[u8]) -> usize {
    match text {
        [b'\n' | b'\r', ..] => 1,
        [b'\\', b'n' | b'r', ..] => 2,
        _ => 0,
    }
}

/// `%2F`, of URLs.
fn percent(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    match text {
        [b'%', high, low, ..] => Some((vec![hexadecimal(&[*high, *low])? as u8], 3)),
        _ => None,
    }
}

/// `a+b%2F`, of forms.
fn form(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    if text.first() == Some(&b'+') { Some((vec![b' '], 1)) } else { percent(text) }
}

/// `\n`, `\"`, `\x41`, `\101`, `\u0041`, `\u{41}` and `\U00000041`, of JSON and of most languages; `\&`, of shells.
fn backslash(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let [b'\\', kind, rest @ ..] = text else { return None };
    let plain = match kind {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b' ' => *kind,
        _ if kind.is_ascii_punctuation() => *kind,
        b'0'..=b'3' => return Some((vec![octal([*kind, *rest.first()?, *rest.get(1)?])?], 4)),
        b'x' => return Some((vec![hexadecimal(rest.get(..2)?)? as u8], 4)),
        b'u' => return unicode(rest),
        b'U' => return Some((utf8(hexadecimal(rest.get(..8)?)?)?, 10)),
        _ => return None,
    };
    Some((vec![plain], 2))
}

/// What follows `\u`.
fn unicode(digits: &[u8]) -> Option<(Vec<u8>, usize)> {
    if let [b'{', braced @ ..] = digits {
        let length = braced.iter().take(7).position(|byte| *byte == b'}')?;
        return Some((utf8(hexadecimal(&braced[..length])?)?, length + 4));
    }
    let first = hexadecimal(digits.get(..4)?)?;
    if let (0xD800..=0xDBFF, Some([b'\\', b'u', low @ ..])) = (first, digits.get(4..10)) {
        let second = hexadecimal(low)?.checked_sub(0xDC00)?;
        return Some((utf8(0x10000 + ((first - 0xD800) << 10) + second)?, 12));
    }
    Some((utf8(first)?, 6))
}

/// `&amp;` and `&#39;`, of HTML and XML. Browsers read numbers without the semicolon too.
fn entity(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    if let [b'&', b'#', number @ ..] = text {
        let (radix, digits) = match number {
            [b'x' | b'X', digits @ ..] => (16, digits),
            digits => (10, digits),
        };
        let length = digits.iter().take(8).take_while(|byte| char::from(**byte).is_digit(radix)).count();
        let code = u32::from_str_radix(std::str::from_utf8(&digits[..length]).ok()?, radix).ok()?;
        let end = text.len() - digits.len() + length;
        return Some((utf8(code)?, end + usize::from(text.get(end) == Some(&b';'))));
    }
    let end = text.iter().take(10).position(|byte| *byte == b';')?;
    let (_, plain) = ENTITIES.iter().find(|(name, _)| name.as_bytes() == &text[1..end])?;
    Some((vec![*plain], end + 1))
}

/// The signs that have a name in HTML.
const ENTITIES: [(&str, u8); 36] = [
    ("amp", b'&'),
    ("lt", b'<'),
    ("gt", b'>'),
    ("quot", b'"'),
    ("apos", b'\''),
    ("sol", b'/'),
    ("bsol", b'\\'),
    ("plus", b'+'),
    ("equals", b'='),
    ("lowbar", b'_'),
    ("num", b'#'),
    ("percnt", b'%'),
    ("dollar", b'$'),
    ("commat", b'@'),
    ("colon", b':'),
    ("semi", b';'),
    ("comma", b','),
    ("period", b'.'),
    ("excl", b'!'),
    ("quest", b'?'),
    ("ast", b'*'),
    ("Hat", b'^'),
    ("grave", b'`'),
    ("lpar", b'('),
    ("rpar", b')'),
    ("lsqb", b'['),
    ("lbrack", b'['),
    ("rsqb", b']'),
    ("rbrack", b']'),
    ("lcub", b'{'),
    ("lbrace", b'{'),
    ("rcub", b'}'),
    ("rbrace", b'}'),
    ("verbar", b'|'),
    ("vert", b'|'),
    ("nbsp", b' '),
];

/// `=2F` and `=` at the end of a line, of mails (quoted-printable).
fn quoted_printable(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    match text {
        [b'=', b'\r', b'\n', ..] => Some((Vec::new(), 3)),
        [b'=', b'\n', ..] => Some((Vec::new(), 2)),
        [b'=', high, low, ..] => Some((vec![hexadecimal(&[*high, *low])? as u8], 3)),
        _ => None,
    }
}

fn utf8(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|character| character.to_string().into_bytes())
}

fn octal(digits: [u8; 3]) -> Option<u8> {
    let digits = std::str::from_utf8(&digits).ok().filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    u8::from_str_radix(digits, 8).ok()
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
