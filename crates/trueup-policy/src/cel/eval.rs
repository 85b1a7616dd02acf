//! Programs → values.
//!
//! Values are borrowed from the variables and the program wherever they are only looked at, so that an expression over a
//! large plan copies none of it.

use std::borrow::Cow;
use std::sync::Arc;

use super::compile::{Fold, Node, NodeKind};
use super::error::CelError;
use super::functions::{Body, DYNAMIC_PATTERN_STEPS, Function};
use super::map::{Key, Map};
use super::operators::{self, BinaryOperator, Fault, UnaryOperator};
use super::steps::{Steps, width};
use super::value::{Type, Value};

type Outcome<'a> = Result<Cow<'a, Value>, CelError>;

/// The variables that a node sees.
#[derive(Clone, Copy)]
struct Scope<'a> {
    variables: &'a [Value],
    locals: Option<&'a Local<'a>>,
    steps: &'a Steps,
}

/// The variable of a macro, and those of the macros around it.
struct Local<'a> {
    value: &'a Value,
    outer: Option<&'a Local<'a>>,
}

/// Evaluates a program over the variables that it was compiled for.
pub(super) fn evaluate(root: &Node, variables: &[Value], steps: &Steps) -> Result<Value, CelError> {
    node(root, Scope { variables, locals: None, steps }).map(Cow::into_owned)
}

/// The value of a node. An unknown one is an error here, so that nothing else has to expect it.
fn node<'a>(at: &'a Node, scope: Scope<'a>) -> Outcome<'a> {
    scope.steps.take(at, 1)?;
    match dispatch(at, scope) {
        Ok(value) if value.is_unknown() => Err(CelError::unknown(at.span)),
        outcome => outcome,
    }
}

/// Dispatches alone: expressions nest, so that its stack frame must stay small.
fn dispatch<'a>(at: &'a Node, scope: Scope<'a>) -> Outcome<'a> {
    match &*at.kind {
        NodeKind::Constant(value) => Ok(Cow::Borrowed(value)),
        NodeKind::Variable(index) => Ok(Cow::Borrowed(&scope.variables[*index])),
        NodeKind::Local(distance) => Ok(Cow::Borrowed(local(*distance, scope))),
        NodeKind::Select { operand, field } => select(at, operand, field, scope),
        NodeKind::Has { operand, field } => has(at, operand, field, scope),
        NodeKind::Index { operand, index } => index_of(at, operand, index, scope),
        NodeKind::Unary { operator, operand } => unary(at, *operator, operand, scope),
        NodeKind::Binary { operator, left, right } => binary(at, *operator, left, right, scope),
        NodeKind::And(terms) => decide(false, terms.iter().map(|term| truth(term, scope, "&&"))),
        NodeKind::Or(terms) => decide(true, terms.iter().map(|term| truth(term, scope, "||"))),
        NodeKind::Conditional { condition, then, otherwise } => match truth(condition, scope, "?:")? {
            true => node(then, scope),
            false => node(otherwise, scope),
        },
        NodeKind::List(elements) => list(elements, scope),
        NodeKind::Map(entries) => map(at, entries, scope),
        NodeKind::Call { function, arguments } => call(at, function, arguments, scope),
        NodeKind::Matches { text, pattern } => matches(at, text, pattern, scope),
        NodeKind::Comprehension { range, fold } => comprehension(range, fold, scope),
    }
}

fn unary<'a>(at: &Node, operator: UnaryOperator, operand: &'a Node, scope: Scope<'a>) -> Outcome<'a> {
    let operand = node(operand, scope)?;
    let outcome = operators::unary(operator, &operand);
    owned(outcome.map_err(|fault| failure(at, operator.symbol(), fault, &[&operand])))
}

fn binary<'a>(
    at: &Node,
    operator: BinaryOperator,
    left: &'a Node,
    right: &'a Node,
    scope: Scope<'a>,
) -> Outcome<'a> {
    let (left, right) = (node(left, scope)?, node(right, scope)?);
    let outcome = operators::binary(operator, &left, &right, scope.steps);
    owned(outcome.map_err(|fault| match fault {
        Fault::Exhausted(exhausted) => scope.steps.error(at, exhausted),
        fault => failure(at, operator.symbol(), fault, &[&left, &right]),
    }))
}

