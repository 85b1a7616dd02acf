//! What people are told, and where.

use insta::assert_snapshot;
use trueup_core::{Report, SourceMap, Style};
use trueup_lang::syntax::{FILE_BYTES_MAX, parse_source};

fn told(text: &[u8]) -> String {
    let mut sources = SourceMap::new();
    let parsed = parse_source(&mut sources, "main.tf", text);
    Report::new(&sources, Style::Plain).render(&parsed.diagnostics)
}

/// The summaries alone, one a line.
fn summaries(text: &str) -> String {
    let mut sources = SourceMap::new();
    let parsed = parse_source(&mut sources, "main.tf", text.as_bytes());
    parsed.diagnostics.iter().map(|it| format!("{}\n", it.summary)).collect()
}

#[test]
fn several_errors_of_a_file_are_told_with_their_places() {
    let text = r#"resource "a" "b" {
  name = "unclosed
  size = [1, 2
  kind = 'x'
  fine = 1
}

locals {
  x = 1 +
  y = { a = 1 b = 2 }
}
variable "v" {
  type = string
"#;
    assert_snapshot!(told(text.as_bytes()));
}

#[test]
fn slips_within_blocks_are_told_apart() {
    assert_snapshot!(summaries(
        "a b = 1\nc: 2\n\"d\" = 3\ne = 1, f = 2\ng\n{\n}\nh { i = 1, j = 2 }\n}\nk = 1\nk = 2\n"
    ));
}

#[test]
fn slips_within_templates_are_told_apart() {
    assert_snapshot!(summaries(
        "a = \"${b\"\nc = \"%{ if d }\"\ne = \"%{ endfor }\"\nf = \"\\q\"\ng = \"%{ while x }\"\nh = <<EOT\nnever\n"
    ));
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_refused() {
    assert_snapshot!(told(b"a = 1\nb = \"caf\xe9\"\n"));
    let large = vec![b' '; FILE_BYTES_MAX + 1];
    assert_snapshot!(told(&large));
}

#[test]
fn a_byte_order_mark_is_accepted() {
    assert_eq!(summaries("\u{feff}a = 1\n"), "");
}

#[test]
fn no_more_than_a_screenful_of_errors_is_told() {
    assert_eq!(summaries(&"x = = 1\n".repeat(1000)).lines().count(), trueup_lang::syntax::ERRORS_MAX);
}
