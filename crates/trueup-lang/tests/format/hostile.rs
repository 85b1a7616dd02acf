//! Texts made to hurt: random, deep, long, wide.

use proptest::prelude::*;
use trueup_lang::format::format;

use crate::format::formatted;
use crate::format::meaning::meaning;

/// Text made of the language's own words.
fn language_like() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "b ", "=", "==", "\n", " ", "{", "}", "[", "]", "(", ")", "\"", "${", "%{", "~", "if ", "for ",
        "in ", "else", "endif", "endfor", ":", "=>", "...", ".", ",", "*", "?", "<<EOT\n", "EOT\n", "<<-E\n",
        "E\n", "1", "0.5e", "\\", "\\u00", "#", "//", "/*", "*/", "&&", "!", "-", "::", "é", "\u{feff}",
        "\r\n", "\r", "a = ", "\n1 .0",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

/// A value of a few words has a fair chance to be one.
fn short_value() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "1", ".", ".0", "-", "!", " ", "(", ")", "[", "]", "\"", "${", "}", "\"${", "}\"", "{", "\n",
        "+", "/* c */", "#c\n", "<<E\n", "E\n", ",", "*", "~", "<", "f(", "\r", "\t", "?", ":",
    ]);
    prop::collection::vec(words, 1..9).prop_map(|words| format!("x = {}\n", words.concat()))
}

fn check(text: &str) -> Result<(), TestCaseError> {
    if let Ok(once) = format(text) {
        prop_assert_eq!(meaning(text), meaning(&once), "{}\nformatted:\n{}", text, once);
        prop_assert_eq!(formatted(&once), once.clone(), "{:?}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trueup_test_servers::sized(500, 8_000)))]

    #[test]
    fn no_text_makes_the_formatter_panic(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn no_row_of_words_makes_the_formatter_panic(text in language_like()) {
        check(&text)?;
    }

    #[test]
    fn short_values_keep_their_meaning(text in short_value()) {
        check(&text)?;
    }
}

#[test]
fn what_nests_too_deeply_is_refused() {
    for text in ["a {\n".repeat(100_000), format!("a = {}", "[".repeat(100_000))] {
        assert!(format(&text).is_err());
    }
}

#[test]
fn many_layers_of_interpolation_are_unwrapped() {
    let layers = 30;
    let text = format!("a = {}x{}\n", "\"${".repeat(layers), "}\"".repeat(layers));
    assert_eq!(formatted(&text), "a = x\n");
}

#[test]
fn a_file_of_fifty_thousand_lines_is_formatted() {
    let block = "resource \"a\" \"b\" {\ncount=1 # one\nlong_name=\"x ${ var.y }\" # two\ntags={\nName=\"${ z }\"\n}\n\
                 # note\nlist=[1,2,\n3]\n}\n";
    let text = block.repeat(5_000);
    assert_eq!(text.lines().count(), 50_000);
    let once = formatted(&text);
    assert!(once.starts_with("resource \"a\" \"b\" {\n  count     = 1            # one\n"));
    assert_eq!(formatted(&once), once);
}

/// One long name before many short ones makes a text that is much larger aligned.
#[test]
fn columns_do_not_fill_the_memory() {
    let short: String = (0..100_000).map(|at| format!("a{at}=1\n")).collect();
    let text = format!("{}=1\n{short}", "x".repeat(1_000_000));
    let diagnostics = format(&text).unwrap_err();
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.summary.contains("more than 32 MiB")));
}
