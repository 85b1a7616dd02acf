//! Expressions that try to exhaust the stack, the memory or the reader's patience.

use std::thread::Builder;

use trueup_policy::cel::{Program, Steps};

use crate::cel::{constant, evaluated};

/// Less than any thread that evaluates policies has.
const STACK_BYTES: usize = 1024 * 1024;

fn with_little_stack(run: impl FnOnce() + Send + 'static) {
    let thread = Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread");
    thread.join().expect("no panic");
}

/// `opening` that many times, the kernel, and `closing` as often.
fn nested(opening: &str, kernel: &str, closing: &str, levels: usize) -> String {
    [opening.repeat(levels).as_str(), kernel, &closing.repeat(levels)].concat()
}

const SHAPES: [(&str, &str, &str); 15] = [
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{1: ", "1", "}"),
    ("[1].map(x, ", "x", ")"),
    ("[[1]].exists(x, x.all(y, ", "true", "))"),
    ("size([", "1", "])"),
    ("[0][", "0", "]"),
    ("true ? 1 : ", "2", ""),
    ("-", "(1)", ""),
    ("!", "true", ""),
    ("", "{}", ".a"),
    ("", "1", " + 1"),
    ("1 - (", "1", ")"),
    ("1 == 1 && (", "true", ")"),
    ("true || true && 1 == 1 + 1 * (", "1", ")"),
];

#[test]
fn deep_nesting_is_an_error_and_never_a_crash() {
    with_little_stack(|| {
        for (opening, kernel, closing) in SHAPES {
            for levels in [300, 20_000] {
                let text = nested(opening, kernel, closing, levels);
                let error = constant(&text).expect_err("too deep");
                let message = error.message();
                assert!(
                    message.starts_with("nested more than 100 levels")
                        || message.starts_with("more than 250 operators or selections"),
                    "{opening}…{closing}: {message}"
                );
            }
        }
    });
}

#[test]
fn what_the_limits_allow_fits_the_stack() {
    with_little_stack(|| {
        for (opening, kernel, closing) in SHAPES {
            let compiled = (1..=250).rev().find(|levels| {
                let outcome = constant(&nested(opening, kernel, closing, *levels));
                !matches!(outcome, Err(error) if error.message().contains("more than"))
            });
            assert!(compiled.is_some_and(|levels| levels >= 49), "{opening}…{closing}: {compiled:?}");
        }
        let chains = nested("(", "1", &format!("{})", " + 1".repeat(2)), 99);
        assert_eq!(constant(&chains).expect("99 brackets").to_string(), "199");
    });
}

#[test]
fn conditions_may_be_long() {
    let terms: Vec<String> = (0..20_000).map(|at| format!("resource.type == 'type{at}'")).collect();
    assert_eq!(evaluated(&terms.join(" || ")).expect("a long condition").to_string(), "false");
    assert_eq!(evaluated(&terms.join(" && ")).expect("a long condition").to_string(), "false");
    let list: Vec<String> = (0..20_000).map(|at| at.to_string()).collect();
    assert_eq!(
        evaluated(&format!("[{}].size()", list.join(", "))).expect("a long list").to_string(),
        "20000"
    );
}

/// POLICY-5: expressions that would run for hours, or fill the memory, end with an error.
#[test]
fn expressions_that_take_too_long_are_errors() {
    let ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]";
    let loops = |fold: &str, kernel: &str, close: &str| {
        let opened: String = (0..12).map(|at| format!("{ten}.{fold}(x{at}, ")).collect();
        format!("{opened}{kernel}{}", close.repeat(12))
    };
    let doubled = |seed: &str| {
        let opened: String = (0..60)
            .map(|at| match at {
                0 => format!("[{seed}].map(x0, "),
                _ => format!("[x{0} + x{0}].map(x{at}, ", at - 1),
            })
            .collect();
        format!("{opened}x59{}.size() > 0", ")".repeat(60))
    };
    let rows = [
        loops("all", "true", ")"),
        loops("exists", "false", ")"),
        format!("{} || true", loops("exists", "false", ")")),
        format!("{} && false", loops("all", "true", ")")),
        loops("map", "1", ")"),
        loops("filter", "true", ").size() > 0"),
        loops("exists_one", "true", ")"),
        doubled("'a'"),
        doubled("b'a'"),
        doubled("[1]"),
        format!("{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, !'x'.matches('x{{9}}' + string(a))))))"),
    ];
    for text in rows {
        let program = Program::compile(&text, &[]).expect(&text);
        let error = program.evaluate_within(&[], &Steps::new(100_000)).expect_err(&text);
        assert_eq!(error.message(), "it takes more than 100000 steps", "{text}");
        assert!(error.is_out_of_steps() && error.fix().is_some());
    }
}

