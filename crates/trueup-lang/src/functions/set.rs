//! Sets: setintersection setproduct setsubtract setunion.

use std::collections::BTreeSet;

use trueup_core::{Kind, Type, Value, convert};

use super::collection::as_list;
use super::{Call, Function, Outcome, Problem, Returns, Wanted, any, function, param};
use crate::types::unify;

/// More combinations than this are a mistake rather than a wish.
const PRODUCT_MAX: usize = 1_000_000;

/// Each combination has one element of each of them.
const PRODUCT_LISTS_MAX: usize = 1000;

pub(super) const FUNCTIONS: &[Function] = &[
    function("setintersection", &[param("first_set", Wanted::Set)], Returns::Same(0), |call| {
        combine(call, |found, next| found.intersection(next).cloned().collect())
    })
    .more(param("other_sets", Wanted::Set)),
    function("setunion", &[param("first_set", Wanted::Set)], Returns::Same(0), |call| {
        combine(call, |found, next| found.union(next).cloned().collect())
    })
    .more(param("other_sets", Wanted::Set)),
    function("setsubtract", &[param("a", Wanted::Set), param("b", Wanted::Set)], Returns::Same(0), |call| {
        combine(call, |found, next| found.difference(next).cloned().collect())
    }),
    function("setproduct", &[], Returns::Any, setproduct).more(any("sets")),
];

/// Brings all sets to one type of elements, and puts them together two by two.
fn combine(
    call: &Call<'_>,
    put_together: impl Fn(&BTreeSet<Value>, &BTreeSet<Value>) -> BTreeSet<Value>,
) -> Outcome {
    let items = |value: &Value| value.as_items().unwrap_or_default().to_vec();
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
    let mut sets = call.arguments.iter().map(|set| -> BTreeSet<Value> {
        items(set).iter().map(|item| convert(item, &element).unwrap_or_else(|_| item.clone())).collect()
    });
    let first = sets.next().unwrap_or_default();
    Ok(Value::set(sets.fold(first, |found, next| put_together(&found, &next))))
}

/// Each combination of one element of each; a set if one of them is.
fn setproduct(call: &Call<'_>) -> Outcome {
    if call.arguments.len() < 2 {
        return Err(Problem::new("needs at least two lists or sets"));
    }
    let mut lists = Vec::with_capacity(call.arguments.len());
    for (at, value) in call.arguments.iter().enumerate() {
        if !matches!(value.kind(), Kind::List(_) | Kind::Set(_)) {
            return Err(Problem::at(at, format!("needs lists or sets, found {}", value.kind_name())));
        }
        lists.push(as_list(value, at)?.as_items().unwrap_or_default().to_vec());
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
    let rows = rows.into_iter().map(Value::list);
    let any_set = call.arguments.iter().any(|value| matches!(value.kind(), Kind::Set(_)));
    Ok(if any_set { Value::set(rows) } else { Value::list(rows) })
}
