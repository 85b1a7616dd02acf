//! Maps, objects and lists as a whole: coalesce coalescelist contains index keys length lookup merge one transpose
//! values zipmap alltrue anytrue matchkeys.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use trueup_core::{Kind, Marks, Type, Value, convert};
use unicode_segmentation::UnicodeSegmentation;

use super::compare::{Found, find};
use super::{Call, Function, Outcome, Problem, Returns, Wanted, any, function, nullable, param};
use crate::types::{convert_unified, unify};

pub(super) const FUNCTIONS: &[Function] = &[
    function("alltrue", &[param("list", Wanted::Bools)], Returns::Bool, |call| truth(call, false))
        .with_unknown(),
    function("anytrue", &[param("list", Wanted::Bools)], Returns::Bool, |call| truth(call, true))
        .with_unknown(),
    function("coalesce", &[], Returns::Any, coalesce).more(nullable("vals")).with_unknown().with_secrets(),
    function("coalescelist", &[], Returns::Any, coalescelist).more(any("vals")).with_unknown().with_secrets(),
    function("contains", &[any("list"), any("value")], Returns::Bool, contains).with_unknown(),
    function("index", &[any("list"), any("value")], Returns::Number, index).with_unknown(),
    function("keys", &[any("inputMap")], Returns::Texts, keys).with_unknown().with_secrets(),
    function("length", &[any("value")], Returns::Number, length).with_unknown().with_secrets(),
    function("lookup", &[any("inputMap"), param("key", Wanted::Text)], Returns::Element(0), lookup)
        .more(nullable("default"))
        .with_unknown()
        .with_secrets(),
    function(
        "matchkeys",
        &[param("values", Wanted::List), param("keys", Wanted::List), param("searchset", Wanted::List)],
        Returns::Same(0),
        matchkeys,
    ),
    function("merge", &[], Returns::Any, merge).more(nullable("maps")).with_unknown().with_secrets(),
    function("one", &[any("list")], Returns::Element(0), one).with_unknown().with_secrets(),
    function("transpose", &[param("values", Wanted::MapOfTexts)], Returns::MapOfTexts, transpose),
    function("values", &[any("mapping")], Returns::Any, values).with_unknown().with_secrets(),
    function("zipmap", &[param("keys", Wanted::Texts), any("values")], Returns::Any, zipmap)
        .with_unknown()
        .with_secrets(),
];

/// Whether any element is `wanted`, or, where `wanted` is false, none. Null counts as false.
fn truth(call: &Call<'_>, wanted: bool) -> Outcome {
    let Some(items) = call.arguments[0].as_items() else { return Ok(Value::unknown(Type::Bool)) };
    let decided = items.iter().any(|item| {
        let counts_as = item.as_bool().or(item.is_null().then_some(false));
        counts_as == Some(wanted)
    });
    if decided {
        return Ok(Value::from(wanted));
    }
    let open = items.iter().any(Value::is_unknown);
    Ok(if open { Value::unknown(Type::Bool) } else { Value::from(!wanted) })
}

fn coalesce(call: &Call<'_>) -> Outcome {
    if call.arguments.is_empty() {
        return Err(Problem::new("needs at least one argument"));
    }
    let types: Vec<Type> = call.arguments.iter().filter(|value| !value.is_null()).map(Type::of).collect();
    if types.is_empty() {
        return Err(Problem::new("all arguments are null or empty"));
    }
    // Beside a null nothing is said about types, as in Terraform.
    let any_type = || call.arguments.iter().any(Value::is_null).then_some(Type::Any);
    let Some(ty) = unify(&types).or_else(any_type) else {
        return Err(Problem::new("the arguments have no type in common"));
    };
    // That those before it are null or empty tells of them.
    let mut marks = Marks::NONE;
    for value in call.arguments {
        marks |= value.marks();
        if value.is_unknown() {
            return Ok(Value::unknown(ty).with_marks(marks));
        }
        if value.is_null() || (ty == Type::String && value.as_str() == Some("")) {
            continue;
        }
        let converted = convert(value, &ty).map_err(|_| Problem::new("the arguments have no type in common"));
        return Ok(converted?.with_marks(marks));
    }
    Err(Problem::new("all arguments are null or empty"))
}

