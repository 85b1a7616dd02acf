//! Attributes and blocks.

use trueup_lang::syntax::parse_body;

use crate::syntax::any_file;
use crate::syntax::outline::outline_body;

#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = parse_body(text, any_file());
    let errors: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(outline_body(&parsed.tree), expected);
}

#[test]
fn attributes_and_blocks_keep_their_order() {
    check(
        "a = 1\nb \"x\" y {\n  c = 2 # why\n  d {}\n}\n/* all\n of this */ e = [\n 1\n]",
        r#"a = 1; b "x" "y" {c = 2; d {}}; e = [1]"#,
    );
}

#[test]
fn a_block_may_stand_on_one_line() {
    check("a { b = 1 }\nc {}", "a {b = 1}; c {}");
}

#[test]
fn windows_line_ends_and_comments_are_space() {
    check("a = 1\r\n// x\r\nb {\r\n c = 2\r\n}\r\n", "a = 1; b {c = 2}");
}

#[test]
fn a_heredoc_ends_with_its_marker() {
    check("a = <<-EOT\n  x\n  EOT\nb = 1", r#"a = "x\n"; b = 1"#);
}
