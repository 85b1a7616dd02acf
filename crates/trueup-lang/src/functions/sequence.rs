//! Lists, element by element: chunklist compact concat distinct element flatten range reverse slice sort.

use std::collections::BTreeSet;

use trueup_core::{Excess, Kind, Marks, Number, Refinement, Type, Value, convert};

use super::{Call, Function, Outcome, Problem, Returns, Wanted, any, counted, function, param};
use crate::types::unify;

/// As in Terraform: more is a mistake rather than a wish.
const RANGE_LENGTH_MAX: usize = 1024;

pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "chunklist",
        &[param("list", Wanted::List), param("size", Wanted::Number)],
        Returns::Any,
        chunklist,
    )
    .with_unknown(),
    function("compact", &[param("list", Wanted::Texts)], Returns::Texts, compact),
    function("concat", &[], Returns::Any, concat).more(any("seqs")).with_unknown().with_secrets(),
    function("distinct", &[param("list", Wanted::List)], Returns::Same(0), distinct),
    function("element", &[any("list"), param("index", Wanted::Number)], Returns::Element(0), element)
        .with_unknown()
        .with_secrets(),
    function("flatten", &[any("list")], Returns::Any, flatten).with_unknown().with_secrets(),
    function("range", &[], Returns::Numbers, range).more(param("params", Wanted::Number)),
    function("reverse", &[any("list")], Returns::Same(0), reverse).with_unknown().with_secrets(),
    function(
        "slice",
        &[any("list"), param("start_index", Wanted::Number), param("end_index", Wanted::Number)],
        Returns::Any,
        slice,
    )
    .with_unknown()
    .with_secrets(),
    function("sort", &[param("list", Wanted::Texts)], Returns::Texts, sort).with_unknown(),
];

fn chunklist(call: &Call<'_>) -> Outcome {
    let Some(items) = call.arguments[0].as_items().filter(|_| !call.arguments[1].is_unknown()) else {
        return Ok(Value::unknown(Type::list(Type::of(&call.arguments[0]))).never_null());
    };
    let size = call.count(1)?;
    if items.is_empty() {
        return Ok(Value::list([]));
    }
    let size = if size == 0 { items.len() } else { size };
    Ok(Value::list(items.chunks(size).map(|chunk| Value::list(chunk.iter().cloned()))))
}

fn compact(call: &Call<'_>) -> Outcome {
    let items = call.arguments[0].as_items().unwrap_or_default();
    Ok(Value::list(items.iter().filter(|item| item.as_str().is_some_and(|text| !text.is_empty())).cloned()))
}

/// Lists whose elements have a type in common make a list of it; all others make a tuple.
fn concat(call: &Call<'_>) -> Outcome {
    if call.arguments.is_empty() {
        return Err(Problem::new("needs at least one list"));
    }
    let mut marks = Marks::NONE;
    for (at, value) in call.arguments.iter().enumerate() {
        marks |= value.marks();
        match value.kind() {
            Kind::List(_) | Kind::Unknown(Type::Any | Type::List(_) | Type::Tuple(_)) => {}
            kind => {
                let problem = Problem::at(at, format!("needs lists, found {}", kind.name()));
                return Err(match kind {
                    Kind::Set(_) => problem.hint("give the set an order first with `tolist`"),
                    _ => problem,
                });
            }
        }
    }
    let is_list = |value: &Value| match value.kind() {
        Kind::List(_) => !value.is_tuple(),
        Kind::Unknown(ty) => matches!(ty, Type::List(_)),
        _ => false,
    };
    let list = match call.arguments.iter().all(is_list) {
        true => unify(&call.arguments.iter().map(Type::of).collect::<Vec<_>>()),
        false => None,
    };
    let joined = match (&list, call.arguments.iter().any(Value::is_unknown)) {
        (Some(list), true) => Value::unknown(list.clone()).never_null(),
        (None, true) => Value::unknown(tuple_of(call.arguments).unwrap_or(Type::Any)).never_null(),
        (Some(list), false) => Value::list(joined_items(call, list)?),
        (None, false) => Value::tuple(joined_items(call, &Type::Any)?),
    };
    Ok(joined.with_marks(marks))
}

/// The elements of all lists, which are brought to this type first.
fn joined_items(call: &Call<'_>, list: &Type) -> Result<Vec<Value>, Problem> {
    let mut items = Vec::new();
    for (at, value) in call.arguments.iter().enumerate() {
        let converted = convert(value, list)
            .map_err(|_| Problem::at(at, "the elements of the lists have no type in common"))?;
        items.extend(converted.as_items().unwrap_or_default().iter().cloned());
        if items.len() > Value::POSITIONS_MAX {
            return Err(Problem::new(format!("the result {}", Excess::Positions)));
        }
    }
    Ok(items)
}