/// POLICY-5: a value that shares its parts costs little to make and takes for ever to visit.
#[test]
fn values_that_share_their_parts_are_not_visited_for_free() {
    let doubled = |seed: &str, by: &str| format!("[{seed}]{}", format!(".map(x, {by})").repeat(45));
    let visited = [
        format!("{0} == {0}", doubled("1", "[x, x]")),
        format!("{0} != {0}", doubled("1", "[x, x]")),
        format!("{0} == {0}", doubled("1", "{'a': x, 'b': x}")),
        format!("{0} == {0}", doubled("1", "[optional.of(x), optional.of(x)]")),
        format!("{0} in [{0}]", doubled("1", "[x, x]")),
        format!("[{0}].map(d, {{'a': d, 'b': 1}} == {{'a': d, 'c': 1}} || d == d)", doubled("1", "[x, x]")),
    ];
    for text in visited {
        let program = Program::compile(&text, &[]).expect(&text);
        let error = program.evaluate_within(&[], &Steps::new(100_000)).expect_err(&text);
        assert_eq!(error.message(), "it takes more than 100000 steps", "{text}");
        assert!(error.is_out_of_steps());
    }
    let deep = doubled("1", "[x, x]");
    let unvisited = [
        (format!("{deep} == [1]"), "false"),
        (format!("{deep} in [1, [1]]"), "false"),
        (format!("{deep} == {deep}.map(x, [x])"), "false"),
        (format!("{{'a': {deep}, 'b': 1}} == {{'a': {deep}, 'c': 1}}"), "false"),
        (format!("size({deep})"), "1"),
        (format!("{{'a': 1}}[{deep}]"), "no such key: a value of type list"),
        (format!("{{'a': 1}}[optional.of({deep})]"), "no such key: a value of type optional_type"),
        (format!("string({deep})"), "`string` is not defined for list"),
        (format!("{deep} < {deep}"), "`<` is not defined for list and list"),
        (format!("[1][{deep}]"), "`[]` is not defined for list and list"),
    ];
    for (text, expected) in unvisited {
        let program = Program::compile(&text, &[]).expect(&text);
        let told = match program.evaluate_within(&[], &Steps::new(100_000)) {
            Ok(value) => value.to_string(),
            Err(error) => error.message().to_owned(),
        };
        assert_eq!(told, expected, "{text}");
    }
}

/// POLICY-5: long texts cost what it takes to compare them, as keys and in order too.
#[test]
fn long_texts_are_not_compared_for_free() {
    let long: String = (0..16).map(|_| ".map(x, x + x)").collect();
    let rows = ["t < u", "t >= u", "t in {u: 1}", "{u: 1}[t] == 1", "{t: 1} == {u: 1}", "t == u", "t in [u]"];
    for row in rows {
        let again = format!("[1, 2, 3, 4, 5, 6, 7, 8].all(n, {row} || true)");
        let text = format!("['a']{long}.all(t, ['a']{long}.all(u, {again}))");
        let steps = Steps::new(10_000_000);
        Program::compile(&text, &[]).expect(&text).evaluate_within(&[], &steps).expect(&text);
        assert!(steps.taken() > 2 * 8192 + 8 * 4096, "{row}: {}", steps.taken());
    }
}

/// An error quotes no more of a text than anyone reads.
#[test]
fn messages_stay_short() {
    let long: String = (0..16).map(|_| ".map(x, x + x)").collect();
    let error = constant(&format!("['ä']{long}.all(t, {{'a': 1}}[t] == 1)")).expect_err("no such key");
    assert!(error.message().starts_with("no such key: ä") && error.message().len() < 1100);
}

/// Values nest with what a macro makes of them, beyond what the expression does.
#[test]
fn values_that_macros_nest_fit_the_stack() {
    with_little_stack(|| {
        let brackets = format!("{}x{}", "[".repeat(80), "]".repeat(80));
        let deep = format!("[1]{}", format!(".map(x, {brackets})").repeat(100));
        for text in [format!("{deep} == {deep}"), format!("size({deep}) == 1")] {
            let error = constant(&text).expect_err("too deep");
            assert!(error.message().starts_with("the value nests more than"), "{error}");
        }
        let fair = format!("[1]{}", format!(".map(x, {brackets})").repeat(3));
        assert_eq!(constant(&format!("{fair} == {fair}")).expect("fair").to_string(), "true");
    });
}

/// A pattern that is made while the policy runs may not become large.
#[test]
fn a_pattern_that_is_made_meanwhile_is_bounded() {
    let error = constant(r"'x'.matches('(\\w{50}){50}' + '')").expect_err("too large");
    assert!(error.message().starts_with("invalid regular expression"), "{error}");
}
