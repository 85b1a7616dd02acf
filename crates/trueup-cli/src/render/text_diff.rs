//! Text of several lines as a diff.

use similar::{ChangeTag, TextDiff};

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 2;

/// A line of a diff.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DiffLine {
    /// Where what follows stands: `@@ -3,2 +3,2 @@`.
    Place(String),
    /// A line that stays.
    Same(String),
    /// A line that goes.
    Old(String),
    /// A line that comes.
    New(String),
}

/// The lines in which two texts differ, with a little of what is around them.
pub(crate) fn diff_lines(before: &str, after: &str) -> Vec<DiffLine> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(DiffLine::Place(hunk.header().to_string().trim_end().to_owned()));
        for change in hunk.iter_changes() {
            let whole = change.value();
            let ended = whole.ends_with('\n');
            // Tabs and control characters would upset the columns.
            let mut text: String = whole.trim_end_matches(['\n', '\r']).chars().flat_map(visible).collect();
            if !ended {
                text.push_str(" (no newline)");
            }
            lines.push(match change.tag() {
                ChangeTag::Equal => DiffLine::Same(text),
                ChangeTag::Delete => DiffLine::Old(text),
                ChangeTag::Insert => DiffLine::New(text),
            });
        }
    }
    lines
}

fn visible(char: char) -> Vec<char> {
    match char {
        '\t' => vec![' '; 4],
        control if control.is_control() => control.escape_unicode().collect(),
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let before = "1\n2\n3\n4\n5\n6\n";
        let after = "1\n2\n3\n4\nfive\n6";
        let told = diff_lines(before, after);
        let expected = [
            DiffLine::Place("@@ -3,4 +3,4 @@".to_owned()),
            DiffLine::Same("3".to_owned()),
            DiffLine::Same("4".to_owned()),
            DiffLine::Old("5".to_owned()),
            DiffLine::Old("6".to_owned()),
            DiffLine::New("five".to_owned()),
            DiffLine::New("6 (no newline)".to_owned()),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(diff_lines("", "\ta\x1b[2J\n")[1], DiffLine::New("    a\\u{1b}[2J".to_owned()));
    }
}
