//! A text with the dumps in it decoded: bytes one by one, in hexadecimal or decimal digits.
//!
//! Dumps come as a list (`5a:71`, `[90, 113]`) or in rows, each with its offset and often with the bytes as text beside
//! them (`xxd`, `hexdump`, `od`, `curl --trace`). Rows stand for a secret as a whole, or the text beside the bytes stays.

use super::decode::{hexadecimal, narrow};
use super::views::{View, break_length};

/// The shortest list that is decoded.
const LIST_BYTES_MIN: usize = 8;

/// The number of digits of an offset, with a colon after it and without.
const OFFSET_DIGITS: [std::ops::RangeInclusive<usize>; 2] = [4..=16, 7..=16];

/// The views of a text in which dumps are decoded, each in one notation; none if there is no dump.
pub(super) fn dump_views(text: &[u8]) -> Vec<View<'static>> {
    let rows = rows(text);
    let lists = [list_view(text, hexadecimal_list), list_view(text, decimal_list)];
    let rows = [rows_view(&rows, text.len(), Order::AsWritten), rows_view(&rows, text.len(), Order::Words)];
    lists.into_iter().chain(rows).flatten().collect()
}

/// A byte of a dump, and where it is written.
type Dumped = (usize, u8);

/// Reads the list at a place of a text: its bytes, and its end. One of no bytes is none.
type ReadList = fn(&[u8], usize) -> (Vec<Dumped>, usize);

/// The text with lists of bytes in it decoded.
fn list_view(text: &[u8], read: ReadList) -> Option<View<'static>> {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    let (mut at, mut found) = (0, false);
    while at < text.len() {
        let (dump, end) = read(text, at);
        let end = end.max(at + 1);
        if dump.len() >= LIST_BYTES_MIN {
            starts.extend(dump.iter().map(|(start, _)| narrow(*start)));
            bytes.extend(dump.iter().map(|(_, byte)| *byte));
            found = true;
        } else {
            starts.extend((at..end).map(narrow));
            bytes.extend_from_slice(&text[at..end]);
        }
        at = end;
    }
    starts.push(narrow(text.len()));
    found.then(|| View { bytes: bytes.into(), starts: Some(starts) })
}

/// `5a:71`, `5a 71`, `5a71 3722` and `0x5a, 0x71`.
fn hexadecimal_list(text: &[u8], start: usize) -> (Vec<Dumped>, usize) {
    let (mut dump, mut at, mut end) = (Vec::new(), start, start);
    while let Some(byte) = digit_pair(&text[at..]) {
        dump.push((at, byte));
        at += 2;
        end = at;
        let between = text[at..].iter().take(2).take_while(|byte| b" :-.,;\n".contains(byte)).count();
        if digit_pair(&text[at + between..]).is_some() || text[at + between..].starts_with(b"0x") {
            at += between;
        }
        if text[at..].starts_with(b"0x") {
            at += 2;
        }
    }
    // Digits without anything between them are another decoder's.
    if end - start == dump.len() * 2 { (Vec::new(), end) } else { (dump, end) }
}

/// `[90, 113]`, `90;113` and `90 113`, on as many lines as it takes, which may begin with offsets.
fn decimal_list(text: &[u8], start: usize) -> (Vec<Dumped>, usize) {
    let digits = |at: usize| text[at..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let (mut dump, mut at, mut end) = (Vec::new(), start, start);
    loop {
        let number = std::str::from_utf8(&text[at..at + digits(at)]).unwrap_or_default();
        let Ok(byte) = number.parse() else { break };
        dump.push((at, byte));
        end = at + number.len();
        at = after_gap(text, end);
        if at == end {
            break;
        }
    }
    // A number that goes on is none of them, and neither is its rest.
    let rest = text[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if dump.is_empty() || rest > 0 { (Vec::new(), end + rest) } else { (dump, end) }
}

/// Where the spaces, commas and line breaks at a place end, with the offset of a row after the last break.
fn after_gap(text: &[u8], mut at: usize) -> usize {
    let mut is_broken = false;
    loop {
        let length = break_length(&text[at..]);
        is_broken |= length > 0;
        match text.get(at) {
            _ if length > 0 => at += length,
            Some(b' ' | b',' | b';' | b'\t') => at += 1,
            _ => break,
        }
    }
    let (_, after) = if is_broken { offset(&text[at..]).unwrap_or_default() } else { (0, 0) };
    at + after
}

fn digit_pair(text: &[u8]) -> Option<u8> {
    match text {
        [high, low, ..] => Some(hexadecimal(*high)? << 4 | hexadecimal(*low)?),
        _ => None,
    }
}

/// A line of a dump, from its offset on.
struct Row {
    start: usize,
    end: usize,
    offset: u64,
    /// Groups of bytes without space between them.
    groups: Vec<Vec<u8>>,
    /// The row before belongs to the same dump.
    is_continued: bool,
}

/// The order of the bytes in a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    AsWritten,
    /// Words of two bytes, the lower one last, as `hexdump` and `od -x` write them.
    Words,
}

/// The rows of all dumps in a text.
fn rows(text: &[u8]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut at, mut follows) = (0, false);
    while at < text.len() {
        let length = (at..text.len()).take_while(|at| break_length(&text[*at..]) == 0).count();
        let row = row(text, at, at + length, follows);
        if let (true, Some(row), Some(last)) = (follows, &row, rows.last_mut()) {
            // Digits in the text beside the bytes are no bytes.
            let bytes = row.offset.checked_sub(last.offset).and_then(|it| usize::try_from(it).ok());
            last.shorten(bytes.unwrap_or(usize::MAX));
        }
        follows = row.is_some();
        rows.extend(row);
        at += length;
        while at < text.len() && break_length(&text[at..]) > 0 {
            at += break_length(&text[at..]);
        }
    }
    rows
}

