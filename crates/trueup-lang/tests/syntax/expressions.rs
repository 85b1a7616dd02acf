//! Expressions and templates.

use trueup_core::SourceMap;
use trueup_lang::syntax::{parse_expression, parse_template};

use crate::syntax::any_file;
use crate::syntax::outline::outline;

#[track_caller]
fn check(text: &str, expected: &str) {
    let found = match parse_expression(text, any_file()) {
        Ok(expression) => outline(&expression),
        Err(diagnostics) => diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn operators_bind_as_in_terraform() {
    check("1 + 2 * 3", "(+ 1 (* 2 3))");
    check("1 - 2 - 3", "(- (- 1 2) 3)");
    check("!a == b && c || d", "(|| (&& (== (! a) b) c) d)");
    check("a < b == c >= d", "(== (< a b) (>= c d))");
    check("-a.b + 1", "(+ (- a.b) 1)");
    check("a ? b : c ? d : e", "(? a b (? c d e))");
    check("a-b", "a-b");
    check("1 /* x", "error: this comment is never closed");
    check("a - b % 2", "(- a (% b 2))");
    check("(1 + 2) * 3", "(* ((+ 1 2)) 3)");
}

#[test]
fn literals_are_exact() {
    check("12345678901234567890.5", "12345678901234567890.5");
    check("1e3", "1000");
    check("[true, false, null]", "[true false null]");
    check(r#""a\n\"\\\u00e9\U0001F600$x%y""#, r#""a\n\"\\é😀$x%y""#);
    check(r#""$${a} %%{b} $$ $${""#, r#""${a} %{b} $$ ${""#);
}

#[test]
fn access_is_flat_and_splats_reach_as_far_as_they_should() {
    check("var.a[0].b[\"c\"].0", "var.a[0].b[\"c\"][0]");
    check("f(x).y[i]", "(of (f x) .y[i])");
    check("a[*].b[0]", "(each a (of @ .b[0]))");
    check("a.*.b[0]", "(of (each a (of @ .b)) [0])");
    check("a[*].b[*].c", "(each a (each (of @ .b) (of @ .c)))");
    check("a.*", "(each a @)");
    check("[1,2][0]", "(of [1 2] [0])");
    check("a . b [ 0 ]", "a.b[0]");
}

#[test]
fn calls_take_namespaces_and_expansion() {
    check("f()", "(f)");
    check("f(a, b,)", "(f a b)");
    check("f(xs...)", "(f xs...)");
    check("provider::aws::arn_parse(x)", "(provider::aws::arn_parse x)");
    check("f(\n  a,\n  b # why\n)", "(f a b)");
}

#[test]
fn collections_are_read_in_all_their_forms() {
    check("{a = 1, \"b\" : 2, (c) = 3, 4 = 5}", "{a: 1 \"b\": 2 (c): 3 4: 5}");
    check("{\n a = 1\n\n b = 2 }", "{a: 1 b: 2}");
    check("{\"${x}\" = 1}", "{(template x): 1}");
    check("[for x in xs : x.id if x.ok]", "(for x in xs: x.id if x.ok)");
    check("{for k, v in m : k => v...}", "(for k, v in m: k => v...)");
    check("{ for v in m :\n v => 1\n if true }", "(for v in m: v => 1 if true)");
    check("{ true = 1 }", "{true: 1}");
    check("{ format = 1 }", "{format: 1}");
}

#[test]
fn templates_hold_interpolations_and_directives() {
    check(r#""a ${b} c""#, r#"(template "a " b " c")"#);
    check(r#""${b}""#, "(template b)");
    check(r#"" ${~ b ~} ""#, r#"(template "" b "")"#);
    check(r#""%{ if a }b%{ else }c%{ endif }""#, r#"(template (if a ["b"] ["c"]))"#);
    check(r#""%{ for k, v in m }${k}%{ endfor }""#, "(template (for k, v in m [k]))");
    check(r#""a${"b${"c"}"}""#, r#"(template "a" (template "b" "c"))"#);
}

#[test]
fn heredocs_keep_or_flush_their_indentation() {
    check("<<EOT\n  a\n    b\nEOT", r#""  a\n    b\n""#);
    check("<<-EOT\n    a\n      b\n\n    c\n  EOT", r#""a\n  b\n\nc\n""#);
    check("<<-EOT\n    a ${b}\n  ${c}\n  EOT\n", r#"(template "  a " b "\n" c "\n")"#);
    check("<<EOT\n\\n $${x}\nEOT", r#""\\n ${x}\n""#);
    check("f(<<A\nx\nA\n, 1)", r#"(f "x\n" 1)"#);
    check("<<EOT\nEOT", r#""""#);
}

#[test]
fn strip_markers_in_bare_text_reach_to_the_end_of_their_line() {
    let text = "%{ for x in xs ~}\n   b ${x}\n%{ endfor ~}\nc\n";
    let template = parse_template(text, any_file()).unwrap();
    assert_eq!(outline(&template), r#"(template (for x in xs ["   b " x "\n"]) "c\n")"#);
}

#[test]
fn places_are_exact() {
    let text = "1 + var.a[0].name";
    let expression = parse_expression(text, SourceMap::new().add("t", text)).unwrap();
    let trueup_lang::syntax::ExprKind::Binary(binary) = &expression.kind else { panic!("not an operator") };
    let at = |origin: trueup_core::Origin| &text[origin.start as usize..origin.end as usize];
    assert_eq!(at(expression.origin), text);
    let [operation] = binary.operations.as_slice() else { panic!("not one operator") };
    assert_eq!(at(operation.operator_origin), "+");
    assert_eq!(at(operation.right.origin), "var.a[0].name");
    let traversal = operation.right.as_static_traversal().unwrap();
    assert_eq!(traversal.to_string(), "var.a[0].name");
}
