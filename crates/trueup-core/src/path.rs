//! Paths: positions inside a value, such as `rules[0].port` or `tags["cost centre"]`.
//!
//! `[*]` stands for any element, of a set (whose elements have no place) or, in a pattern, of a list or map.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::text::{Quoted, Scanner, is_identifier};

/// A position inside a value, from the top down.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(Vec<Step>);

/// One step of a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// An attribute of an object or a key of a map.
    Key(SmolStr),
    /// A place in a list, from 0.
    Index(u64),
    /// Any element.
    Any,
}

impl Step {
    /// The step to an attribute or key.
    pub fn key(name: impl Into<SmolStr>) -> Step {
        Step::Key(name.into())
    }

    fn covers(&self, other: &Step) -> bool {
        *self == Step::Any || self == other
    }
}

impl Path {
    /// The value itself.
    pub const ROOT: Path = Path(Vec::new());

    /// The path to a top-level attribute.
    pub fn attribute(name: impl Into<SmolStr>) -> Path {
        Path(vec![Step::key(name)])
    }

    /// The steps, from the top down.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The name of the top-level attribute the path leads into.
    pub fn first_key(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether this is the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// One step further.
    #[must_use]
    pub fn join(&self, step: Step) -> Path {
        // Programs hold many paths, and room for more steps would weigh more than they do.
        let mut longer = Path(Vec::with_capacity(self.0.len() + 1));
        longer.0.extend(self.0.iter().cloned());
        longer.push(step);
        longer
    }

    /// Goes one step further in place.
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Goes back one step in place.
    pub fn pop(&mut self) -> Option<Step> {
        self.0.pop()
    }

    /// Whether `other` is this position or lies inside it, `[*]` here standing for any step.
    pub fn covers(&self, other: &Path) -> bool {
        self.0.len() <= other.0.len() && self.0.iter().zip(&other.0).all(|(own, other)| own.covers(other))
    }
}

impl Path {
    /// Whether one of the two is the other or lies inside it, `[*]` on either side standing for any step.
    pub fn overlaps(&self, other: &Path) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own.covers(other) || other.covers(own))
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Path(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if is_identifier(key) => {
                    f.write_str(if at == 0 { "" } else { "." })?;
                    f.write_str(key)?;
                }
                Step::Key(key) => write!(f, "[{}]", Quoted(key))?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Any => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a path: expected {expected} at column {}", offset + 1)]
pub struct PathError {
    text: String,
    offset: usize,
    expected: &'static str,
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut scanner = Scanner::new(text);
        let mut path = Path::ROOT;
        while !scanner.is_at_end() {
            let error = |offset, expected| PathError { text: text.to_owned(), offset, expected };
            let start = scanner.offset();
            if scanner.take("[") {
                let step = read_index(&mut scanner)
                    .ok_or_else(|| error(scanner.offset(), "a number, a quoted key or `*`, then `]`"))?;
                path.push(step);
            } else if path.is_root() || scanner.take(".") {
                let name = scanner.identifier().ok_or_else(|| error(scanner.offset(), "a name"))?;
                path.push(Step::key(name));
            } else {
                return Err(error(start, "`.` or `[`"));
            }
        }
        path.0.shrink_to_fit();
        Ok(path)
    }
}

fn read_index(scanner: &mut Scanner<'_>) -> Option<Step> {
    let step = if scanner.take("*") {
        Step::Any
    } else if let Some(key) = scanner.quoted() {
        Step::key(key)
    } else {
        Step::Index(scanner.index()?)
    };
    scanner.take("]").then_some(step)
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.parse().unwrap()
    }

    #[test]
    fn a_path_covers_itself_and_what_lies_inside() {
        assert!(path("rules").covers(&path("rules[0].port")));
        assert!(path("rules[*].port").covers(&path("rules[3].port")));
        assert!(!path("rules[*].port").covers(&path("rules[3].name")));
        assert!(!path("rules[0]").covers(&path("rules")));
        assert!(Path::ROOT.covers(&path("anything")));
    }

    #[test]
    fn what_is_no_path_says_what_was_expected() {
        let message = |text: &str| text.parse::<Path>().unwrap_err().to_string();
        assert_eq!(message("a..b"), "`a..b` is not a path: expected a name at column 3");
        assert_eq!(message("a b"), "`a b` is not a path: expected `.` or `[` at column 2");
        assert_eq!(
            message("a[01]"),
            "`a[01]` is not a path: expected a number, a quoted key or `*`, then `]` at column 3"
        );
    }
}