/// The row in a line. Its offset is the first word of the line; in the first row of a dump, any word.
fn row(text: &[u8], start: usize, end: usize, is_continued: bool) -> Option<Row> {
    let line = &text[start..end];
    let is_start = |at: &usize| *at == 0 || !line[at - 1].is_ascii_alphanumeric();
    let indentation = line.iter().take_while(|byte| b" \t".contains(byte)).count();
    let places = if is_continued { indentation..indentation + 1 } else { 0..line.len() };
    places.filter(is_start).find_map(|at| {
        let (offset, length) = offset(line.get(at..)?)?;
        let groups = groups(&line[at + length..]);
        let row = Row { start: start + at, end, offset, groups, is_continued };
        (is_continued || !row.groups.is_empty()).then_some(row)
    })
}

/// The offset at the beginning of a row, and where it ends: `00000010: ` of `xxd`, `0000020 ` of `od`, in octal digits.
fn offset(text: &[u8]) -> Option<(u64, usize)> {
    let digits = text.iter().take(17).take_while(|byte| hexadecimal(**byte).is_some()).count();
    let (colon, usual) = match text.get(digits) {
        Some(b':') => (1, &OFFSET_DIGITS[0]),
        _ => (0, &OFFSET_DIGITS[1]),
    };
    if !usual.contains(&digits) {
        return None;
    }
    let spaces = text[digits + colon..].iter().take_while(|byte| **byte == b' ').count();
    // The last offset may stand alone.
    if spaces == 0 && !text[digits + colon..].is_empty() {
        return None;
    }
    let number = std::str::from_utf8(&text[..digits]).ok()?;
    // Nothing tells octal digits from others. Taken for hexadecimal ones, they say too much, which does no harm.
    let offset = u64::from_str_radix(number, 16).ok()?;
    Some((offset, digits + colon + spaces))
}

/// The groups of hexadecimal digits at the beginning of a text, with one or two spaces between them.
fn groups(text: &[u8]) -> Vec<Vec<u8>> {
    let (mut groups, mut at) = (Vec::new(), 0);
    loop {
        let digits = text[at..].iter().take_while(|byte| hexadecimal(**byte).is_some()).count();
        let group: Vec<u8> = text[at..at + digits].chunks_exact(2).filter_map(digit_pair).collect();
        if group.is_empty() || digits % 2 > 0 || text.get(at + digits).is_some_and(|byte| *byte != b' ') {
            return groups;
        }
        groups.push(group);
        at += digits;
        at += text[at..].iter().take(4).take_while(|byte| **byte == b' ').count();
    }
}

impl Row {
    /// Keeps so many bytes at most.
    fn shorten(&mut self, bytes: usize) {
        let mut left = bytes;
        for group in &mut self.groups {
            group.truncate(left);
            left -= group.len();
        }
    }
}

/// The bytes of all rows. Each stands for its row as a whole.
fn rows_view(rows: &[Row], length: usize, order: Order) -> Option<View<'static>> {
    if order == Order::Words && !rows.iter().flat_map(|row| &row.groups).any(|group| group.len() == 2) {
        return None;
    }
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    let mut end = 0;
    for row in rows {
        if !row.is_continued {
            bytes.push(b'\n');
            starts.push(narrow(end));
        }
        for group in &row.groups {
            match order {
                Order::Words if group.len() == 2 => bytes.extend(group.iter().rev()),
                _ => bytes.extend(group),
            }
        }
        starts.resize(bytes.len(), narrow(row.start));
        end = row.end;
    }
    bytes.push(b'\n');
    starts.extend([narrow(end), narrow(length)]);
    (!rows.is_empty()).then(|| View { bytes: bytes.into(), starts: Some(starts) })
}
