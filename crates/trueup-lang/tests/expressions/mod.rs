//! Expressions and what they come to, in tables that people can read, a file per family.
//!
//! Our evaluator runs every case. Where Terraform is installed, it is asked the same, so that the tables say what its
//! language really does; cases in which ours differs on purpose are marked.

mod hostile;
mod referee;
mod secrets;
mod surroundings;
mod table;
mod templates;
mod types;
mod unknown;

use std::path::PathBuf;

use trueup_core::{JsonForm, SourceMap, Value};
use trueup_lang::eval::{Constants, Surroundings, evaluate};
use trueup_lang::syntax::parse_expression;

/// The folder that file functions of the cases look into.
fn files() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/expressions/files")
}

fn environment() -> Constants {
    Constants { surroundings: Surroundings { folder: files(), ..Surroundings::default() } }
}

/// What our evaluator makes of an expression: its value as JSON, or what it says is wrong.
fn evaluated(text: &str) -> Result<Value, String> {
    let file = SourceMap::new().add("case", text);
    let told = |diagnostics: trueup_core::Diagnostics| {
        let line = |diagnostic: &trueup_core::Diagnostic| {
            diagnostic.to_string().trim_start_matches("error: ").to_owned()
        };
        diagnostics.iter().map(line).collect::<Vec<_>>().join("; ")
    };
    let expression = parse_expression(text, file).map_err(told)?;
    let evaluated = evaluate(&expression, &environment());
    if evaluated.diagnostics.has_errors() { Err(told(evaluated.diagnostics)) } else { Ok(evaluated.value) }
}

/// JSON as Terraform's `jsonencode` would have it, for comparison: sets are lists, maps are objects.
fn plain_json(value: &Value) -> serde_json::Value {
    fn unwrapped(tree: serde_json::Value) -> serde_json::Value {
        match tree {
            serde_json::Value::Object(mut object) => {
                for wrapper in ["$set", "$map"] {
                    if let Some(inner) = object.remove(wrapper) {
                        return unwrapped(inner);
                    }
                }
                serde_json::Value::Object(
                    object.into_iter().map(|(key, item)| (key, unwrapped(item))).collect(),
                )
            }
            serde_json::Value::Array(items) => items.into_iter().map(unwrapped).collect(),
            other => other,
        }
    }
    unwrapped(value.to_json_tree(JsonForm::RECORD))
}
