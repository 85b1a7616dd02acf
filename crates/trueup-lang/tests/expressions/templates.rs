//! Texts of several lines, which no table can hold: a file of locals, evaluated by us and by Terraform.

use insta::assert_snapshot;
use serde_json::Value as Json;
use trueup_core::SourceMap;
use trueup_lang::eval::evaluate;
use trueup_lang::syntax::parse_source;

use crate::expressions::{environment, plain_json, referee};

const PROGRAM: &str = include_str!("templates.tf");

fn ours() -> Vec<(String, Json)> {
    let parsed = parse_source(&mut SourceMap::new(), "templates.tf", PROGRAM.as_bytes());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let locals = parsed.tree.blocks_named("locals").next().expect("a block");
    let evaluate = |attribute: &trueup_lang::syntax::Attribute| {
        let evaluated = evaluate(&attribute.value, &environment());
        assert!(evaluated.diagnostics.is_empty(), "{:?}", evaluated.diagnostics);
        (attribute.name.text.to_string(), plain_json(&evaluated.value))
    };
    locals.body.attributes().map(evaluate).collect()
}

#[test]
fn texts_of_several_lines_are_what_they_look_like() {
    let lines: Vec<String> = ours().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn terraform_reads_the_same_texts() {
    let ours = ours();
    let questions: Vec<String> = ours.iter().map(|(name, _)| format!("local.{name}")).collect();
    let Some(answers) = referee::ask(&questions, &[("main.tf", PROGRAM)]) else {
        println!("left out: there is no `terraform` to ask");
        return;
    };
    for ((name, found), answer) in ours.iter().zip(&answers) {
        let answer: Json = serde_json::from_str(answer).unwrap_or(Json::Null);
        assert!(referee::same(found, &answer), "{name}\n    ours      {found}\n    terraform {answer}");
    }
}
