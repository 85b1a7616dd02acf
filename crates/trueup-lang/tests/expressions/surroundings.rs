//! Functions that depend on when and where they are called.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use trueup_core::SourceMap;
use trueup_front_end::RandomBytes;
use trueup_lang::eval::{Constants, Moment, Surroundings, evaluate};
use trueup_lang::syntax::parse_expression;

fn shown(text: &str, surroundings: &Surroundings) -> String {
    let expression = parse_expression(text, SourceMap::new().add("case", text)).expect("an expression");
    let evaluated = evaluate(&expression, &Constants { surroundings: surroundings.clone() });
    match evaluated.diagnostics.iter().next() {
        Some(told) => told.summary.clone(),
        None => evaluated.value.to_string(),
    }
}

#[test]
fn time_and_randomness_are_unknown_before_apply() {
    let planning = Surroundings { plan_time: Some(UNIX_EPOCH), ..Surroundings::default() };
    for call in ["timestamp()", "uuid()", "bcrypt(\"x\")"] {
        assert_eq!(shown(call, &planning), "(unknown string)", "{call}");
    }
    assert_eq!(shown("plantimestamp()", &planning), "\"1970-01-01T00:00:00Z\"");
    assert_eq!(shown("plantimestamp()", &Surroundings::default()), "(unknown string)");
}

#[test]
fn time_and_randomness_come_from_the_environment() {
    let random: Arc<RandomBytes> = Arc::new(|bytes: &mut [u8]| bytes.fill(0xab));
    let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let applying = Surroundings { moment: Some(Moment { now, random }), ..Surroundings::default() };
    assert_eq!(shown("timestamp()", &applying), "\"2023-11-14T22:13:20Z\"");
    assert_eq!(shown("uuid()", &applying), "\"abababab-abab-4bab-abab-abababababab\"");
    assert!(shown("bcrypt(\"x\", 4)", &applying).starts_with("\"$2a$04$"));
}

#[test]
fn the_home_folder_is_what_the_environment_says() {
    let at_home =
        Surroundings { home: Some("/home/me".into()), folder: "/work".into(), ..Surroundings::default() };
    assert_eq!(shown("pathexpand(\"~/x\")", &at_home), "\"/home/me/x\"");
    assert_eq!(shown("pathexpand(\"~x\")", &at_home), "\"~x\"");
    assert_eq!(shown("pathexpand(\"~\")", &Surroundings::default()), "\"~\"");
    assert_eq!(shown("abspath(\"a/../b\")", &at_home), "\"/work/b\"");
}

#[test]
fn a_template_in_a_text_sees_only_what_it_is_given() {
    let nowhere = Surroundings::default();
    assert_eq!(shown("templatestring(\"a $${x}\", { x = 1 })", &nowhere), "\"a 1\"");
    assert_eq!(
        shown("templatestring(\"a $${y}\", { x = 1 })", &nowhere),
        "`templatestring`: the template, line 1: the template uses `y`, which it is not given"
    );
}
