//! Errors: their place, and the hint that comes with them.

use crate::cel::evaluated;

fn told(text: &str) -> String {
    let error = evaluated(text).expect_err(text);
    let (line, column) = error.position(text);
    let hint = error.fix().map(|fix| format!("\nhelp: {fix}")).unwrap_or_default();
    format!("{line}:{column}: {error}\n{}{hint}", error.excerpt(text))
}

#[test]
fn an_error_points_at_its_place() {
    insta::assert_snapshot!(told("resource.type == = 1"), @r"
    1:18: unexpected character `=`
      |
    1 | resource.type == = 1
      |                  ^
    help: compare with `==`
    ");
    insta::assert_snapshot!(told("resource.type == 'std_file' &&\n  resource.inputs.nope == 1\n"), @r"
    2:3: no such key: nope
      |
    2 |   resource.inputs.nope == 1
      |   ^^^^^^^^^^^^^^^^^^^^
    help: test for it first, with `has(…)` or `in`
    ");
    insta::assert_snapshot!(told("1 + 'é' + 2 == 'é' - 1"), @r"
    1:3: `+` is not defined for int and string
      |
    1 | 1 + 'é' + 2 == 'é' - 1
      |   ^
    ");
    insta::assert_snapshot!(told("'é' == 'a' || 1 / 0 == 1"), @r"
    1:17: division by zero
      |
    1 | 'é' == 'a' || 1 / 0 == 1
      |                 ^
    ");
    insta::assert_snapshot!(told("[1, 2].all(x, x > 0) && (1 +"), @r"
    1:29: expected an expression, found the end
      |
    1 | [1, 2].all(x, x > 0) && (1 +
      |                             ^
    ");
    // Tabs are as wide below the place as above it.
    assert!(told("\t\tresource.nope").contains("1 | \t\tresource.nope\n  | \t\t^^^^^^^^^^^^^"));
    insta::assert_snapshot!(told("'a\nb'"), @r"
    1:1: missing the closing ' of a string
      |
    1 | 'a
      | ^^
    help: a string with line breaks stands in three quotes, or has `\n` in their place
    ");
    insta::assert_snapshot!(told("'ab\\qc'"), @r"
    1:4: invalid escape sequence `\q`
      |
    1 | 'ab\qc'
      |    ^^
    ");
    insta::assert_snapshot!(told("'a'.matches('a(b')"), @r"
    1:13: invalid regular expression: unclosed group
      |
    1 | 'a'.matches('a(b')
      |             ^^^^^
    ");
    insta::assert_snapshot!(told(""), @r"
    1:1: expected an expression, found the end
      |
    1 |
      | ^
    ");
}

#[test]
fn a_slip_comes_with_a_hint() {
    insta::assert_snapshot!(told("resorce.type"), @r"
    1:1: unknown variable `resorce`
      |
    1 | resorce.type
      | ^^^^^^^
    help: did you mean `resource`?
    ");
    insta::assert_snapshot!(told("change.type"), @r"
    1:1: unknown variable `change`
      |
    1 | change.type
      | ^^^^^^
    help: known variables: `plan`, `resource`
    ");
    insta::assert_snapshot!(told("'a'.startswith('a')"), @r"
    1:5: unknown function `startswith`
      |
    1 | 'a'.startswith('a')
      |     ^^^^^^^^^^
    help: did you mean `startsWith`?
    ");
    insta::assert_snapshot!(told("contains('a', 'b')"), @r"
    1:1: `contains` is called on a value
      |
    1 | contains('a', 'b')
      | ^^^^^^^^
    help: write `value.contains(…)`
    ");
    insta::assert_snapshot!(told("has(resource['inputs'])"), @r#"
    1:5: `has` takes a field, not an index
      |
    1 | has(resource['inputs'])
      |     ^^^^^^^^^^^^^^^^^^
    help: test for a key with `in`, as in `"team" in resource.inputs.tags`
    "#);
    insta::assert_snapshot!(told("[1].all(x)"), @r#"
    1:5: `all` takes a variable and a condition
      |
    1 | [1].all(x)
      |     ^^^
    help: write it as in `plan.resources.all(it, it.type == "std_file")`
    "#);
    insta::assert_snapshot!(told("resource.type = 'a'"), @r"
    1:15: unexpected character `=`
      |
    1 | resource.type = 'a'
      |               ^
    help: compare with `==`
    ");
    insta::assert_snapshot!(told("resource.?type"), @r"
    1:10: optional fields, `.?`, are not supported
      |
    1 | resource.?type
      |          ^
    help: test for the field with `has(…)`
    ");
    insta::assert_snapshot!(told("Policy{name: 'a'}"), @r#"
    1:1: messages such as `Policy{…}` are not supported
      |
    1 | Policy{name: 'a'}
      | ^^^^^^
    help: write a map, `{"key": value}`
    "#);
}
