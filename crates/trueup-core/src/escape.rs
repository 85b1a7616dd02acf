//! Text from outside, made harmless to show.
//!
//! Server answers, command output, file names and values may hold characters that act on a display instead of standing on
//! it: terminal sequences, carriage returns, marks that reverse the reading direction, invisible letters. Written as
//! `\u{1b}` they are visible and do nothing. Letters and emoji of every script stay as they are.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes a text of several lines: line breaks and tabs stay.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |char| matches!(char, '\n' | '\t'), write_escape)
}

/// Escapes a text that stands within a line: no line break or tab of it takes effect.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_with(text, |_| false, write_escape)
}

/// Escapes JSON, without changing what it says. JSON has such characters within strings alone, where `\u009b` is
/// another spelling of the same character.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    // A tab, line break or carriage return outside of strings is layout; inside, serializers escape it themselves.
    escape_with(
        text,
        |char| matches!(char, '\n' | '\t'),
        |char, written| {
            if char == '\r' {
                return written.push(' ');
            }
            for unit in char.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(written, "\\u{unit:04x}");
            }
        },
    )
}

/// Whether a character does something to a display, wherever it stands. Joiners and variation selectors do only in
/// some places and are not among them.
pub fn acts_on_display(char: char) -> bool {
    char.is_control()
        || changes_direction(char)
        || is_invisible(char)
        // Some displays break lines there.
        || matches!(char, '\u{2028}' | '\u{2029}')
}

