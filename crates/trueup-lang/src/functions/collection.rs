//! Maps, objects and lists as a whole: coalesce coalescelist contains index keys length lookup merge one transpose
//! values zipmap alltrue anytrue matchkeys.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use trueup_core::{Kind, Marks, Refinement, Step, Type, Value, convert};
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
    function("coalescelist", &[], Returns::Any, coalescelist)
        .more(nullable("vals"))
        .with_unknown()
        .with_secrets(),
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
    let undecided = || Value::unknown(Type::Bool).never_null();
    let Some(items) = call.arguments[0].as_items() else { return Ok(undecided()) };
    let decided = items.iter().any(|item| {
        let counts_as = item.as_bool().or(item.is_null().then_some(false));
        counts_as == Some(wanted)
    });
    if decided {
        return Ok(Value::from(wanted));
    }
    let open = items.iter().any(Value::is_unknown);
    Ok(if open { undecided() } else { Value::from(!wanted) })
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
    // Among texts an empty one is passed over, also if it is not known yet what another argument is.
    let known: Vec<Type> = types.into_iter().filter(|ty| *ty != Type::Any).collect();
    let is_text = unify(&known) == Some(Type::String);
    // That those before it are null or empty tells of them.
    let mut marks = Marks::NONE;
    for value in call.arguments {
        marks |= value.marks();
        let converted = convert(value, &ty);
        if converted.as_ref().map_or(value, |converted| converted).is_unknown() {
            return Ok(Value::unknown(ty).never_null().with_marks(marks));
        }
        if value.is_null() || (is_text && value.as_str() == Some("")) {
            continue;
        }
        let converted = converted.map_err(|_| Problem::new("the arguments have no type in common"));
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
            Kind::List(_) | Kind::Null => {}
            // What it is decides what all of it is.
            Kind::Unknown(_) => break,
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
    Err(Problem::new("all lists are null or empty"))
}

fn contains(call: &Call<'_>) -> Outcome {
    let items = match call.arguments[0].kind() {
        Kind::List(items) | Kind::Set(items) => items,
        Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
            return Ok(Value::unknown(Type::Bool).never_null());
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
        Found::Open => Value::unknown(Type::Bool).never_null(),
    })
}

fn index(call: &Call<'_>) -> Outcome {
    let items = match call.arguments[0].kind() {
        Kind::List(items) => items,
        Kind::Unknown(Type::Any | Type::List(_) | Type::Tuple(_)) => {
            return Ok(Value::unknown(Type::Number).never_null());
        }
        kind => return Err(Problem::at(0, format!("needs a list, found {}", kind.name()))),
    };
    if items.is_empty() {
        return Err(Problem::at(0, "cannot search an empty list"));
    }
    match find(items, &call.arguments[1]) {
        Found::At(at) => Ok(Value::from(at)),
        Found::Nowhere => Err(Problem::at(1, "the value is not in the list")),
        Found::Open => Ok(Value::unknown(Type::Number).never_null()),
    }
}

fn keys(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let keys = match value.kind() {
        Kind::Map(entries) => Value::list(entries.keys().map(|key| Value::string(key.clone()))),
        Kind::Object(entries) => Value::tuple(entries.keys().map(|key| Value::string(key.clone()))),
        Kind::Unknown(Type::Object(object)) => {
            Value::tuple(object.attributes.keys().map(|key| Value::string(key.clone())))
        }
        Kind::Unknown(Type::Map(_)) => Value::refined(Type::list(Type::String), known_size(value)),
        Kind::Unknown(Type::Any) => Value::unknown(Type::Any),
        kind => return Err(Problem::at(0, format!("needs a map or object, found {}", kind.name()))),
    };
    Ok(keys.with_marks(value.marks()))
}

fn values(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let values = match value.kind() {
        Kind::Map(entries) => Value::list(entries.iter().map(|(_, item)| item.clone())),
        Kind::Object(entries) => Value::tuple(entries.iter().map(|(_, item)| item.clone())),
        Kind::Unknown(Type::Map(element)) => Value::refined(Type::List(element.clone()), known_size(value)),
        Kind::Unknown(Type::Object(object)) => {
            Value::unknown(Type::tuple(object.attributes.values().cloned())).never_null()
        }
        Kind::Unknown(Type::Any) => Value::unknown(Type::Any),
        kind => return Err(Problem::at(0, format!("needs a map or object, found {}", kind.name()))),
    };
    Ok(values.with_marks(value.marks()))
}

/// What is known of an unknown value's size.
fn known_size(value: &Value) -> Refinement {
    value.refinement().cloned().unwrap_or_default()
}