/// The tuple of the elements of all lists, if their number is known.
fn tuple_of(lists: &[Value]) -> Option<Type> {
    let mut types = Vec::new();
    for list in lists {
        match list.kind() {
            Kind::List(items) => types.extend(items.iter().map(Type::of)),
            Kind::Unknown(Type::Tuple(elements)) => types.extend(elements.iter().cloned()),
            _ => return None,
        }
    }
    Some(Type::tuple(types))
}

fn distinct(call: &Call<'_>) -> Outcome {
    let items = call.arguments[0].as_items().unwrap_or_default();
    let mut seen = BTreeSet::new();
    Ok(Value::list(items.iter().filter(|item| seen.insert(*item)).cloned()))
}

fn element(call: &Call<'_>) -> Outcome {
    let (list, index) = (&call.arguments[0], &call.arguments[1]);
    let marks = list.marks() | index.marks();
    let number = index.as_number();
    if number.is_some_and(|number| !number.is_integer()) {
        return Err(Problem::at(1, "the index must be a whole number"));
    }
    let items = match list.kind() {
        Kind::List(items) => items,
        Kind::Unknown(Type::Tuple(elements)) => {
            let at = number.map(|number| place(number, elements.len())).transpose()?;
            let ty = at.map_or(Type::Any, |at| elements[at].clone());
            return Ok(Value::unknown(ty).with_marks(marks));
        }
        Kind::Unknown(Type::Any | Type::List(_)) => {
            return Ok(Value::unknown(Returns::Element(0).ty(call.arguments)).with_marks(marks));
        }
        kind => {
            let problem = Problem::at(0, format!("needs a list, found {}", kind.name()));
            return Err(match kind {
                Kind::Set(_) => problem.hint("give the set an order first with `tolist`"),
                _ => problem,
            });
        }
    };
    let Some(number) = number else {
        let element = match Type::of(list) {
            Type::List(element) if !list.is_tuple() => (*element).clone(),
            _ => Type::Any,
        };
        return Ok(Value::unknown(element).with_marks(marks));
    };
    Ok(items[place(number, items.len())?].clone().with_marks(marks))
}

/// The place of an element: beyond the last comes the first again, and before the first the last.
fn place(number: &Number, length: usize) -> Result<usize, Problem> {
    if length == 0 {
        return Err(Problem::at(0, "an empty list has no elements"));
    }
    let Some(at) = number.as_i64() else { return Err(Problem::at(1, "the index is too large")) };
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    Ok(usize::try_from(at.rem_euclid(length)).unwrap_or(0))
}

fn flatten(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    match value.kind() {
        Kind::List(_) | Kind::Set(_) => {}
        Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
            return Ok(Value::unknown(Type::Any).with_marks(value.marks()));
        }
        kind => return Err(Problem::at(0, format!("needs a list, found {}", kind.name()))),
    }
    let mut flat = Flat { items: Vec::new(), open: false, marks: Marks::NONE };
    flat.gather(value);
    if flat.items.len() > Value::POSITIONS_MAX {
        return Err(Problem::new(format!("the result {}", Excess::Positions)));
    }
    let result = if flat.open { Value::unknown(Type::Any) } else { Value::tuple(flat.items) };
    Ok(result.with_marks(flat.marks))
}

struct Flat {
    items: Vec<Value>,
    open: bool,
    marks: Marks,
}

impl Flat {
    fn gather(&mut self, value: &Value) {
        if self.items.len() > Value::POSITIONS_MAX {
            return;
        }
        match value.kind() {
            Kind::List(items) | Kind::Set(items) => {
                self.marks |= value.marks();
                if matches!(value.kind(), Kind::Set(_)) {
                    // Two elements that are equal are one.
                    self.marks |= value.all_marks();
                }
                items.iter().for_each(|item| self.gather(item));
            }
            // What it turns out to be decides how many elements there are.
            Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
                self.marks |= value.marks();
                self.open = true;
            }
            _ => self.items.push(value.clone()),
        }
    }
}