fn coalescelist(call: &Call<'_>) -> Outcome {
    if call.arguments.is_empty() {
        return Err(Problem::new("needs at least one list"));
    }
    for (at, value) in call.arguments.iter().enumerate() {
        match value.kind() {
            Kind::List(_) | Kind::Unknown(Type::Any | Type::List(_) | Type::Tuple(_)) => {}
            kind => return Err(Problem::at(at, format!("needs lists, found {}", kind.name()))),
        }
    }
    // That those before it are empty tells of them.
    let mut marks = Marks::NONE;
    for value in call.arguments {
        marks |= value.marks();
        if value.is_unknown() {
            return Ok(Value::unknown(Type::Any).with_marks(marks));
        }
        if value.children().next().is_some() {
            return Ok(value.clone().with_marks(marks));
        }
    }
    Err(Problem::new("all lists are empty"))
}

fn contains(call: &Call<'_>) -> Outcome {
    let items = match call.arguments[0].kind() {
        Kind::List(items) | Kind::Set(items) => items,
        Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
            return Ok(Value::unknown(Type::Bool));
        }
        kind => {
            let problem = Problem::at(0, format!("needs a list or set, found {}", kind.name()));
            return Err(match kind {
                Kind::String(_) => problem.hint("to search in a text use `strcontains`"),
                Kind::Map(_) | Kind::Object(_) => {
                    problem.hint("to search among keys write contains(keys(x), key)")
                }
                _ => problem,
            });
        }
    };
    Ok(match find(items, &call.arguments[1]) {
        Found::At(_) => Value::from(true),
        Found::Nowhere => Value::from(false),
        Found::Open => Value::unknown(Type::Bool),
    })
}

fn index(call: &Call<'_>) -> Outcome {
    let items = match call.arguments[0].kind() {
        Kind::List(items) => items,
        Kind::Unknown(Type::Any | Type::List(_) | Type::Tuple(_)) => return Ok(Value::unknown(Type::Number)),
        kind => return Err(Problem::at(0, format!("needs a list, found {}", kind.name()))),
    };
    if items.is_empty() {
        return Err(Problem::at(0, "cannot search an empty list"));
    }
    match find(items, &call.arguments[1]) {
        Found::At(at) => Ok(Value::from(at)),
        Found::Nowhere => Err(Problem::at(1, "the value is not in the list")),
        Found::Open => Ok(Value::unknown(Type::Number)),
    }
}

fn keys(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let keys = match value.kind() {
        Kind::Map(entries) | Kind::Object(entries) => {
            Value::list(entries.keys().map(|key| Value::string(key.clone())))
        }
        Kind::Unknown(Type::Object(object)) => {
            Value::list(object.attributes.keys().map(|key| Value::string(key.clone())))
        }
        Kind::Unknown(Type::Any | Type::Map(_)) => Value::unknown(Type::list(Type::String)),
        kind => return Err(Problem::at(0, format!("needs a map or object, found {}", kind.name()))),
    };
    Ok(keys.with_marks(value.marks()))
}

fn values(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let values = match value.kind() {
        Kind::Map(entries) | Kind::Object(entries) => {
            Value::list(entries.iter().map(|(_, item)| item.clone()))
        }
        Kind::Unknown(Type::Map(element)) => Value::unknown(Type::List(element.clone())),
        Kind::Unknown(Type::Any | Type::Object(_)) => Value::unknown(Type::Any),
        kind => return Err(Problem::at(0, format!("needs a map or object, found {}", kind.name()))),
    };
    Ok(values.with_marks(value.marks()))
}

