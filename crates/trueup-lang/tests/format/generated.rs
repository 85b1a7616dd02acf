//! Laws that hold for every program.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use trueup_lang::format::format;

use crate::format::author::Author;
use crate::format::formatted;
use crate::format::meaning::meaning;

/// The comments of a text, in a form that layout does not change: what is in them. Only for texts of which no string
/// holds a comment's mark together with the words that the author's comments are made of.
fn comments(text: &str) -> Vec<&str> {
    let marks = ["# comment", "// comment", "/* a\n b */", "/* c */", "# é", "# c\n", "/* é */"];
    let mut found: Vec<(usize, &str)> = marks.iter().flat_map(|mark| text.match_indices(mark)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, mark)| mark).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trueup_test_servers::sized(300, 5_000)))]

    #[test]
    fn programs_keep_their_meaning_and_comments_and_stay_as_they_are(
        choices in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let program = Author::program(&choices, true);
        // What is nonsense beyond the grammar, such as two attributes of one name, is refused.
        if let Ok(once) = format(&program) {
            prop_assert_eq!(meaning(&program), meaning(&once), "{}\nformatted:\n{}", program, once);
            prop_assert_eq!(comments(&program), comments(&once), "{}\nformatted:\n{}", program, once);
            prop_assert_eq!(formatted(&once), once.clone(), "{}", program);
        }
    }
}

#[test]
fn most_generated_programs_can_be_read() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec(any::<u8>(), 0..300);
    let refused = (0..500)
        .map(|_| strategy.new_tree(&mut runner).expect("bytes").current())
        .filter(|choices| format(&Author::program(choices, true)).is_err())
        .count();
    assert!(refused < 50, "{refused} of 500 were refused");
}
