//! The functions of Terraform's built-in provider: encode_tfvars decode_tfvars encode_expr.

use trueup_core::{Entries, Kind, SourceMap, Value, is_identifier};

use super::notation::{Notation, write};
use super::{
    Call, Function, Outcome, Problem, Returns, Wanted, any, function, json_text, param,
    refuse_longer_than_max,
};
use crate::eval::{Constants, calls_functions, evaluate};
use crate::format::{escaped, format};
use crate::syntax::parse_body;

pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "provider::terraform::decode_tfvars",
        &[param("src", Wanted::Text)],
        Returns::Any,
        decode_tfvars,
    ),
    function("provider::terraform::encode_expr", &[any("value")], Returns::Text, encode_expr),
    function("provider::terraform::encode_tfvars", &[any("value")], Returns::Text, encode_tfvars),
];

fn encode_tfvars(call: &Call<'_>) -> Outcome {
    let (Kind::Object(entries) | Kind::Map(entries)) = call.arguments[0].kind() else {
        return Err(Problem::at(0, "must be an object, whose keys become the names of variables"));
    };
    let mut text = String::new();
    for (name, value) in entries.iter() {
        if !is_identifier(name) {
            return Err(Problem::at(0, format!("{} is not the name of a variable", call.shown(name))));
        }
        text.push_str(name);
        text.push_str(" = ");
        write(value, &EXPRESSION, &mut text);
        text.push('\n');
    }
    laid_out(&text).map(Value::string)
}

fn encode_expr(call: &Call<'_>) -> Outcome {
    const START: &str = "x = ";
    let mut text = START.to_owned();
    write(&call.arguments[0], &EXPRESSION, &mut text);
    text.push('\n');
    let text = laid_out(&text)?;
    Ok(Value::string(text.trim_end().trim_start_matches(START)))
}

/// The text as the formatter lays it out.
fn laid_out(text: &str) -> Result<String, Problem> {
    refuse_longer_than_max(text.len())?;
    format(text).map_err(|wrong| {
        let first = wrong.iter().next().map(|it| it.summary.clone());
        Problem::new(first.unwrap_or_else(|| "the result cannot be laid out".to_owned()))
    })
}

/// Expressions of the language, before they are laid out.
const EXPRESSION: Notation = Notation { separator: ", ", write_string, write_entries };

fn write_entries(entries: &Entries, text: &mut String) {
    text.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        if at == 0 {
            text.push('\n');
        }
        match is_identifier(key) {
            true => text.push_str(key),
            false => write_string(key, text),
        }
        text.push_str(" = ");
        write(value, &EXPRESSION, text);
        text.push('\n');
    }
    text.push('}');
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    text.push_str(&escaped(string));
    text.push('"');
}

/// Values alone, as in a file of variables: no names, no functions, no blocks.
fn decode_tfvars(call: &Call<'_>) -> Outcome {
    let text = call.text(0);
    // The parser needs some file for its places; nothing looks the text up in it.
    let parsed = parse_body(text, SourceMap::new().add("", ""));
    if let Some(wrong) = parsed.diagnostics.iter().next() {
        return Err(Problem::at(0, format!("this cannot be read: {}", wrong.summary)));
    }
    if let Some(block) = parsed.tree.blocks().next() {
        return Err(Problem::at(0, format!("`{}` is a block, and values have none", block.name.text)));
    }
    let mut entries = Vec::new();
    for attribute in parsed.tree.attributes() {
        let (name, value) = (&attribute.name.text, &attribute.value);
        if calls_functions(value) {
            return Err(Problem::at(0, format!("`{name}` calls a function, and values call none")));
        }
        let evaluated = evaluate(value, &Constants::default());
        if let Some(wrong) = evaluated.diagnostics.iter().next() {
            return Err(Problem::at(0, format!("`{name}` has no value: {}", wrong.summary)));
        }
        entries.push((name.clone(), evaluated.value));
    }
    // Written and read again, it bears no places, which would be of another text.
    let decoded = Value::from_plain_json(&json_text(&Value::object(entries)));
    decoded.map_err(|error| Problem::at(0, error.to_string()))
}
