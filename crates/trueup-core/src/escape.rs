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

/// Letters and marks that nobody sees.
fn is_invisible(char: char) -> bool {
    let fillers = matches!(char, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    let spaces = matches!(char, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{feff}');
    let formats = matches!(char, '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}');
    fillers || spaces || formats || char == '\u{e0001}'
}

/// Characters that join or vary others, and are invisible where there is nothing to join or vary.
fn depends_on_neighbours(char: char) -> bool {
    let joins = matches!(char, '\u{200c}' | '\u{200d}');
    let varies = matches!(char, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    joins || varies || matches!(char, '\u{e0020}'..='\u{e007f}')
}

/// Whether a joiner or selector has its usual place: between letters of scripts that need it, or within an emoji.
fn is_in_place(char: char, before: Option<char>, after: Option<char>) -> bool {
    let joins = |neighbour: Option<char>| {
        neighbour
            .is_some_and(|it| !it.is_ascii() && !it.is_whitespace() && !matches!(it, '\u{200c}' | '\u{200d}'))
    };
    match char {
        '\u{200c}' | '\u{200d}' => joins(before) && joins(after),
        // Keycaps begin with a digit, `#` or `*`.
        '\u{fe0f}' => joins(before) || before.is_some_and(|it| matches!(it, '0'..='9' | '#' | '*')),
        // The flags of England, Scotland and Wales are a black flag and tags.
        '\u{e0020}'..='\u{e007f}' => {
            before.is_some_and(|it| matches!(it, '\u{1f3f4}' | '\u{e0020}'..='\u{e007e}'))
        }
        _ => joins(before),
    }
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
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let after = chars.peek().copied();
        let line_end = char == '\r' && after == Some('\n') && kept('\n');
        if line_end {
            // The end of a line as Windows writes it.
        } else if (acts_on_display(char) && !kept(char))
            || (depends_on_neighbours(char) && !is_in_place(char, before, after))
        {
            write(char, &mut written);
        } else {
            written.push(char);
        }
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
