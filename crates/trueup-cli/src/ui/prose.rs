//! Documentation as authors write it, in Markdown, as lines for a terminal: paragraphs, headings and lists stay apart.

use super::columns::wrapped;

/// The lines of a text, none wider than the columns if its words allow.
pub(crate) fn prose(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    let flush = |paragraph: &mut String, lines: &mut Vec<String>| {
        if paragraph.is_empty() {
            return;
        }
        let indent = if paragraph.starts_with("- ") { "  " } else { "" };
        for (at, line) in wrapped(paragraph, columns.saturating_sub(indent.len())).into_iter().enumerate() {
            lines.push(if at == 0 { line } else { format!("{indent}{line}") });
        }
        paragraph.clear();
    };
    for line in text.lines().map(str::trim) {
        let heading = line.trim_start_matches('#');
        if line.is_empty() {
            flush(&mut paragraph, &mut lines);
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
        } else if heading.len() < line.len() && heading.starts_with(' ') {
            flush(&mut paragraph, &mut lines);
            lines.push(heading.trim().to_owned());
        } else {
            if line.starts_with("- ") {
                flush(&mut paragraph, &mut lines);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    flush(&mut paragraph, &mut lines);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_headings_and_lists_stay_apart() {
        let text = "One line\nand the next.\n\n# Names\n- `a`: the first\n- `b`: the second, which is long\nand goes on\n\nEnd.";
        insta::assert_snapshot!(prose(text, 24).join("\n"), @r"
        One line and the next.

        Names
        - `a`: the first
        - `b`: the second,
          which is long and goes
          on

        End.
        ");
    }
}