fn length(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let length = match value.kind() {
        Kind::String(text) => Value::from(text.graphemes(true).count()),
        Kind::List(items) => Value::from(items.len()),
        // Unknown elements may turn out to be the same.
        Kind::Set(items) if !items.iter().all(Value::is_wholly_known) => {
            Value::refined(Type::Number, Refinement::bounds(1, Some(items.len())))
        }
        Kind::Set(items) => Value::from(items.len()),
        Kind::Map(entries) | Kind::Object(entries) => Value::from(entries.len()),
        Kind::Unknown(Type::Tuple(elements)) => Value::from(elements.len()),
        Kind::Unknown(Type::Object(object)) => Value::from(object.attributes.len()),
        Kind::Unknown(Type::Any) => Value::unknown(Type::Number).never_null(),
        Kind::Unknown(Type::String | Type::List(_) | Type::Set(_) | Type::Map(_)) => {
            let known = known_size(value);
            let least = known.least.unwrap_or(usize::from(!known.prefix.is_empty()));
            Value::refined(Type::Number, Refinement::bounds(least, known.most))
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

/// Maps of one type make a map of it; all others make an object.
fn merge(call: &Call<'_>) -> Outcome {
    let mut merged: BTreeMap<SmolStr, Value> = BTreeMap::new();
    let (mut marks, mut open) = (Marks::NONE, false);
    for (at, value) in call.arguments.iter().enumerate() {
        marks |= value.marks();
        match value.kind() {
            Kind::Null => {}
            Kind::Map(entries) | Kind::Object(entries) => {
                merged.extend(entries.iter().map(|(key, item)| (key.clone(), item.clone())));
            }
            Kind::Unknown(Type::Any | Type::Map(_) | Type::Object(_)) => open = true,
            kind => return Err(Problem::at(at, format!("needs maps or objects, found {}", kind.name()))),
        }
    }
    let map = one_map(call.arguments);
    let merged = match (open, map) {
        (true, Some(map)) => Value::unknown(map).never_null(),
        (true, None) => Value::unknown(merged_object(call.arguments).unwrap_or(Type::Any)).never_null(),
        (false, Some(_)) => Value::map(merged),
        (false, None) => Value::object(merged),
    };
    Ok(merged.with_marks(marks))
}

/// The one type of several maps. An empty one does not show its own.
fn one_map(values: &[Value]) -> Option<Type> {
    let maps = values.iter().filter(|value| !value.is_null());
    let element = |value: &Value| match value.kind() {
        Kind::Map(_) | Kind::Unknown(Type::Map(_)) => Type::of(value).at(&Step::Any),
        _ => None,
    };
    let mut elements = maps.map(element).collect::<Option<Vec<Type>>>()?;
    let is_any = !elements.is_empty();
    elements.retain(|element| *element != Type::Any);
    match elements.split_first() {
        None => is_any.then(|| Type::map(Type::Any)),
        Some((first, rest)) => rest.iter().all(|ty| ty == first).then(|| Type::map(first.clone())),
    }
}

/// The type of what several maps and objects come to, if all of their keys are known.
fn merged_object(values: &[Value]) -> Option<Type> {
    let mut attributes = BTreeMap::new();
    for value in values {
        match value.kind() {
            Kind::Null => {}
            Kind::Map(entries) | Kind::Object(entries) => {
                attributes.extend(entries.iter().map(|(key, item)| (key.clone(), Type::of(item))));
            }
            Kind::Unknown(Type::Object(object)) => attributes.extend(object.attributes.clone()),
            _ => return None,
        }
    }
    Some(Type::object(attributes))
}

fn one(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let items = match value.kind() {
        Kind::List(items) | Kind::Set(items) => items,
        Kind::Unknown(Type::Tuple(elements)) if elements.len() > 1 => return Err(too_many(elements.len())),
        Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
            return Ok(Value::unknown(Returns::Element(0).ty(call.arguments)).with_marks(value.marks()));
        }
        kind => return Err(Problem::at(0, format!("needs a list or set, found {}", kind.name()))),
    };
    match &**items {
        [] => Ok(Value::NULL.with_marks(value.marks())),
        [only] => Ok(only.clone().with_marks(value.marks())),
        // Unknown elements of a set may turn out to be the same.
        more if matches!(value.kind(), Kind::Set(_)) && !value.is_wholly_known() => {
            Ok(Value::unknown(Type::of(&more[0])).with_marks(value.all_marks()))
        }
        more => Err(too_many(more.len())),
    }
}

fn too_many(elements: usize) -> Problem {
    Problem::at(0, format!("needs a list of at most one element, and this has {elements}"))
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
    let of_list = match Type::of(values) {
        Type::List(element) => Type::Map(element),
        _ => Type::Any,
    };
    let unknown = Ok(Value::unknown(of_list).never_null().with_marks(marks));
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
    let made = if values.is_tuple() { Value::object(entries) } else { Value::map(entries) };
    Ok(made.with_marks(marks))
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
