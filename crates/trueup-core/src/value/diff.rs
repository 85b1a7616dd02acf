//! What differs between two values, position by position.
//!
//! Lists compare by position, sets by content, maps and objects by key, where absent and null are the same (PLAN-6). A
//! secret is one position, whatever is inside: its keys are as secret as its values. The changes come in the order of
//! the paths, so that the same two values always give the same list.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::compare::distinct;
use super::{Entries, Kind, Value};
use crate::path::{Path, Step};

/// One position at which two values differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// Where. An element of a set has no place of its own: its path ends in `[*]`.
    pub path: Path,
    /// The earlier value; `None` where there was none.
    pub before: Option<Value>,
    /// The later value; `None` where there is none any more.
    pub after: Option<Value>,
    /// Whether the position differs for certain, rather than perhaps once an unknown is settled.
    pub certain: bool,
}

/// The positions at which `after` differs from `before`, or may once its unknown parts are settled. Empty exactly when
/// the two mean the same and nothing is unknown.
pub fn diff(before: &Value, after: &Value) -> Vec<Change> {
    let mut walk = Walk { path: Path::ROOT, changes: Vec::new() };
    walk.compare_optional(Some(before), Some(after));
    walk.changes
}

struct Walk {
    path: Path,
    changes: Vec<Change>,
}

impl Walk {
    /// Compares what may be absent; null is.
    fn compare_optional(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let before = before.filter(|value| !value.is_null());
        let after = after.filter(|value| !value.is_null());
        match (before, after) {
            (Some(old), Some(new)) => self.compare(old, new),
            (None, None) => {}
            (one, None) | (None, one) => {
                // An unknown may turn out null.
                let certain = !one.is_some_and(Value::is_unknown);
                self.report(before, after, certain);
            }
        }
    }

    /// Compares what is there on both sides. Between elements of a list, null is a value like any other.
    fn compare(&mut self, old: &Value, new: &Value) {
        if old.is_secret() || new.is_secret() {
            return self.compare_secrets(old, new);
        }
        match (old.kind(), new.kind()) {
            (Kind::List(olds), Kind::List(news)) => self.compare_lists(olds, news),
            (Kind::Set(olds), Kind::Set(news)) => self.compare_sets(olds, news),
            (Kind::Map(olds) | Kind::Object(olds), Kind::Map(news) | Kind::Object(news)) => {
                self.compare_entries(olds, news);
            }
            (Kind::Unknown(_), _) | (_, Kind::Unknown(_)) => self.report(Some(old), Some(new), false),
            _ if old.same(new) => {}
            _ => self.report(Some(old), Some(new), true),
        }
    }

    fn compare_secrets(&mut self, old: &Value, new: &Value) {
        let inside = diff(&old.clone().reveal(), &new.clone().reveal());
        if !inside.is_empty() {
            let (old, new) = (old.clone().into_secret(), new.clone().into_secret());
            self.report(Some(&old), Some(&new), inside.iter().any(|change| change.certain));
        }
    }

    fn compare_lists(&mut self, olds: &[Value], news: &[Value]) {
        for at in 0..olds.len().max(news.len()) {
            self.at(Step::Index(at as u64), |walk| match (olds.get(at), news.get(at)) {
                (Some(old), Some(new)) => walk.compare(old, new),
                (old, new) => walk.report(old, new, true),
            });
        }
    }

    /// Elements have no identity but their content, so one that is not wholly known may turn out to be any of the
    /// others: then nothing about the set is certain but what stands on both sides.
    fn compare_sets(&mut self, olds: &[Value], news: &[Value]) {
        let certain = olds.iter().chain(news).all(Value::is_wholly_known);
        let (mut olds, mut news) = (distinct(olds).peekable(), distinct(news).peekable());
        self.at(Step::Any, |walk| {
            loop {
                let order = match (olds.peek(), news.peek()) {
                    (None, None) => return,
                    (Some(old), Some(new)) => old.canonical_cmp(new),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                };
                let old = if order.is_le() { olds.next() } else { None };
                let new = if order.is_ge() { news.next() } else { None };
                let settled = order.is_eq() && new.is_some_and(Value::is_wholly_known);
                if !settled {
                    walk.report(old, new, certain);
                }
            }
        });
    }

    fn compare_entries(&mut self, olds: &Entries, news: &Entries) {
        let mut keys: Vec<_> = olds.keys().chain(news.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            self.at(Step::Key(key.clone()), |walk| walk.compare_optional(olds.get(key), news.get(key)));
        }
    }

    fn at(&mut self, step: Step, inside: impl FnOnce(&mut Self)) {
        self.path.push(step);
        inside(self);
        self.path.pop();
    }

    fn report(&mut self, before: Option<&Value>, after: Option<&Value>, certain: bool) {
        let change =
            Change { path: self.path.clone(), before: before.cloned(), after: after.cloned(), certain };
        self.changes.push(change);
    }
}