fn owned<'a>(value: Result<Value, CelError>) -> Outcome<'a> {
    value.map(Cow::Owned)
}

fn boolean<'a>(value: bool) -> Outcome<'a> {
    Ok(Cow::Owned(Value::Bool(value)))
}

fn local<'a>(distance: usize, scope: Scope<'a>) -> &'a Value {
    let mut local = scope.locals;
    for _ in 0..distance {
        local = local.and_then(|local| local.outer);
    }
    local.expect("the compiler counts enclosing macros").value
}

/// The error of an operator or a function that yields no value.
#[cold]
fn failure(at: &Node, name: &str, fault: Fault, operands: &[&Value]) -> CelError {
    match fault {
        Fault::Mismatch => {
            let types: Vec<&str> = operands.iter().map(|operand| operand.type_of().name()).collect();
            CelError::new(at.span, format!("`{name}` is not defined for {}", types.join(" and ")))
        }
        Fault::Failed(message) => CelError::new(at.span, message),
        Fault::Quoting { message, valueless } => CelError::new(at.span, message).without_values(valueless),
        Fault::Unknown => CelError::unknown(at.span),
        Fault::Exhausted(_) => {
            unreachable!("only operators on two values spend steps, and `binary` sees to it")
        }
    }
}

/// The truth value of a node, where an operator or macro of this name needs one.
fn truth(at: &Node, scope: Scope<'_>, needed_by: &str) -> Result<bool, CelError> {
    match &*node(at, scope)? {
        Value::Bool(value) => Ok(*value),
        other => {
            let message = format!("`{needed_by}` needs a bool, not {}", other.type_of().name());
            Err(CelError::new(at.span, message))
        }
    }
}

/// `&&`, `||` and their macros: a term that decides hides the errors of all others, wherever they stand. Short of that, a
/// term that is unknown hides them: it may decide yet.
fn decide<'a>(deciding: bool, terms: impl Iterator<Item = Result<bool, CelError>>) -> Outcome<'a> {
    let mut first_error: Option<CelError> = None;
    for term in terms {
        match term {
            Ok(value) if value == deciding => return boolean(deciding),
            Ok(_) => {}
            Err(error) if error.is_out_of_steps() => return Err(error),
            Err(error) if error.is_unknown() => {
                first_error = first_error.filter(CelError::is_unknown).or(Some(error));
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    first_error.map_or_else(|| boolean(!deciding), Err)
}

/// What `take` finds in a value, borrowed if the value is.
fn part<'a>(value: Cow<'a, Value>, take: impl Fn(&Value) -> Option<&Value>) -> Option<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(value) => take(value).map(Cow::Borrowed),
        Cow::Owned(value) => take(&value).cloned().map(Cow::Owned),
    }
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Map(map) => map.field(name),
        _ => None,
    }
}

fn select<'a>(at: &'a Node, operand: &'a Node, name: &str, scope: Scope<'a>) -> Outcome<'a> {
    let operand = node(operand, scope)?;
    match &*operand {
        Value::Map(_) => part(operand, |value| field(value, name)).ok_or_else(|| no_such_key(at, name)),
        // The selection of a field within an optional is optional too.
        Value::Optional(None) => Ok(operand),
        Value::Optional(Some(inner)) => match &**inner {
            Value::Map(map) => Ok(Cow::Owned(Value::Optional(map.field(name).cloned().map(Arc::new)))),
            Value::List(_) => Ok(Cow::Owned(Value::Optional(None))),
            other => Err(no_fields(at, other, name)),
        },
        other => Err(no_fields(at, other, name)),
    }
}

