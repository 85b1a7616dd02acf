//! What a value must satisfy beyond its type (CRUD-11).

use std::fmt;
use std::sync::{Arc, OnceLock};

use regex::Regex;

use crate::value::{Kind, Number, Value};

/// A condition on one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Is one of these.
    OneOf(Vec<Value>),
    /// Its text matches.
    Pattern(Pattern),
    /// Has no fraction.
    Integer,
    /// Lies between these, inclusive.
    Range {
        /// The least.
        min: Option<Number>,
        /// The most.
        max: Option<Number>,
    },
    /// Has this many characters or elements, inclusive.
    Length {
        /// The fewest.
        min: Option<u64>,
        /// The most.
        max: Option<u64>,
    },
    /// Is not null, where null could stand: in a collection.
    NotNull,
    /// Holds for each element of a list, set or map.
    Each(Box<Constraint>),
}

/// A regular expression that texts must match somewhere; anchor it to match the whole.
///
/// It is compiled when the first text is checked: most commands check texts of few types, and compiling the patterns
/// of all would be a quarter of the start-up.
#[derive(Clone)]
pub struct Pattern {
    expression: &'static str,
    compiled: Arc<OnceLock<Regex>>,
}

impl Pattern {
    fn new(expression: &'static str) -> Self {
        let pattern = Pattern { expression, compiled: Arc::default() };
        if cfg!(debug_assertions) {
            // Authors learn of a mistake when their provider is made, not when someone uses the field.
            pattern.compiled();
        }
        pattern
    }

    fn compiled(&self) -> &Regex {
        self.compiled.get_or_init(|| match Regex::new(self.expression) {
            Ok(compiled) => compiled,
            Err(error) => panic!("a schema holds an invalid pattern: {error}"),
        })
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        self.expression
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.as_str())
    }
}

impl Constraint {
    /// A condition that texts match this expression.
    ///
    /// # Panics
    /// If the expression is not valid: it is part of a schema, so that is a mistake in the provider's code.
    /// Optimised builds find it when the first text is checked.
    pub fn pattern(expression: &'static str) -> Self {
        Constraint::Pattern(Pattern::new(expression))
    }

    /// Whether a value satisfies the condition. Null and unknown values do: the first is for presence to judge, the
    /// second is judged again when it is known.
    pub fn holds_for(&self, value: &Value) -> bool {
        match (self, value.kind()) {
            (Constraint::NotNull, kind) => !matches!(kind, Kind::Null),
            (_, Kind::Null | Kind::Unknown(_)) => true,
            (Constraint::OneOf(allowed), _) => allowed.iter().any(|allowed| allowed.same(value)),
            (Constraint::Pattern(pattern), Kind::String(text)) => pattern.compiled().is_match(text),
            (Constraint::Integer, Kind::Number(number)) => number.is_integer(),
            (Constraint::Range { min, max }, Kind::Number(number)) => {
                within(number, min.as_ref(), max.as_ref())
            }
            (Constraint::Length { min, max }, _) => {
                length(value).is_none_or(|length| within(&length, min.as_ref(), max.as_ref()))
            }
            (Constraint::Each(constraint), _) => value.children().all(|child| constraint.holds_for(child)),
            // A value of another type is the type check's to report.
            (Constraint::Pattern(_) | Constraint::Integer | Constraint::Range { .. }, _) => true,
        }
    }
}

fn within<T: Ord>(value: &T, min: Option<&T>, max: Option<&T>) -> bool {
    min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

fn length(value: &Value) -> Option<u64> {
    match value.kind() {
        Kind::String(text) => Some(text.chars().count() as u64),
        Kind::List(items) | Kind::Set(items) => Some(items.len() as u64),
        Kind::Map(entries) | Kind::Object(entries) => Some(entries.len() as u64),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Unknown(_) => None,
    }
}

impl fmt::Display for Constraint {
    /// What a value must do, to follow "must".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constraint::OneOf(allowed) => {
                f.write_str("be ")?;
                for (at, value) in allowed.iter().enumerate() {
                    let separator = if at == 0 { "" } else { " or " };
                    write!(f, "{separator}{value}")?;
                }
                Ok(())
            }
            Constraint::Pattern(pattern) => write!(f, "match `{}`", pattern.as_str()),
            Constraint::Integer => f.write_str("be a whole number"),
            Constraint::Range { min, max } => {
                f.write_str("be ")?;
                write_bounds(f, min.as_ref(), max.as_ref())
            }
            Constraint::Length { min, max } => {
                f.write_str("have a length of ")?;
                write_bounds(f, min.as_ref(), max.as_ref())
            }
            Constraint::NotNull => f.write_str("not be null"),
            Constraint::Each(constraint) => write!(f, "{constraint} in each element"),
        }
    }
}

fn write_bounds<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    min: Option<&T>,
    max: Option<&T>,
) -> fmt::Result {
    match (min, max) {
        (Some(min), Some(max)) => write!(f, "{min} to {max}"),
        (Some(min), None) => write!(f, "at least {min}"),
        (None, Some(max)) => write!(f, "at most {max}"),
        (None, None) => f.write_str("anything"),
    }
}