fn length(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let length = match value.kind() {
        Kind::String(text) => Value::from(text.graphemes(true).count()),
        Kind::List(items) => Value::from(items.len()),
        // Unknown elements may turn out to be the same.
        Kind::Set(items) if !items.iter().all(Value::is_wholly_known) => Value::unknown(Type::Number),
        Kind::Set(items) => Value::from(items.len()),
        Kind::Map(entries) | Kind::Object(entries) => Value::from(entries.len()),
        Kind::Unknown(Type::Tuple(elements)) => Value::from(elements.len()),
        Kind::Unknown(Type::Object(object)) => Value::from(object.attributes.len()),
        Kind::Unknown(Type::Any | Type::String | Type::List(_) | Type::Set(_) | Type::Map(_)) => {
            Value::unknown(Type::Number)
        }
        Kind::Unknown(ty @ (Type::Bool | Type::Number)) => {
            return Err(Problem::at(0, format!("needs a text, list, set, map or object, found a {ty}")));
        }
        kind => {
            let found = kind.name();
            return Err(Problem::at(0, format!("needs a text, list, set, map or object, found {found}")));
        }
    };
    Ok(length.with_marks(size_marks(value)))
}

/// The marks of what decides how large something is. Of a set, those of its elements: two that are equal are one.
fn size_marks(value: &Value) -> Marks {
    if matches!(value.kind(), Kind::Set(_)) { value.all_marks() } else { value.marks() }
}

fn lookup(call: &Call<'_>) -> Outcome {
    if call.arguments.len() > 3 {
        return Err(Problem::new("expected a map, a key and perhaps a default"));
    }
    let (map, key) = (&call.arguments[0], &call.arguments[1]);
    let marks = map.marks() | key.marks();
    let default = call.arguments.get(2);
    let (entries, is_map) = match map.kind() {
        Kind::Map(entries) => (entries, true),
        Kind::Object(entries) => (entries, false),
        Kind::Unknown(Type::Any | Type::Map(_) | Type::Object(_)) => {
            return Ok(Value::unknown(Returns::Element(0).ty(call.arguments)).with_marks(marks));
        }
        kind => return Err(Problem::at(0, format!("needs a map or object, found {}", kind.name()))),
    };
    let Some(name) = key.as_str() else { return Ok(Value::unknown(Type::Any).with_marks(marks)) };
    if let Some(value) = entries.get(name) {
        return Ok(value.clone().with_marks(marks));
    }
    let Some(default) = default else {
        let shown = if marks != Marks::NONE { "(secret)".to_owned() } else { format!("{name:?}") };
        let problem =
            Problem::at(1, format!("there is no element with the key {shown}, and no default is given"));
        return Err(problem);
    };
    // The default takes the type of the other elements of a map.
    let types: Vec<Type> = entries.iter().map(|(_, value)| Type::of(value)).collect();
    let default = match unify(&types) {
        Some(ty) if is_map && ty != Type::Any => convert(default, &ty)
            .map_err(|_| Problem::at(2, format!("the default must be like the elements: {ty}")))?,
        _ => default.clone(),
    };
    Ok(default.with_marks(marks))
}

fn matchkeys(call: &Call<'_>) -> Outcome {
    let items = |at: usize| call.arguments[at].as_items().unwrap_or_default();
    let (values, keys, wanted) = (items(0), items(1), items(2));
    if values.len() != keys.len() {
        let message =
            format!("there are {} values and {} keys; they must be as many", values.len(), keys.len());
        return Err(Problem::at(1, message));
    }
    let types: Vec<Type> = keys.iter().chain(wanted).map(Type::of).collect();
    let ty = unify(&types).unwrap_or(Type::Any);
    let converted = |items: &[Value]| -> Vec<Value> {
        items.iter().map(|item| convert(item, &ty).unwrap_or_else(|_| item.clone())).collect()
    };
    let (keys, wanted) = (converted(keys), converted(wanted));
    let taken = values.iter().zip(&keys).filter(|(_, key)| matches!(find(&wanted, key), Found::At(_)));
    Ok(Value::list(taken.map(|(value, _)| value.clone())))
}