fn has<'a>(at: &Node, operand: &'a Node, name: &str, scope: Scope<'a>) -> Outcome<'a> {
    let operand = node(operand, scope)?;
    let inner = match &*operand {
        Value::Optional(Some(inner)) if inner.type_of() == Type::List => return boolean(false),
        Value::Optional(Some(inner)) => inner,
        Value::Optional(None) => return boolean(false),
        other => other,
    };
    match inner {
        Value::Map(map) => match map.field(name) {
            // It may turn out to be absent.
            Some(Value::Unknown) => Err(CelError::unknown(at.span)),
            field => boolean(field.is_some()),
        },
        other => Err(no_fields(at, other, name)),
    }
}

const NO_SUCH_KEY: &str = "no such key";

#[cold]
fn no_such_key(at: &Node, name: &str) -> CelError {
    CelError::new(at.span, format!("no such key: {name}")).hint("test for it first, with `has(…)` or `in`")
}

#[cold]
fn no_fields(at: &Node, value: &Value, name: &str) -> CelError {
    let error = |of: &str| CelError::new(at.span, format!("no field `{name}` in {of}"));
    match value {
        Value::Null => error("null").hint("compare with null first"),
        _ => error(&format!("a value of type {}", value.type_of().name())),
    }
}

fn index_of<'a>(at: &'a Node, operand: &'a Node, index: &'a Node, scope: Scope<'a>) -> Outcome<'a> {
    let operand = node(operand, scope)?;
    let index = node(index, scope)?;
    scope.steps.take(at, width(&index))?;
    indexed(at, operand, &index)
}

fn indexed<'a>(at: &'a Node, operand: Cow<'a, Value>, index: &Value) -> Outcome<'a> {
    match &*operand {
        Value::Map(_) => {
            let found = part(operand, |value| match value {
                Value::Map(map) => map.get(index),
                _ => None,
            });
            found.ok_or_else(|| match index {
                Value::String(name) => no_such_key(at, name).without_values(NO_SUCH_KEY),
                // Quoted in full, it could be larger than memory.
                Value::List(_) | Value::Map(_) | Value::Optional(_) => {
                    let of = index.type_of().name();
                    CelError::new(at.span, format!("no such key: a value of type {of}"))
                }
                _ => CelError::new(at.span, format!("no such key: {index}")).without_values(NO_SUCH_KEY),
            })
        }
        Value::List(items) => {
            let position =
                position(index).ok_or_else(|| failure(at, "[]", Fault::Mismatch, &[&operand, index]))?;
            if position.is_none_or(|position| position >= items.len()) {
                let message = format!("index {index} is out of range: the list has {} elements", items.len());
                return Err(CelError::new(at.span, message).without_values("the index is out of range"));
            }
            let found = part(operand, |value| match (value, position) {
                (Value::List(items), Some(position)) => items.get(position),
                _ => None,
            });
            Ok(found.expect("the position is within the list"))
        }
        Value::Optional(None) => Ok(operand),
        Value::Optional(Some(inner)) => {
            let found = indexed(at, Cow::Borrowed(&**inner), index).ok();
            Ok(Cow::Owned(Value::Optional(found.map(|value| Arc::new(value.into_owned())))))
        }
        _ => Err(failure(at, "[]", Fault::Mismatch, &[&operand, index])),
    }
}

/// The position that a number denotes, if it is a whole one; `None` for other types and fractions.
fn position(index: &Value) -> Option<Option<usize>> {
    match index {
        Value::Int(at) => Some(usize::try_from(*at).ok()),
        Value::Uint(at) => Some(usize::try_from(*at).ok()),
        Value::Double(at) if at.fract() == 0.0 => Some((*at >= 0.0).then_some(*at as usize)),
        _ => None,
    }
}

fn list<'a>(elements: &'a [Node], scope: Scope<'a>) -> Outcome<'a> {
    let elements: Result<Vec<Value>, CelError> =
        elements.iter().map(|element| node(element, scope).map(Cow::into_owned)).collect();
    Ok(Cow::Owned(Value::List(elements?.into())))
}

