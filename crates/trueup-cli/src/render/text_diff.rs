//! Text of several lines as a diff.

use std::collections::BTreeSet;
use std::ops::Range;

use imara_diff::Hunk;
use trueup_core::{Value, escape_line};

use super::sequence_diff::sequence_diff;

/// How many unchanged lines stand around a change.
const CONTEXT: u32 = 2;

/// A line of a diff.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DiffLine {
    /// Where what follows stands: `@@ -3,2 +3,2 @@`.
    Place {
        range: String,
        /// The first line that goes, counted from 0.
        old: Option<usize>,
        /// The first line that comes.
        new: Option<usize>,
    },
    /// A line that stays.
    Same(String),
    /// A line that goes.
    Old(String),
    /// A line that comes.
    New(String),
}

/// The lines in which two texts differ, with a little of what is around them.
pub(crate) fn diff_lines(before: &str, after: &str) -> Vec<DiffLine> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let (input, mut diff) = sequence_diff(old.iter().copied(), new.iter().copied());
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let same = |range: Range<u32>| slice(&old, range).iter().map(|line| DiffLine::Same(shown_line(line)));

    let mut lines = Vec::new();
    // Changes so near to each other that what is around them overlaps stand together.
    for group in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let lead = first.before.start.min(CONTEXT);
        let trail = CONTEXT.min(length(&old) - last.before.end);
        let shown_old = first.before.start - lead..last.before.end + trail;
        let shown_new = first.after.start - lead..last.after.end + trail;
        lines.push(DiffLine::Place {
            range: format!("@@ -{} +{} @@", place(&shown_old), place(&shown_new)),
            old: (!first.before.is_empty()).then_some(first.before.start as usize),
            new: (!first.after.is_empty()).then_some(first.after.start as usize),
        });
        let mut at = shown_old.start;
        for hunk in group {
            lines.extend(same(at..hunk.before.start));
            let (olds, news) = (slice(&old, hunk.before.clone()), slice(&new, hunk.after.clone()));
            lines.extend(told_apart(olds, news).map(DiffLine::Old));
            lines.extend(told_apart(news, olds).map(DiffLine::New));
            at = hunk.before.end;
        }
        lines.extend(same(at..shown_old.end));
    }
    lines
}

/// How many lines there are; the differ counts them in 32 bits and would have refused more.
fn length(lines: &[&str]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

/// Where lines stand, as unified diffs write it: the first one and their number, unless it is 1.
fn place(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        many => format!("{},{many}", lines.start + 1),
    }
}

fn slice<'l, 't>(lines: &'l [&'t str], range: Range<u32>) -> &'l [&'t str] {
    &lines[range.start as usize..range.end as usize]
}

/// Lines as they are shown beside those that they replace or that replace them. One that would look like one of those,
/// such as a line with another line break, is quoted.
fn told_apart(lines: &[&str], others: &[&str]) -> impl Iterator<Item = String> {
    let look = |line: &str| shown_line(line).trim_end().to_owned();
    let exact: BTreeSet<&str> = others.iter().copied().collect();
    let looks: BTreeSet<String> = others.iter().map(|line| look(line)).collect();
    lines.iter().map(move |line| match !exact.contains(line) && looks.contains(&look(line)) {
        true => escape_line(&Value::from(*line).to_string()).into_owned(),
        false => shown_line(line),
    })
}

fn shown_line(line: &str) -> String {
    // Tabs would upset the columns.
    let mut text = escape_line(&line.trim_end_matches(['\n', '\r']).replace('\t', "    ")).into_owned();
    if !line.ends_with('\n') {
        text.push_str(" (no newline)");
    }
    text
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
            DiffLine::Place { range: "@@ -3,4 +3,4 @@".to_owned(), old: Some(4), new: Some(4) },
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
    fn distant_changes_stand_apart_and_near_ones_together() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let near = diff_lines(before, &before.replace("4\n", "").replace("8\n", "eight\n"));
        let places = |lines: &[DiffLine]| {
            let place = |line: &DiffLine| match line {
                DiffLine::Place { range, .. } => Some(range.clone()),
                _ => None,
            };
            lines.iter().filter_map(place).collect::<Vec<_>>()
        };
        assert_eq!(places(&near), ["@@ -2,9 +2,8 @@"]);
        let apart = diff_lines(before, &before.replace("2\n3\n", "3\n").replace("12\n", ""));
        assert_eq!(places(&apart), ["@@ -1,4 +1,3 @@", "@@ -10,3 +9,2 @@"]);
    }

    /// OUTPUT-7
    #[test]
    fn lines_that_would_look_alike_are_quoted() {
        let check = |before: &str, after: &str, old: &str, new: &str| {
            let told = diff_lines(before, after);
            let expected = [DiffLine::Old(old.to_owned()), DiffLine::New(new.to_owned())];
            assert_eq!(told[1..3], expected, "{before:?} {after:?}");
        };
        check("one\ntwo\n", "one\r\ntwo\n", r#""one\n""#, r#""one\r\n""#);
        check("\tcc\n", "    cc\n", r#""\tcc\n""#, r#""    cc\n""#);
        check("one \n", "one\n", r#""one \n""#, r#""one\n""#);
        check("one", "one\n", "one (no newline)", "one");
        check("\tcc\n", "\tc\n", "    cc", "    c");
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(diff_lines("", "\ta\x1b[2J\n")[1], DiffLine::New("    a\\u{1b}[2J".to_owned()));
    }
}
