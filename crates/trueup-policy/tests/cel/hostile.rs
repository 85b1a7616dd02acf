//! Expressions that try to exhaust the stack.

use std::thread::Builder;

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
