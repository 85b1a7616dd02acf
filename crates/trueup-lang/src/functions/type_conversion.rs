//! Types and marks: tobool tolist tomap tonumber toset tostring, sensitive nonsensitive issensitive ephemeralasnull,
//! type.

use trueup_core::{Kind, Marks, Type, Value};

use super::{Call, Function, Outcome, Problem, Returns, function, nullable};
use crate::types::convert_unified;

const VALUE: &[super::Parameter] = &[nullable("v")];

pub(super) const FUNCTIONS: &[Function] = &[
    function("tobool", VALUE, Returns::Bool, |call| to(call, &Type::Bool)).with_unknown().with_secrets(),
    function("tonumber", VALUE, Returns::Number, |call| to(call, &Type::Number))
        .with_unknown()
        .with_secrets(),
    function("tostring", VALUE, Returns::Text, |call| to(call, &Type::String)).with_unknown().with_secrets(),
    function("tolist", VALUE, Returns::Any, |call| to(call, &Type::list(Type::Any)))
        .with_unknown()
        .with_secrets(),
    function("toset", VALUE, Returns::Any, |call| to(call, &Type::set(Type::Any)))
        .with_unknown()
        .with_secrets(),
    function("tomap", VALUE, Returns::Any, |call| to(call, &Type::map(Type::Any)))
        .with_unknown()
        .with_secrets(),
    function("sensitive", &[nullable("value")], Returns::Any, |call| {
        Ok(call.arguments[0].clone().into_secret())
    })
    .with_unknown()
    .with_secrets(),
    function("nonsensitive", &[nullable("value")], Returns::Any, |call| {
        let (value, marks) = (&call.arguments[0], call.arguments[0].marks());
        Ok(value.clone().reveal().with_marks(marks.less(Marks::SECRET)))
    })
    .with_unknown()
    .with_secrets(),
    function("issensitive", &[nullable("value")], Returns::Bool, issensitive).with_unknown().with_secrets(),
    function("ephemeralasnull", &[nullable("value")], Returns::Any, |call| {
        Ok(call.arguments[0].without_ephemeral())
    })
    .with_unknown()
    .with_secrets(),
    function("type", &[nullable("value")], Returns::Text, |call| {
        let value = &call.arguments[0];
        let written = Type::of(value).to_string();
        // The type of an object names its keys, which may be secret (SECRET-9), and that of a tuple its length.
        let telling = written.contains("object(") || written.contains("tuple(");
        let marks = if telling { value.all_marks() } else { Marks::NONE };
        Ok(Value::string(written).with_marks(marks))
    })
    .with_unknown()
    .with_secrets(),
];

fn to(call: &Call<'_>, wanted: &Type) -> Outcome {
    convert_unified(&call.arguments[0], wanted).map_err(|mismatches| {
        let message = mismatches.first().map_or("", |mismatch| mismatch.message.as_str());
        let place =
            mismatches.first().map(|mismatch| mismatch.path.to_string()).filter(|path| !path.is_empty());
        match place {
            Some(path) => Problem::at(0, format!("{path}: {message}")),
            None => Problem::at(0, message.to_owned()),
        }
    })
}

fn issensitive(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    if value.marks().less(Marks::EPHEMERAL) != Marks::NONE {
        return Ok(Value::from(true));
    }
    // It may turn out to be secret only once it is there.
    Ok(if matches!(value.kind(), Kind::Unknown(_)) { Value::unknown(Type::Bool) } else { Value::from(false) })
}
