//! Formatting: format formatlist, in the manner of C's `printf`.

mod directive;
mod number;

use trueup_core::{Kind, Refinement, Type, Value};

use super::{
    Call, Function, Outcome, Problem, Returns, Wanted, counted, function, nullable, param,
    refuse_longer_than_max,
};
use directive::{Part, parts};

pub(super) const FUNCTIONS: &[Function] = &[
    function("format", &[param("format", Wanted::Text)], Returns::Text, format)
        .more(nullable("args"))
        .with_unknown(),
    function("formatlist", &[param("format", Wanted::Text)], Returns::Texts, formatlist)
        .more(nullable("args"))
        .with_unknown(),
];

/// What stands before the first directive is known whatever the arguments are.
fn format(call: &Call<'_>) -> Outcome {
    if call.arguments.iter().all(Value::is_wholly_known) {
        return formatted(call, &call.arguments[1..]).map(Value::string);
    }
    let beginning = match parts(call.text(0)).unwrap_or_default().first() {
        Some(Part::Text(literal)) => *literal,
        _ => "",
    };
    Ok(Value::refined(Type::String, Refinement::beginning(beginning)))
}

/// What is wrong with a format quotes it, so nothing of that is told of a secret one.
fn formatted(call: &Call<'_>, arguments: &[Value]) -> Result<String, Problem> {
    render(call.text(0), arguments).map_err(|problem| match call.concealed() {
        true => Problem {
            argument: problem.argument,
            ..Problem::new("the format and its arguments do not fit together")
        },
        false => problem,
    })
}

fn render(format: &str, arguments: &[Value]) -> Result<String, Problem> {
    let mut text = String::new();
    let mut used = 0;
    let mut next = 0;
    for part in parts(format)? {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Directive(directive) => {
                let at = directive.argument.unwrap_or(next);
                next = at + 1;
                used = used.max(next);
                let Some(value) = arguments.get(at) else {
                    let count = arguments.len();
                    return Err(Problem::at(
                        0,
                        format!(
                            "`{}` asks for argument {next} after the format, and there are {count}",
                            directive.text
                        ),
                    ));
                };
                text.push_str(&directive.format(value).map_err(|message| Problem::at(at + 1, message))?);
                refuse_longer_than_max(text.len())?;
            }
        }
    }
    if used < arguments.len() {
        return Err(Problem::at(
            used + 1,
            format!("the format uses {}, and there are {}", counted(used, "argument"), arguments.len()),
        ));
    }
    Ok(text)
}

/// Formats once for each element of the lists; what is no list is the same each time.
fn formatlist(call: &Call<'_>) -> Outcome {
    let arguments = &call.arguments[1..];
    let is_open = |argument: &Value| match argument.kind() {
        Kind::Unknown(ty) => matches!(ty, Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)),
        // Unknown elements may turn out to be the same.
        Kind::Set(_) => !argument.is_wholly_known(),
        _ => false,
    };
    if arguments.iter().any(is_open) {
        return Ok(Value::unknown(Type::list(Type::String)).never_null());
    }
    let mut length = None;
    for (at, argument) in arguments.iter().enumerate() {
        let (Kind::List(items) | Kind::Set(items)) = argument.kind() else { continue };
        match length {
            None => length = Some(items.len()),
            Some(length) if length != items.len() => {
                let message = format!(
                    "this list has {} elements and another {length}; they must be as long",
                    items.len()
                );
                return Err(Problem::at(at + 1, message));
            }
            Some(_) => {}
        }
    }
    let row = |at: usize| -> Vec<Value> {
        let one = |argument: &Value| match argument.kind() {
            Kind::List(items) | Kind::Set(items) => items[at].clone(),
            _ => argument.clone(),
        };
        arguments.iter().map(one).collect()
    };
    let mut bytes = 0;
    let rows = (0..length.unwrap_or(1)).map(|at| {
        let row = row(at);
        if call.arguments[0].is_unknown() || !row.iter().all(Value::is_wholly_known) {
            return Ok(Value::unknown(Type::String).never_null());
        }
        let text = formatted(call, &row)?;
        bytes += text.len();
        refuse_longer_than_max(bytes)?;
        Ok(Value::string(text))
    });
    Ok(Value::list(rows.collect::<Result<Vec<_>, Problem>>()?))
}

/// The text of a plain value.
fn plain_text(value: &Value) -> Option<String> {
    let converted = trueup_core::convert(value, &Type::String).ok()?;
    converted.as_str().map(str::to_owned)
}