fn range(call: &Call<'_>) -> Outcome {
    let numbers: Vec<Number> = call.arguments.iter().filter_map(Value::as_number).cloned().collect();
    let (zero, one) = (Number::from(0), Number::from(1));
    let (start, limit, step) = match numbers.as_slice() {
        [limit] => (zero.clone(), limit.clone(), None),
        [start, limit] => (start.clone(), limit.clone(), None),
        [start, limit, step] => (start.clone(), limit.clone(), Some(step.clone())),
        _ => return Err(Problem::new("expected (limit), (start, limit) or (start, limit, step)")),
    };
    let down = limit < start;
    let step = step.unwrap_or(if down { Number::from(-1) } else { one });
    if step == zero {
        return Err(Problem::at(2, "the step must not be zero"));
    }
    if start == limit {
        return Ok(Value::list([]));
    }
    if down && step > zero {
        return Err(Problem::at(2, "the step must be negative, since the limit is below the start"));
    }
    if !down && step < zero {
        return Err(Problem::at(2, "the step must be positive, since the limit is above the start"));
    }
    let (mut at, limit, step) = (start.to_decimal(), limit.to_decimal(), step.to_decimal());
    let mut items = Vec::new();
    while if down { at > limit } else { at < limit } {
        if items.len() == RANGE_LENGTH_MAX {
            return Err(Problem::new(format!("a range has at most {RANGE_LENGTH_MAX} elements")));
        }
        let number =
            Number::from_decimal(&at).map_err(|error| Problem::new(format!("an element {error}")))?;
        items.push(Value::number(number));
        at += &step;
    }
    Ok(Value::list(items))
}

fn reverse(call: &Call<'_>) -> Outcome {
    let value = &call.arguments[0];
    let reversed = match value.kind() {
        Kind::List(items) if value.is_tuple() => Value::tuple(items.iter().rev().cloned()),
        Kind::List(items) => Value::list(items.iter().rev().cloned()),
        // Two elements that are equal are one, and the order is that of their values.
        Kind::Set(items) => Value::list(items.iter().rev().cloned()).with_marks(value.all_marks()),
        Kind::Unknown(Type::Set(element)) => Value::unknown(Type::List(element.clone())),
        Kind::Unknown(ty @ (Type::Any | Type::List(_))) => Value::unknown(ty.clone()),
        Kind::Unknown(Type::Tuple(elements)) => Value::unknown(Type::tuple(elements.iter().rev().cloned())),
        kind => {
            let problem = Problem::at(0, format!("needs a list, found {}", kind.name()));
            return Err(match kind {
                Kind::String(_) => problem.hint("to reverse a text use `strrev`"),
                _ => problem,
            });
        }
    };
    Ok(reversed.with_marks(value.marks()))
}

fn slice(call: &Call<'_>) -> Outcome {
    let list = &call.arguments[0];
    let marks = call.arguments.iter().fold(Marks::NONE, |marks, it| marks | it.marks());
    let items = match list.kind() {
        Kind::List(items) => items,
        Kind::Unknown(Type::Tuple(elements)) if !call.arguments[1..].iter().any(Value::is_unknown) => {
            let taken = bounds(call, elements.len())?;
            return Ok(Value::unknown(Type::tuple(elements[taken].iter().cloned()))
                .never_null()
                .with_marks(marks));
        }
        Kind::Unknown(Type::List(element)) => {
            return Ok(Value::unknown(Type::List(element.clone())).never_null().with_marks(marks));
        }
        Kind::Unknown(Type::Any | Type::Tuple(_)) => {
            return Ok(Value::unknown(Type::Any).with_marks(marks));
        }
        kind => return Err(Problem::at(0, format!("needs a list, found {}", kind.name()))),
    };
    if call.arguments[1].is_unknown() || call.arguments[2].is_unknown() {
        return Ok(Value::unknown(Type::Any).with_marks(marks));
    }
    let taken = items[bounds(call, items.len())?].iter().cloned();
    let taken = if list.is_tuple() { Value::tuple(taken) } else { Value::list(taken) };
    Ok(taken.with_marks(marks))
}

/// The part of a list of this length that a slice is.
fn bounds(call: &Call<'_>, length: usize) -> Result<std::ops::Range<usize>, Problem> {
    let (start, end) = (call.count(1)?, call.count(2)?);
    if end > length {
        let message = format!("the end is beyond the list, which has {}", counted(length, "element"));
        return Err(Problem::at(2, message));
    }
    if start > end {
        return Err(Problem::at(1, "the start is beyond the end"));
    }
    Ok(start..end)
}

fn sort(call: &Call<'_>) -> Outcome {
    let list = &call.arguments[0];
    if !list.is_wholly_known() {
        let length = list.as_items().map(<[Value]>::len);
        let known = match (length, list.refinement()) {
            (None, known) => known.cloned().unwrap_or_default(),
            (length, _) => Refinement::bounds(length.unwrap_or(0), length),
        };
        return Ok(Value::refined(Type::list(Type::String), known));
    }
    let mut texts: Vec<Value> = list.as_items().unwrap_or_default().to_vec();
    if texts.iter().any(Value::is_null) {
        return Err(Problem::at(0, "the list must not hold null"));
    }
    texts.sort_by(|left, right| left.as_str().cmp(&right.as_str()));
    Ok(Value::list(texts))
}