fn merge(call: &Call<'_>) -> Outcome {
    let mut merged: BTreeMap<SmolStr, Value> = BTreeMap::new();
    let (mut all_maps, mut marks, mut open) = (!call.arguments.is_empty(), Marks::NONE, false);
    for (at, value) in call.arguments.iter().enumerate() {
        marks |= value.marks();
        match value.kind() {
            Kind::Null => {}
            Kind::Map(entries) => {
                merged.extend(entries.iter().map(|(key, item)| (key.clone(), item.clone())));
            }
            Kind::Object(entries) => {
                all_maps = false;
                merged.extend(entries.iter().map(|(key, item)| (key.clone(), item.clone())));
            }
            Kind::Unknown(Type::Any | Type::Map(_) | Type::Object(_)) => open = true,
            kind => return Err(Problem::at(at, format!("needs maps or objects, found {}", kind.name()))),
        }
    }
    let merged = match (open, all_maps) {
        (true, _) => Value::unknown(Type::Any),
        (false, true) => Value::map(merged),
        (false, false) => Value::object(merged),
    };
    Ok(merged.with_marks(marks))
}

fn one(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let items = match value.kind() {
        Kind::List(items) | Kind::Set(items) => items,
        Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
            return Ok(Value::unknown(Returns::Element(0).ty(call.arguments)).with_marks(value.marks()));
        }
        kind => return Err(Problem::at(0, format!("needs a list or set, found {}", kind.name()))),
    };
    match &**items {
        [] => Ok(Value::NULL.with_marks(value.marks())),
        [only] => Ok(only.clone().with_marks(value.marks())),
        more => {
            Err(Problem::at(0, format!("needs a list of at most one element, and this has {}", more.len())))
        }
    }
}

fn transpose(call: &Call<'_>) -> Outcome {
    let mut transposed: BTreeMap<SmolStr, Vec<Value>> = BTreeMap::new();
    for (key, items) in call.arguments[0].as_entries().into_iter().flat_map(trueup_core::Entries::iter) {
        let Some(items) = items.as_items() else {
            return Err(Problem::at(0, "the lists must not be null"));
        };
        for item in items {
            let Some(text) = item.as_str() else {
                return Err(Problem::at(0, "the lists must not hold null"));
            };
            transposed.entry(text.into()).or_default().push(Value::string(key.clone()));
        }
    }
    Ok(Value::map(transposed.into_iter().map(|(key, items)| (key, Value::list(items)))))
}

fn zipmap(call: &Call<'_>) -> Outcome {
    let (keys, values) = (&call.arguments[0], &call.arguments[1]);
    let marks = keys.all_marks() | values.marks();
    let unknown = Ok(Value::unknown(Type::Any).with_marks(marks));
    let items = match values.kind() {
        Kind::List(items) => items,
        Kind::Unknown(Type::Any | Type::List(_) | Type::Tuple(_)) => return unknown,
        kind => return Err(Problem::at(1, format!("needs a list of values, found {}", kind.name()))),
    };
    let Some(names) = keys.as_items().filter(|_| keys.is_wholly_known()) else { return unknown };
    if names.len() != items.len() {
        let message =
            format!("there are {} keys and {} values; they must be as many", names.len(), items.len());
        return Err(Problem::at(1, message));
    }
    let mut entries = Vec::with_capacity(names.len());
    for (name, item) in names.iter().zip(items.iter()) {
        let Some(name) = name.as_str() else { return Err(Problem::at(0, "the keys must not be null")) };
        entries.push((SmolStr::new(name), item.clone()));
    }
    Ok(Value::object(entries).with_marks(marks))
}

/// The value as a list of elements of one type, for functions that take lists of any one type.
pub(super) fn as_list(value: &Value, at: usize) -> Result<Value, Problem> {
    convert_unified(value, &Type::list(Type::Any)).map_err(|_| {
        Problem::at(
            at,
            format!("needs a list whose elements have a type in common, found {}", value.kind_name()),
        )
    })
}
