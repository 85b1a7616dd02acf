//! Escapes undone, so that a secret is found whichever of its characters were escaped, and by whom.

/// Undoes the escape at the start of some bytes: the bytes that it stands for, and its length.
type Unescape = fn(&[u8]) -> Option<(Vec<u8>, usize)>;

/// The escapes, each with the character that introduces it.
const ESCAPES: [(u8, Unescape); 4] = [(b'\\', backslash), (b'%', percent), (b'&', entity), (b'+', plus)];

/// The escapes inside other escapes that are undone.
const DEPTH: usize = 2;

/// The bytes as they are, then with each sequence of up to [`DEPTH`] kinds of escapes undone.
pub(super) fn views(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut views = vec![bytes.to_vec()];
    let mut outer = 0..1;
    for _ in 0..DEPTH {
        for at in outer.clone() {
            let inner = ESCAPES.iter().filter_map(|(lead, unescape)| without(&views[at], *lead, *unescape));
            let inner: Vec<_> = inner.collect();
            views.extend(inner);
        }
        outer = outer.end..views.len();
    }
    views
}

/// The same bytes without one kind of escapes; `None` if there are none.
fn without(bytes: &[u8], lead: u8, unescape: Unescape) -> Option<Vec<u8>> {
    if !bytes.contains(&lead) {
        return None;
    }
    let (mut view, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match (*byte == lead).then(|| unescape(&bytes[at..])).flatten() {
            Some((stands_for, length)) => {
                view.extend(stands_for);
                at += length;
            }
            None => {
                view.push(*byte);
                at += 1;
            }
        }
    }
    (view != bytes).then_some(view)
}

/// `%2F`, of URLs.
fn percent(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    Some((vec![u8::try_from(number(text.get(1..3)?, 16)?).ok()?], 3))
}

/// `+` for a space, of forms.
#[expect(clippy::unnecessary_wraps, reason = "one of several")]
fn plus(_: &[u8]) -> Option<(Vec<u8>, usize)> {
    Some((b" ".to_vec(), 1))
}

/// `\"`, `\n`, `\x2f`, `\u002f`, `\u{2f}` and `\U0000002f`.
fn backslash(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let digits = |from: usize, to: usize| number(text.get(from..to)?, 16);
    match text.get(1)? {
        b'x' => Some((vec![u8::try_from(digits(2, 4)?).ok()?], 4)),
        b'u' if text.get(2) == Some(&b'{') => {
            let end = text.iter().take(12).position(|byte| *byte == b'}')?;
            Some((character(digits(3, end)?)?, end + 1))
        }
        b'u' => Some((character(digits(2, 6)?)?, 6)),
        b'U' => Some((character(digits(2, 10)?)?, 10)),
        b'n' => Some((b"\n".to_vec(), 2)),
        b't' => Some((b"\t".to_vec(), 2)),
        other => (!other.is_ascii_alphanumeric()).then(|| (vec![*other], 2)),
    }
}

/// `&amp;`, `&#38;` and `&#x26;`.
fn entity(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let end = text.iter().take(12).position(|byte| *byte == b';')?;
    let stands_for = match text.get(1..end)? {
        b"amp" => b"&".to_vec(),
        b"lt" => b"<".to_vec(),
        b"gt" => b">".to_vec(),
        b"quot" => b"\"".to_vec(),
        b"apos" => b"'".to_vec(),
        [b'#', b'x' | b'X', digits @ ..] => character(number(digits, 16)?)?,
        [b'#', digits @ ..] => character(number(digits, 10)?)?,
        _ => return None,
    };
    Some((stands_for, end + 1))
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

fn character(number: u32) -> Option<Vec<u8>> {
    char::from_u32(number).map(|character| character.to_string().into_bytes())
}
