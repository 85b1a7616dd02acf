//! Texts made to hurt: deep, long, cut off, random.

use proptest::prelude::*;
use trueup_core::SourceMap;
use trueup_lang::eval::references;
use trueup_lang::syntax::{DEPTH_MAX, parse_expression, parse_source, parse_template};

use crate::syntax::any_file;

/// Small enough that a debug build of a deep recursion would overflow it.
const STACK_BYTES: usize = 1024 * 1024;

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
    thread.join().expect("the work succeeds");
}

#[test]
fn what_nests_too_deeply_is_refused_and_not_a_crash() {
    on_a_small_stack(|| {
        let many = 100_000;
        let texts = [
            "(".repeat(many),
            "[".repeat(many),
            "{a=".repeat(many),
            "-".repeat(many),
            "!".repeat(many),
            "f(".repeat(many),
            "a ? ".repeat(many),
            "\"${".repeat(many),
            "a[".repeat(many),
            format!("a{}", "[*]".repeat(many)),
            format!("\"{}\"", "%{ if a }".repeat(many)),
        ];
        for text in texts {
            let diagnostics = parse_expression(&text, any_file()).unwrap_err();
            let message = diagnostics.iter().next().unwrap().summary.clone();
            assert!(message.contains("nests deeper"), "{message}");
        }
        for (name, text) in [("a.tf", "a {\n".repeat(many)), ("a.tf.json", "{\"a\":[".repeat(many))] {
            let parsed = parse_source(&mut SourceMap::new(), name, text.as_bytes());
            assert!(parsed.diagnostics.iter().any(|it| it.summary.contains("nests deeper")));
        }
    });
}

/// BOUND-6: also to copy and to drop, on a stack that is smaller than any thread of the program has.
#[test]
fn what_nests_up_to_the_bound_is_read() {
    on_a_small_stack(|| {
        let many = DEPTH_MAX - 1;
        let texts = [
            format!("{}{}", "(".repeat(many - 1) + "1", ")".repeat(many - 1)),
            format!("{}{}", "[".repeat(many), "]".repeat(many)),
            format!("{}1{}", "{b=".repeat(many), "}".repeat(many)),
            format!("{}a", "-".repeat(many)),
            format!("{}a{}", "f(".repeat(many), ")".repeat(many)),
            format!("{}a{}", "a ? ".repeat(many), " : a".repeat(many)),
            format!("{}a{}", "\"x${".repeat(many), "}\"".repeat(many)),
            format!("{}a{}", "a[".repeat(many), "]".repeat(many)),
        ];
        for text in texts {
            let expression = parse_expression(&text, any_file());
            let expression = expression.unwrap_or_else(|it| panic!("{}: {it:?}", &text[..20]));
            assert_eq!(references(&expression.clone()).len(), text.matches('a').count());
        }
    });
}

#[test]
fn what_is_long_but_flat_is_read_in_one_go() {
    on_a_small_stack(|| {
        let steps = format!("a{}", ".b".repeat(100_000));
        parse_expression(&steps, any_file()).unwrap();
        parse_expression(&format!("a{}", " + a * b".repeat(100_000)), any_file()).unwrap();
        parse_expression(&format!("{}a", "a ? b : ".repeat(100_000)), any_file()).unwrap();
        let entries: String = (0..100_000).map(|at| format!("key{at} = {at}\n")).collect();
        parse_expression(&format!("{{\n{entries}}}"), any_file()).unwrap();
        let heredoc = format!("<<EOT\n{}EOT\n", "line ${x}\n".repeat(100_000));
        parse_expression(&heredoc, any_file()).unwrap();
        parse_template(&"%{ if a }x%{ endif }".repeat(100_000), any_file()).unwrap();
    });
}

/// Text made of the language's own words, which reaches further into the parser than random bytes do.
fn language_like() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "b ", "=", "==", "\n", " ", "{", "}", "[", "]", "(", ")", "\"", "${", "%{", "~", "if ", "for ",
        "in ", "else", "endif", "endfor", ":", "=>", "...", ".", ",", "*", "?", "<<EOT\n", "EOT\n", "<<-E\n",
        "E\n", "1", "0.5e", "\\", "\\u00", "#", "//", "/*", "*/", "&&", "!", "-", "::", "é", "\u{feff}",
        "\r\n",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.tf", "a.tf.json"] {
            let _ = parse_source(&mut SourceMap::new(), name, &bytes);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in language_like()) {
        for name in ["a.tf", "a.tf.json"] {
            let mut sources = SourceMap::new();
            let parsed = parse_source(&mut sources, name, text.as_bytes());
            // Rendering checks that every place is one of the text.
            trueup_core::Report::new(&sources, trueup_core::Style::Plain).render(&parsed.diagnostics);
        }
        let _ = parse_expression(&text, any_file());
        let _ = parse_template(&text, any_file());
    }
}