fn changes_direction(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Letters and marks that nobody sees: those that Unicode says to ignore where they cannot be displayed, and the controls of
/// annotations, music and shorthand.
fn is_invisible(char: char) -> bool {
    let fillers = matches!(char, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}');
    let spaces = matches!(char, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{feff}');
    let formats = matches!(char, '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{fff0}'..='\u{fffb}');
    let notations = matches!(char, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}');
    let reserved = matches!(char, '\u{e0000}'..='\u{e0fff}') && !depends_on_neighbours(char);
    fillers || spaces || formats || notations || reserved
}

/// Characters that join or vary others, and are invisible where there is nothing to join or vary.
fn depends_on_neighbours(char: char) -> bool {
    let joins = matches!(char, '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{13430}'..='\u{1343f}');
    joins || is_selector(char) || is_tag(char)
}

/// Characters that choose among the forms of the one before.
fn is_selector(char: char) -> bool {
    let mongolian = matches!(char, '\u{180b}'..='\u{180d}' | '\u{180f}');
    mongolian || matches!(char, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Invisible ASCII, of which some flags are made.
fn is_tag(char: char) -> bool {
    matches!(char, '\u{e0020}'..='\u{e007f}')
}

/// Letters of scripts in which joiners decide how words look, and emoji.
fn may_be_joined(char: char) -> bool {
    let scripts = matches!(
        char,
        '\u{590}'..='\u{109f}'
            | '\u{1780}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}'
            | '\u{a800}'..='\u{abff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{11fff}'
    );
    (scripts && !depends_on_neighbours(char) && !acts_on_display(char))
        || is_emoji(char)
        || char == '\u{fe0f}'
}

fn is_emoji(char: char) -> bool {
    matches!(char, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether a joiner or selector has its usual place: between letters of scripts that need it, or within an emoji. Only one
/// selector follows a character: a row of them could hold a whole message.
fn is_in_place(char: char, before: Option<char>, after: Option<char>) -> bool {
    let before = before.unwrap_or(' ');
    let is_mark = |char: char| !char.is_ascii() && !depends_on_neighbours(char) && !char.is_whitespace();
    match char {
        '\u{200c}' | '\u{200d}' => may_be_joined(before) && after.is_some_and(may_be_joined),
        '\u{34f}' => is_mark(before) && after.is_some_and(is_mark),
        '\u{13430}'..='\u{1343f}' => matches!(before, '\u{13000}'..='\u{1343f}'),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        // Ideographs have variants, numbered from here on.
        '\u{e0100}'..='\u{e01ef}' => {
            matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        }
        // Keycaps begin with a digit, `#` or `*`.
        '\u{fe0e}' | '\u{fe0f}' if matches!(before, '0'..='9' | '#' | '*') => true,
        _ => is_mark(before),
    }
}

/// How many tags follow that make a flag of a region, such as Wales: a few letters and digits, and an end.
fn region_tags(before: Option<char>, tags: impl Iterator<Item = char>) -> Option<usize> {
    const TAGS_MAX: usize = 7;
    if before != Some('\u{1f3f4}') {
        return None;
    }
    let tags: Vec<char> = tags.take_while(|char| is_tag(*char)).take(TAGS_MAX + 1).collect();
    let (end, letters) = tags.split_last()?;
    let are_letters =
        letters.iter().all(|tag| matches!(tag, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}'));
    (*end == '\u{e007f}' && are_letters && tags.len() <= TAGS_MAX).then_some(tags.len())
}

fn escape_with(text: &str, kept: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    // Most texts are plain, and most of the others in the language of their authors.
    let plain = |byte: u8| matches!(byte, b' '..=b'~') || (byte.is_ascii() && kept(char::from(byte)));
    let suspect = |char: char| {
        !matches!(char, ' '..='~') && ((acts_on_display(char) && !kept(char)) || depends_on_neighbours(char))
    };
    if text.bytes().all(plain) || !text.contains(suspect) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    let (mut before, mut tags_in_place) = (None, 0);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let after = chars.peek().copied();
        if is_tag(char) && tags_in_place == 0 {
            let tags = std::iter::once(char).chain(chars.clone());
            tags_in_place = region_tags(before, tags).unwrap_or(0);
        }
        let is_placed = |char| match is_tag(char) {
            true => tags_in_place > 0,
            false => is_in_place(char, before, after),
        };
        let line_end = char == '\r' && after == Some('\n') && kept('\n');
        if line_end {
            // The end of a line as Windows writes it.
        } else if (acts_on_display(char) && !kept(char)) || (depends_on_neighbours(char) && !is_placed(char))
        {
            write(char, &mut written);
        } else {
            written.push(char);
        }
        tags_in_place = tags_in_place.saturating_sub(usize::from(is_tag(char)));
        before = Some(char);
    }
    Cow::Owned(written)
}

/// As values and addresses write it.
fn write_escape(char: char, written: &mut String) {
    match char {
        '\n' => written.push_str("\\n"),
        '\r' => written.push_str("\\r"),
        '\t' => written.push_str("\\t"),
        // Writing to a string does not fail.
        other => drop(write!(written, "\\u{{{:x}}}", u32::from(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OUTPUT-1: what acts on a display is written out; what people write stays.
    #[test]
    fn only_what_acts_on_a_display_is_escaped() {
        let cases = [
            ("plain text, \u{e9}\u{df}\u{65e5}\u{672c}", "plain text, \u{e9}\u{df}\u{65e5}\u{672c}"),
            ("\x1b[2J\x1b]0;title\x07", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m\u{9d}0;x\u{9c}\x7f\0", "\\u{9b}31m\\u{9d}0;x\\u{9c}\\u{7f}\\u{0}"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("windows\r\nlines", "windows\nlines"),
            ("over\rwritten\r", "over\\rwritten\\r"),
            ("\u{202e}gpj.exe\u{202c}", "\\u{202e}gpj.exe\\u{202c}"),
            ("\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}", "\\u{2066}a\\u{2069}\\u{200e}\\u{200f}\\u{61c}"),
            ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"),
            (
                "pay\u{200b}pal \u{feff}pay\u{2060}pal so\u{ad}ft",
                "pay\\u{200b}pal \\u{feff}pay\\u{2060}pal so\\u{ad}ft",
            ),
            // Joiners where there is nothing to join.
            ("pay\u{200d}pal \u{200c}x", "pay\\u{200d}pal \\u{200c}x"),
            ("a\u{fe0f}b \u{e0041}", "a\\u{fe0f}b \\u{e0041}"),
            ("\u{e9}\u{200d}\u{e8} \u{430}\u{200c}\u{431}", "\u{e9}\\u{200d}\u{e8} \u{430}\\u{200c}\u{431}"),
            // A message in selectors, and one in tags.
            ("\u{1f600}\u{fe0f}\u{fe01}\u{e0141}", "\u{1f600}\u{fe0f}\\u{fe01}\\u{e0141}"),
            ("\u{e9}\u{e0141}", "\u{e9}\\u{e0141}"),
            ("\u{1f3f4}\u{e0068}\u{e0069}", "\u{1f3f4}\\u{e0068}\\u{e0069}"),
            (
                "\u{1f3f4}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e007f}",
                "\u{1f3f4}\\u{e0061}\\u{e0061}\\u{e0061}\\u{e0061}\\u{e0061}\\u{e0061}\\u{e0061}\\u{e007f}",
            ),
            // Invisible ones of many blocks.
            ("a\u{34f}b\u{17b4}\u{180b}\u{fff0}", "a\\u{34f}b\\u{17b4}\\u{180b}\\u{fff0}"),
            (
                "\u{13430}\u{1bca0}\u{1d173}\u{e0000}\u{e0fff}",
                "\\u{13430}\\u{1bca0}\\u{1d173}\\u{e0000}\\u{e0fff}",
            ),
            // A variant of an ideograph, a Mongolian letter, Wales, a sign as text.
            ("\u{845b}\u{e0100} \u{1820}\u{180b}", "\u{845b}\u{e0100} \u{1820}\u{180b}"),
            (
                "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
                "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
            ),
            (
                "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308} \u{a9}\u{fe0e}",
                "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308} \u{a9}\u{fe0e}",
            ),
            ("\u{1f469}\u{1f3fd}\u{200d}\u{1f680}", "\u{1f469}\u{1f3fd}\u{200d}\u{1f680}"),
            // A family, a heart, a keycap, a flag; Persian and Hindi.
            ("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"),
            (
                "\u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}\u{20e3}",
                "\u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}\u{20e3}",
            ),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}", "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}"),
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            ),
            ("\u{915}\u{94d}\u{200d}\u{937}", "\u{915}\u{94d}\u{200d}\u{937}"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected, "{text:?}");
            assert_eq!(escape(&escape(text)), escape(text), "{text:?}: once is enough");
        }
    }

    #[test]
    fn within_a_line_there_are_no_line_breaks() {
        assert_eq!(escape_line("a\nerror: b\r\n\tc"), "a\\nerror: b\\r\\n\\tc");
    }

    #[test]
    fn json_says_the_same() {
        let text = "a\u{9b}31m\u{7f}\u{202e}\u{2028}\u{e0001}\u{1f468}\u{200d}\u{1f469} \u{e9}\n\x1b\"\\";
        let json = serde_json::to_string_pretty(&vec![text]).unwrap();
        let escaped = escape_json(&json);
        assert!(!escaped.chars().any(|char| acts_on_display(char) && char != '\n'), "{escaped:?}");
        assert!(escaped.contains("\\u009b31m\\u007f\\u202e\\u2028\\udb40\\udc01"), "{escaped}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [text]);
        assert_eq!(escape_json("[1,\r2]\r\n"), "[1, 2]\n");
    }
}
