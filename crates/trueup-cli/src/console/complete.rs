//! Words that complete, and expressions that go on in the next line: pure functions of what is typed.

use std::borrow::Cow;

use trueup_core::escape_line;

/// The names that an expression may have, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(Vec<String>);

impl Words {
    /// These, apart from those that would act on a terminal.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let is_inert = |name: &String| matches!(escape_line(name), Cow::Borrowed(_));
        let mut names: Vec<String> = names.into_iter().filter(is_inert).collect();
        names.sort();
        names.dedup();
        Words(names)
    }

    /// Where the word before this place begins, and what it may become.
    pub(super) fn complete(&self, text: &str, place: usize) -> (usize, Vec<String>) {
        let before = &text[..place];
        // Keys of instances are part of a word: `std_file.page["about"]`.
        let is_part = |char: char| char.is_alphanumeric() || "_-.:[]\"".contains(char);
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, char)| is_part(*char))
            .last()
            .map_or(place, |(at, _)| at);
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        (start, self.0.iter().filter(|name| name.starts_with(word)).cloned().collect())
    }
}

/// Whether an expression goes on in the next line: a bracket or a heredoc is open. An empty line ends it all the same.
pub(super) fn is_open(text: &str) -> bool {
    if text.ends_with("\n") {
        return false;
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for char in text.chars() {
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth > 0 || has_open_heredoc(text)
}

fn has_open_heredoc(text: &str) -> bool {
    let mut lines = text.lines();
    let Some(marker) = lines.find_map(heredoc_marker) else { return false };
    !lines.any(|line| line.trim() == marker)
}

/// The word that ends the heredoc which begins at the end of this line.
fn heredoc_marker(line: &str) -> Option<&str> {
    let marker = line.rsplit_once("<<")?.1.trim_start_matches('-').trim_end();
    let is_word =
        !marker.is_empty() && marker.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    is_word.then_some(marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_complete_up_to_where_they_stand() {
        let names = ["std_file.index", "std_file.page[\"about\"]", "upper", "uuid", "x.\u{1b}"];
        let words = Words::new(names.map(str::to_owned));
        let check = |text: &str, start: usize, expected: &[&str]| {
            let (begins, found) = words.complete(text, text.len());
            assert_eq!(
                (begins, found.iter().map(String::as_str).collect::<Vec<_>>()),
                (start, expected.to_vec())
            );
        };
        check("up", 0, &["upper"]);
        check("1 + std_file.", 4, &["std_file.index", "std_file.page[\"about\"]"]);
        check("upper(std_file.page[\"a", 6, &["std_file.page[\"about\"]"]);
        check("x", 0, &[]);
        check("", 0, &[]);
        assert_eq!(words.complete("up + 1", 2), (0, vec!["upper".to_owned()]));
    }

    #[test]
    fn an_open_bracket_goes_on() {
        for open in ["upper(", "[1,\n 2", "{ a = \"x", "f(\"\\\")\"", "<<EOT", "<<-EOT\n  a"] {
            assert!(is_open(open), "{open}");
        }
        for whole in ["1", "upper(\"(\")", "[1]", "1 < 2", "<<EOT\n  a\nEOT", "upper(\n", ")"] {
            assert!(!is_open(whole), "{whole}");
        }
    }
}