fn map<'a>(at: &Node, entries: &'a [(Node, Node)], scope: Scope<'a>) -> Outcome<'a> {
    let mut pairs = Vec::with_capacity(entries.len());
    for (key_node, value_node) in entries {
        let value = node(key_node, scope)?;
        let key = Key::of(&value).ok_or_else(|| {
            let message = format!("a value of type {} can't be the key of a map", value.type_of().name());
            CelError::new(key_node.span, message)
        })?;
        pairs.push((key, node(value_node, scope)?.into_owned()));
    }
    let map = Map::new(pairs).map(Value::Map);
    owned(map.map_err(|key| {
        let message = format!("the map has the key {key} twice");
        CelError::new(at.span, message).without_values("the map has a key twice")
    }))
}

fn call<'a>(at: &Node, function: &Function, arguments: &'a [Node], scope: Scope<'a>) -> Outcome<'a> {
    match (function.body, arguments) {
        (Body::None(body), _) => Ok(Cow::Owned(body())),
        (Body::One(body), [argument]) => {
            let argument = node(argument, scope)?;
            scope.steps.take(at, width(&argument))?;
            owned(body(&argument).map_err(|fault| failure(at, function.name, fault, &[&argument])))
        }
        (Body::Two(body), [first, second]) => {
            let (first, second) = (node(first, scope)?, node(second, scope)?);
            let compiling = if function.name == "matches" { DYNAMIC_PATTERN_STEPS } else { 0 };
            scope.steps.take(at, width(&first) + width(&second) + compiling)?;
            owned(
                body(&first, &second).map_err(|fault| failure(at, function.name, fault, &[&first, &second])),
            )
        }
        (Body::One(_) | Body::Two(_), _) => unreachable!("the compiler counts arguments"),
    }
}

fn matches<'a>(at: &Node, text: &'a Node, pattern: &regex::Regex, scope: Scope<'a>) -> Outcome<'a> {
    let text = node(text, scope)?;
    scope.steps.take(at, width(&text))?;
    match &*text {
        Value::String(text) => boolean(pattern.is_match(text)),
        _ => Err(failure(at, "matches", Fault::Mismatch, &[&text, &Value::String(Default::default())])),
    }
}

fn comprehension<'a>(range: &'a Node, fold: &'a Fold, scope: Scope<'a>) -> Outcome<'a> {
    let over = node(range, scope)?;
    scope.steps.take(range, width(&over))?;
    let keys: Vec<Value>;
    let elements: &[Value] = match &*over {
        Value::List(items) => items,
        Value::Map(map) => {
            keys = map.keys().map(Key::to_value).collect();
            &keys
        }
        other => {
            let message = format!("a value of type {} has no elements to go through", other.type_of().name());
            return Err(CelError::new(range.span, message));
        }
    };
    let test = |condition: &Node, name: &str, value: &Value| {
        truth(condition, within(&Local { value, outer: scope.locals }, scope), name)
    };
    match fold {
        Fold::All(condition) => decide(false, elements.iter().map(|value| test(condition, "all", value))),
        Fold::Exists(condition) => {
            decide(true, elements.iter().map(|value| test(condition, "exists", value)))
        }
        Fold::ExistsOne(condition) => {
            let mut count = 0;
            for value in elements {
                count += usize::from(test(condition, "exists_one", value)?);
            }
            boolean(count == 1)
        }
        Fold::Filter(condition) => {
            let mut kept = Vec::new();
            for value in elements {
                if test(condition, "filter", value)? {
                    kept.push(value.clone());
                }
            }
            Ok(Cow::Owned(Value::List(kept.into())))
        }
        Fold::Map { condition, element } => {
            let mut made = Vec::with_capacity(elements.len());
            for value in elements {
                let included = match condition {
                    Some(condition) => test(condition, "map", value)?,
                    None => true,
                };
                if included {
                    let local = Local { value, outer: scope.locals };
                    made.push(node(element, within(&local, scope))?.into_owned());
                }
            }
            Ok(Cow::Owned(Value::List(made.into())))
        }
    }
}

/// The scope with a variable more.
fn within<'a>(local: &'a Local<'a>, scope: Scope<'a>) -> Scope<'a> {
    Scope { locals: Some(local), ..scope }
}
