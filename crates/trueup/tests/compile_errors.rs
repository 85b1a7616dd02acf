//! Mistakes in the structs and programs of users are compile errors that say what to do.

#[test]
fn mistakes_do_not_compile_and_say_why() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
