//! What people get wrong, and what they are told.

use crate::stacks::bench::stack;

#[test]
#[expect(clippy::too_many_lines, reason = "a long text and all that is said of it")]
fn mistakes_are_told_all_at_once_at_their_places() {
    let bench = stack(
        r#"
resource "std_file" "readme" {
  contnet = "hi"
}

resource "std_flie" "x" {}

resource "terraform_data" "a" {
  input = terraform_data.b.outptu
}

resource "terraform_data" "b" {
  input = var.nmae
}

variable "name" { default = 1 }

output "o" { value = local.x + terraform_data.missing.id }
"#,
    );
    insta::assert_snapshot!(bench.refused(), @r#"
    error: the provider `std` has no resource type `std_flie`
     --> main.tf:6:10
      |
    6 | resource "std_flie" "x" {}
      |          ^^^^^^^^^^
      |
      = help: did you mean `std_file`?

    error: unknown attribute `contnet` in std_file
     --> main.tf:3:3
      |
    3 |   contnet = "hi"
      |   ^^^^^^^
      |
      = help: did you mean `content`?

    error: missing attribute `path` in std_file.readme
     --> main.tf:2:1
      |
    2 | resource "std_file" "readme" {
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: set `path`, a string: Where it lies. A relative path begins at the stack's folder. Another path makes another file

    error: one of `content`, `content_base64`, `source` must be set in std_file.readme
     --> main.tf:2:1
      |
    2 | resource "std_file" "readme" {
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: set one

    error: terraform_data has no attribute `outptu`
     --> main.tf:9:11
      |
    9 |   input = terraform_data.b.outptu
      |           ^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `output`?

    error: there is no variable `nmae`
      --> main.tf:13:11
       |
    13 |   input = var.nmae
       |           ^^^^^^^^
       |
       = help: did you mean `name`?
       = help: declare it with `variable "nmae" {}`

    error: there is no local value `x`
      --> main.tf:18:22
       |
    18 | output "o" { value = local.x + terraform_data.missing.id }
       |                      ^^^^^^^

    error: there is no resource `terraform_data.missing`
      --> main.tf:18:32
       |
    18 | output "o" { value = local.x + terraform_data.missing.id }
       |                                ^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: there is `std_file.readme`, `std_flie.x`, `terraform_data.a`, `terraform_data.b`

    8 errors
    "#);
}

#[test]
fn syntax_errors_come_with_the_line() {
    insta::assert_snapshot!(stack("resource \"terraform_data\" \"a\" {\n  input = \n}\n").refused(), @r"
    error: expected an expression, found the end of the line
     --> main.tf:2:11
      |
    2 |   input = 
      |           ^
      |
      = help: put parentheses around an expression that goes on over several lines

    1 error
    ");
}

#[test]
fn names_that_go_round_in_a_circle_are_told_with_the_round() {
    insta::assert_snapshot!(stack("locals {\n  a = local.b\n  b = local.c\n  c = local.a\n}\n").refused(), @r"
    error: local.a depends on itself
     --> main.tf:4:7
      |
    4 |   c = local.a
      |       ^^^^^^^
      |
      = note: local.a → local.b → local.c → local.a
      = help: remove one of these references

    1 error
    ");
    insta::assert_snapshot!(
        stack(
            "resource \"terraform_data\" \"a\" {\n  input = terraform_data.b.id\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\n"
        )
        .refused(),
        @r#"
        error: Resource dependency cycle detected
         --> main.tf:1:1
          |
        1 | resource "terraform_data" "a" {
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = note: terraform_data.a → terraform_data.b → terraform_data.a
          = help: remove one of these references

        1 error
        "#
    );
}

#[test]
fn words_that_are_not_supported_are_refused_at_their_place() {
    for (text, told) in [
        (
            "resource \"terraform_data\" \"a\" {\n provisioner \"local-exec\" {\n command = \"x\"\n }\n}",
            "use a `std_exec`",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n lifecycle {\n prevent_destory = true\n }\n}",
            "did you mean `prevent_destroy`?",
        ),
        ("resuorce \"terraform_data\" \"a\" {}", "did you mean `resource`?"),
        ("variable \"a\" {\n tpye = string\n}", "did you mean `type`?"),
        ("x = 1", "cannot stand outside a block"),
        ("resource \"terraform_data\" {}", "takes 2 labels"),
        ("terraform {\n experiments = [x]\n}", "not supported"),
        ("provider \"my_std\" {}", "`my_std` is not the name of a provider"),
        ("provider \"Std\" {}", "write `std`"),
        ("terraform {\n required_providers {\n s-- = {}\n }\n}", "`s--` is not the name of a provider"),
        ("resource \"a-_b\" \"c\" {}", "`a-` is not the name of a provider"),
        ("provider \"sdt\" {}", "did you mean the built-in provider `std`?"),
        ("output \"a\" {}", "missing attribute `value`"),
        ("output \"a\" { value = self.x }", "postconditions"),
        ("output \"a\" { value = each.key }", "only where `for_each` stands"),
        ("output \"a\" { value = foo }", "means nothing here"),
    ] {
        let refused = stack(text).refused();
        assert!(refused.contains(told), "{text}: {refused}");
        assert!(refused.contains("main.tf:"), "{text}: {refused}");
    }
}

#[test]
fn names_are_found_in_any_order_along_long_chains() {
    let chain: String = (0..10_000).map(|at| format!("  n{at} = local.n{}\n", at + 1)).collect();
    let built =
        stack(&format!("locals {{\n{chain}  n10000 = 7\n}}\noutput \"x\" {{\n  value = local.n0\n}}\n"));
    assert_eq!(built.output("x"), "7");
}

/// BOUND-6
#[test]
fn a_chain_of_names_beyond_the_bound_is_refused() {
    let chain: String = (0..20_001).map(|at| format!("  n{at} = local.n{}\n", at + 1)).collect();
    let refused = stack(&format!("locals {{\n{chain}  n20001 = 1\n}}\n")).refused();
    assert!(refused.contains("more than 20000 names away"), "{}", &refused[..500]);
}

/// BOUND-6: every one of many mistakes would be compared with every one of many names.
#[test]
fn many_mistakes_among_many_names_get_a_bounded_number_of_suggestions() {
    let count = 4000;
    let locals: String = (0..count).map(|at| format!("  name{at} = local.nane{at}\n")).collect();
    let calls = (0..count).map(|at| format!("  depends_on = [terraform_data.nane{at}]\n"));
    let resources: String = calls
        .enumerate()
        .map(|(at, call)| format!("resource \"terraform_data\" \"name{at}\" {{\n{call}}}\n"))
        .collect();
    let refused = stack(&format!("locals {{\n{locals}}}\n{resources}")).refused();
    let told = |part: &str| refused.matches(part).count();
    assert_eq!((told("there is no local value"), told("to depend on")), (count, count));
    assert_eq!(told("did you mean"), 200_000 / count);
}
