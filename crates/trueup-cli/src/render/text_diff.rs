//! Text of several lines as a diff.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use trueup_core::escape_line;

/// How many unchanged lines stand around a change.
const CONTEXT: u32 = 2;

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
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff.hunks().collect();

    let mut lines = Vec::new();
    // Changes so near to each other that what is around them overlaps stand together.
    for group in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let lead = first.before.start.min(CONTEXT);
        let trail = CONTEXT.min(length(&old) - last.before.end);
        let shown_old = first.before.start - lead..last.before.end + trail;
        let shown_new = first.after.start - lead..last.after.end + trail;
        lines.push(DiffLine::Place(format!("@@ -{} +{} @@", place(&shown_old), place(&shown_new))));
        let mut at = shown_old.start;
        for hunk in group {
            lines.extend(texts(&old, at..hunk.before.start).map(DiffLine::Same));
            lines.extend(texts(&old, hunk.before.clone()).map(DiffLine::Old));
            lines.extend(texts(&new, hunk.after.clone()).map(DiffLine::New));
            at = hunk.before.end;
        }
        lines.extend(texts(&old, at..shown_old.end).map(DiffLine::Same));
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

/// Lines as they are shown.
fn texts(lines: &[&str], shown: Range<u32>) -> impl Iterator<Item = String> {
    lines[shown.start as usize..shown.end as usize].iter().map(|line| shown_line(line))
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
    fn distant_changes_stand_apart_and_near_ones_together() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let near = diff_lines(before, &before.replace("4\n", "").replace("8\n", "eight\n"));
        let places = |lines: &[DiffLine]| {
            let place = |line: &DiffLine| match line {
                DiffLine::Place(place) => Some(place.clone()),
                _ => None,
            };
            lines.iter().filter_map(place).collect::<Vec<_>>()
        };
        assert_eq!(places(&near), ["@@ -2,9 +2,8 @@"]);
        let apart = diff_lines(before, &before.replace("2\n3\n", "3\n").replace("12\n", ""));
        assert_eq!(places(&apart), ["@@ -1,4 +1,3 @@", "@@ -10,3 +9,2 @@"]);
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(diff_lines("", "\ta\x1b[2J\n")[1], DiffLine::New("    a\\u{1b}[2J".to_owned()));
    }
}
