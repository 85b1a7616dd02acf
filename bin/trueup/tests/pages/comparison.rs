//! What a page shows against what stood on the screen.
//!
//! Times, ports and hashes differ each time and count as the same. What ran side by side may have ended in any order. A
//! line `…` on the page stands for any lines.

use regex::Regex;

/// Fails unless the page shows what stood on the screen.
pub(crate) fn assert_shown(shown: &str, screen: &str, place: &str) {
    let (wanted, found) = (steady(shown), steady(screen));
    assert!(
        matches(&wanted, &found),
        "{place} shows\n\n{shown}\nbut this is what happens:\n\n{}",
        screen.trim()
    );
}

/// The lines, without what differs each time.
fn steady(text: &str) -> Vec<String> {
    let changing = [
        (r" +\d+(\.\d+)? m?s\b", " TIME"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"\b[0-9a-f]{20,}", "HASH"),
    ];
    let changing = changing.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name));
    let line = |line: &str| {
        changing.iter().fold(line.trim_end().to_owned(), |line, (pattern, name)| {
            pattern.replace_all(&line, *name).into_owned()
        })
    };
    let mut lines: Vec<String> = text.trim().lines().map(line).collect();
    lines.chunk_by_mut(|one, next| [one, next].iter().all(|it| it.starts_with('✓'))).for_each(<[_]>::sort);
    lines
}

fn matches(wanted: &[String], found: &[String]) -> bool {
    match wanted.split_first() {
        None => found.is_empty(),
        Some((line, rest)) if line.trim() == "…" => {
            (0..=found.len()).any(|skipped| matches(rest, &found[skipped..]))
        }
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, others)| first == line && matches(rest, others))
        }
    }
}

#[test]
fn what_differs_each_time_counts_as_the_same() {
    assert_shown(
        "✓ b  created  7 ms\n✓ a  created  12 ms\nin 3.2 s",
        "✓ a  created   9 ms\n✓ b  created 70 ms\nin 9 ms",
        "",
    );
    assert_shown("a\n…\nz", "a\nb\nc\nz\n", "");
    assert!(!matches(&steady("a\n…\ny"), &steady("a\nz")));
    assert!(!matches(&steady("a"), &steady("a\nb")));
}
