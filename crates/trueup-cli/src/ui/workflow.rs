//! Workflow commands: lines of a log that services of continuous integration take for orders, such as
//! `::set-output name=a::b` of GitHub, `##vso[task.setvariable variable=a]b` of Azure and `##teamcity[…]`.
//!
//! Nothing of ours is one. What others say, such as a server in its errors, is written so that it only reads like one
//! (OUTPUT-1).

use std::borrow::Cow;

/// The text with the sign that makes a command of it escaped, as `escape` does.
pub(crate) fn disarmed(text: &str) -> Cow<'_, str> {
    disarmed_with(text, "\\u{23}", "\\u{3a}")
}

/// The same for JSON, which says the same afterwards.
pub(crate) fn disarmed_json(text: &str) -> Cow<'_, str> {
    disarmed_with(text, "\\u0023", "\\u003a")
}

fn disarmed_with<'t>(text: &'t str, hash: &str, colon: &str) -> Cow<'t, str> {
    let mut places: Vec<(usize, &str)> = bracketed(text).map(|at| (at, hash)).collect();
    places.extend(led_by_colons(text).map(|at| (at, colon)));
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    places.sort_unstable();
    let (mut written, mut copied) = (String::with_capacity(text.len() + 16), 0);
    for (at, escaped) in places {
        written.push_str(&text[copied..at]);
        written.push_str(escaped);
        copied = at + 1;
    }
    written.push_str(&text[copied..]);
    Cow::Owned(written)
}

/// The second sign of each `##word[`, which counts anywhere in a line.
fn bracketed(text: &str) -> impl Iterator<Item = usize> {
    let begins = |at: &usize| {
        let Some(after) = text[at + 1..].strip_prefix('#') else { return false };
        after.trim_start_matches(|char: char| char.is_ascii_alphanumeric() || char == '-').starts_with('[')
    };
    text.match_indices('#').map(|(at, _)| at).filter(begins).map(|at| at + 1)
}

/// The first sign of each `::word …::` at the beginning of a line.
fn led_by_colons(text: &str) -> impl Iterator<Item = usize> {
    let lines = text.split_inclusive('\n').scan(0, |begin, line| {
        *begin += line.len();
        Some((*begin - line.len(), line))
    });
    lines.filter_map(|(begin, line)| {
        let shown = without_blanks(line);
        let after = shown.strip_prefix("::")?;
        // A number may be the word that `::stop-commands::` made one that lets commands through again.
        let is_command =
            after.starts_with(|char: char| !char.is_whitespace() && char != ':') && after.contains("::");
        is_command.then_some(begin + line.len() - shown.len())
    })
}

/// A line from the first character that shows: not a space, and not a colour.
fn without_blanks(line: &str) -> &str {
    let mut shown = line.trim_start();
    while let Some((_, rest)) = shown.strip_prefix('\x1b').and_then(|colour| colour.split_once('m')) {
        shown = rest.trim_start();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OUTPUT-1.
    #[test]
    fn no_line_is_a_command() {
        let cases = [
            ("::set-output name=a::b", "\\u{3a}:set-output name=a::b"),
            ("a\n  ::add-mask::b\nc", "a\n  \\u{3a}:add-mask::b\nc"),
            ("a ##vso[task.setvariable variable=b]c", "a #\\u{23}vso[task.setvariable variable=b]c"),
            ("###[command]a", "##\\u{23}[command]a"),
            ("##teamcity[a]", "#\\u{23}teamcity[a]"),
            ("\x1b[1m  \x1b[0m::debug::a", "\x1b[1m  \x1b[0m\\u{3a}:debug::a"),
            ("\x1b[1merror\x1b[0m::debug::a", "\x1b[1merror\x1b[0m::debug::a"),
            ("::4711::", "\\u{3a}:4711::"),
            ("::_a::", "\\u{3a}:_a::"),
            ("::1 refused", "::1 refused"),
            (":: a::", ":: a::"),
            ("a::b::c", "a::b::c"),
            ("::a", "::a"),
            ("## [a] ##", "## [a] ##"),
            ("##", "##"),
        ];
        for (text, expected) in cases {
            assert_eq!(disarmed(text), expected, "{text:?}");
            assert_eq!(disarmed(&disarmed(text)), expected, "once is enough");
        }
        assert_eq!(disarmed_json(r###"{"a":"##vso[b]"}"###), r##"{"a":"#\u0023vso[b]"}"##);
    }
}
