//! Sets: setintersection setproduct setsubtract setunion.

use std::collections::BTreeSet;

use trueup_core::{Kind, Refinement, Type, Value, convert};

use super::collection::as_list;
use super::{Call, Function, Outcome, Problem, Returns, Wanted, any, function, param};
use crate::types::unify;

/// More combinations than this are a mistake rather than a wish.
const PRODUCT_MAX: usize = 1_000_000;

/// Each combination has one element of each of them.
const PRODUCT_LISTS_MAX: usize = 1000;

pub(super) const FUNCTIONS: &[Function] = &[
    function("setintersection", &[param("first_set", Wanted::Set)], Returns::Common, |call| {
        combine(call, |found, next| found.intersection(next).cloned().collect())
    })
    .more(param("other_sets", Wanted::Set)),
    function("setunion", &[param("first_set", Wanted::Set)], Returns::Common, |call| {
        combine(call, |found, next| found.union(next).cloned().collect())
    })
    .more(param("other_sets", Wanted::Set))
    .with_unknown(),
    function("setsubtract", &[param("a", Wanted::Set), param("b", Wanted::Set)], Returns::Common, |call| {
        combine(call, |found, next| found.difference(next).cloned().collect())
    }),
    function("setproduct", &[], Returns::Any, setproduct).more(any("sets")).with_unknown(),
];

/// Brings all sets to one type of elements, and puts them together two by two.
fn combine(
    call: &Call<'_>,
    put_together: impl Fn(&BTreeSet<Value>, &BTreeSet<Value>) -> BTreeSet<Value>,
) -> Outcome {
    let items = |value: &Value| value.as_items().unwrap_or_default().to_vec();
    if call.arguments.iter().any(Value::is_unknown) {
        return Ok(Value::unknown(Returns::Common.ty(call.arguments)).never_null());
    }
    let types: Vec<Type> = call
        .arguments
        .iter()
        .flat_map(items)
        .filter(|item| !item.is_null())
        .map(|item| Type::of(&item))
        .collect();
    let element = if types.is_empty() { Some(Type::Any) } else { unify(&types) };
    let Some(element) = element else {
        return Err(Problem::new("the elements of the sets have no type in common"));
    };
    let converted = |item: &Value| convert(item, &element).unwrap_or_else(|_| item.clone());
    if !call.arguments.iter().all(Value::is_wholly_known) {
        // Only a union comes here. Each unknown element counts: the next may be another value.
        return Ok(Value::set(call.arguments.iter().flat_map(items).map(|item| converted(&item))));
    }
    let mut sets =
        call.arguments.iter().map(|set| -> BTreeSet<Value> { items(set).iter().map(converted).collect() });
    let first = sets.next().unwrap_or_default();
    Ok(Value::set(sets.fold(first, |found, next| put_together(&found, &next))))
}

/// Each combination of one element of each; a set if one of them is.
fn setproduct(call: &Call<'_>) -> Outcome {
    if call.arguments.len() < 2 {
        return Err(Problem::new("needs at least two lists or sets"));
    }
    let mut lists = Vec::with_capacity(call.arguments.len());
    let mut open = false;
    for (at, value) in call.arguments.iter().enumerate() {
        match value.kind() {
            // Unknown elements of a set may turn out to be the same.
            Kind::Set(_) if !value.is_wholly_known() => open = true,
            Kind::List(_) | Kind::Set(_) => {
                lists.push(as_list(value, at)?.as_items().unwrap_or_default().to_vec());
            }
            Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => open = true,
            kind => return Err(Problem::at(at, format!("needs lists or sets, found {}", kind.name()))),
        }
    }
    if open {
        return Ok(Value::refined(product_type(call.arguments), product_bounds(call.arguments)));
    }
    if lists.len() > PRODUCT_LISTS_MAX {
        return Err(Problem::new(format!("combines more than {PRODUCT_LISTS_MAX} lists")));
    }
    let total = lists.iter().try_fold(1usize, |total, list| total.checked_mul(list.len()));
    if total.is_none_or(|total| total > PRODUCT_MAX) {
        return Err(Problem::new(format!("there are more than {PRODUCT_MAX} combinations")));
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for list in &lists {
        let extended = rows
            .iter()
            .flat_map(|row| list.iter().map(move |item| row.iter().cloned().chain([item.clone()]).collect()));
        rows = extended.collect();
    }
    let rows = rows.into_iter().map(Value::tuple);
    let any_set = call.arguments.iter().any(|value| matches!(value.kind(), Kind::Set(_)));
    Ok(if any_set { Value::set(rows) } else { Value::list(rows) })
}

/// How many combinations there are. Elements of a set that are not known may turn out to be the same.
fn product_bounds(arguments: &[Value]) -> Refinement {
    let bounds = |value: &Value| match value.kind() {
        Kind::Set(items) | Kind::List(items) => (items.len().min(1), Some(items.len())),
        Kind::Unknown(Type::Tuple(elements)) => (elements.len().min(1), Some(elements.len())),
        _ => (0, None),
    };
    let all = arguments.iter().map(bounds);
    let no_combination = arguments.iter().map(bounds).any(|(_, most)| most == Some(0));
    let (least, most) = all.fold((1, Some(1usize)), |(least, most), (next_least, next_most)| {
        (least.min(next_least), most.zip(next_most).and_then(|(most, next)| most.checked_mul(next)))
    });
    if no_combination { Refinement::bounds(0, Some(0)) } else { Refinement::bounds(least, most) }
}

fn product_type(arguments: &[Value]) -> Type {
    let element = |value: &Value| match Type::of(value) {
        Type::List(element) | Type::Set(element) => Some((*element).clone()),
        Type::Tuple(elements) => Some(unify(&elements).unwrap_or(Type::Any)),
        _ => None,
    };
    let Some(elements) = arguments.iter().map(element).collect::<Option<Vec<Type>>>() else {
        return Type::Any;
    };
    match arguments.iter().any(|value| matches!(Type::of(value), Type::Set(_))) {
        true => Type::set(Type::tuple(elements)),
        false => Type::list(Type::tuple(elements)),
    }
}
