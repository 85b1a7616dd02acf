//! UNKNOWN: values not known until apply.

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing, thing_from, with_output};

/// UNKNOWN-2, UNKNOWN-7: the url follows the size, so what reads it may change.
#[test]
fn dependents_of_an_update_may_update_and_are_decided_on_real_values() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let changed = program([thing("a", 2), thing_from("b", "a")]);
    insta::assert_snapshot!(bench.plan(&changed), @r#"
    ~ w_thing.a (inputs)
        size: 1 -> 2
    ~? w_thing.b (inputs, output-unknown)
        from: "thing/1/1" -> (unknown string)
    Plan: 1 to update, 1 may update
    "#);
    bench.world.calls();
    bench.deployed(&changed);
    assert!(bench.world.calls().contains(&"update b".to_owned()));
}

/// UNKNOWN-7: what turns out unchanged is not touched.
#[test]
fn a_possible_update_may_turn_out_a_no_op() {
    let bench = Bench::new();
    let reading = |colour: &str| {
        let a = resource("w_thing.a", [("from", lit(colour))]);
        program([a, thing_from("b", "a")])
    };
    bench.deployed(&reading("x"));
    assert!(bench.plan(&reading("y")).contains("~? w_thing.b"));
    bench.world.calls();
    bench.deployed(&reading("y"));
    let calls = bench.world.calls();
    assert!(calls.contains(&"update a".to_owned()) && !calls.contains(&"update b".to_owned()), "{calls:?}");
}

/// UNKNOWN-8
#[test]
fn an_unknown_replace_field_may_replace() {
    let bench = Bench::new();
    let coloured = |size| {
        let b = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
        program([thing("a", size), b])
    };
    bench.deployed(&coloured(1));
    insta::assert_snapshot!(bench.plan(&coloured(2)), @r#"
    ~ w_thing.a (inputs)
        size: 1 -> 2
    ±? w_thing.b create first (inputs, output-unknown)
        colour: "thing/1/1" -> (unknown string) forces replacement
    Plan: 1 to update, 1 may replace
    "#);
    bench.deployed(&coloured(2));
    assert_eq!(bench.world.things(), ["a=2", "b=1"]);
    assert_eq!(bench.records()["b"].current.as_ref().unwrap().number, 1);
}

/// UNKNOWN-3, APPLY-12
#[test]
fn stack_outputs_are_unknown_in_the_plan_and_real_at_the_end() {
    let bench = Bench::new();
    let program = with_output(program([thing("a", 3)]), "where", output("w_thing.a", "url"));
    let plan = bench.try_plan(&program).unwrap();
    assert_eq!(plan.outputs.to_string(), "{ where = (unknown any) }".replace("any", "string"));
    let report = bench.deployed(&program);
    assert_eq!(report.outputs.unwrap().to_string(), r#"{ where = "thing/1/3" }"#);
    assert_eq!(bench.try_plan(&program).unwrap().outputs.to_string(), r#"{ where = "thing/1/3" }"#);
}

/// UNKNOWN-12
#[test]
fn a_data_source_is_read_at_plan_unless_it_depends_on_what_changes() {
    use trueup_program::{DataDeclaration, Expression, Node};
    let bench = Bench::new();
    let with = |of: Expression, size| {
        let entries = vec![("of".into(), of)];
        let mut all = program([thing("a", size)]);
        all.data.push(DataDeclaration {
            address: "data.w_length.l".parse().unwrap(),
            provider: None,
            inputs: Expression::new(Node::Object(entries)),
            depends_on: Vec::new(),
            postconditions: Vec::new(),
            place: None,
        });
        with_output(all, "length", output("data.w_length.l", "length"))
    };
    let plan = bench.try_plan(&with(lit("four"), 1)).unwrap();
    assert_eq!(plan.outputs.to_string(), "{ length = 4 }");
    let of_url = |size| with(output("w_thing.a", "url"), size);
    insta::assert_snapshot!(bench.plan(&of_url(1)), @r"
    + w_thing.a (new)
    ? data.w_length.l (output-unknown)
    Plan: 1 to create
    ");
    bench.world.calls();
    let report = bench.deployed(&of_url(1));
    assert_eq!(report.outputs.unwrap().to_string(), "{ length = 9 }");
    assert_eq!(bench.world.calls().iter().filter(|call| *call == "measure l").count(), 1);
    assert!(bench.plan(&of_url(1)).ends_with("No changes"));
}

/// What refers to a whole resource sees all its attributes: outputs, inputs, and null where nobody set one.
#[test]
fn a_whole_resource_has_all_its_attributes() {
    let bench = Bench::new();
    let whole = with_output(program([thing("a", 2)]), "whole", output("w_thing.a", ""));
    let report = bench.deployed(&whole);
    let told = r#"{ whole = { colour = "red", from = null, id = 1, size = 2, url = "thing/1/2" } }"#;
    assert_eq!(report.outputs.unwrap().to_string(), told);
}

/// A preview knows what a plan knows: recorded outputs of what stays, nothing of what is still to be made.
#[test]
fn a_preview_gives_the_outputs_that_a_plan_knows() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 2)]));
    let seen = bench.preview(&program([thing("a", 2), thing("b", 1)]), &["w_thing.a", "w_thing.b"], "url");
    assert_eq!(seen, [r#""thing/1/2""#, "(unknown string)"]);
}
