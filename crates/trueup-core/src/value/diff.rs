//! What differs between two values, position by position.
//!
//! Lists compare by position, sets by content, maps and objects by key; absent and null are the same (PLAN-6). The
//! changes come in the order of the paths, so that the same two values always give the same list.

use std::cmp::Ordering;

use super::{Entries, Kind, Value};
use crate::path::{Path, Step};

/// One position at which two values differ.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// Where. An element of a set has no place of its own: its path ends in `[*]`.
    pub path: Path,
    /// The earlier value; `None` where there was none.
    pub before: Option<Value>,
    /// The later value; `None` where there is none any more.
    pub after: Option<Value>,
}

impl Change {
    /// Whether the position differs for certain, rather than perhaps once an unknown is settled.
    pub fn is_certain(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().all(|value| !value.is_unknown())
    }
}

/// The positions at which `after` differs from `before`, or may once its unknown parts are settled. Empty exactly when
/// the two mean the same and nothing is unknown.
pub fn diff(before: &Value, after: &Value) -> Vec<Change> {
    let mut walk = Walk { path: Path::ROOT, secret: false, changes: Vec::new() };
    walk.compare(Some(before), Some(after));
    walk.changes
}

struct Walk {
    path: Path,
    /// Whether an enclosing position is secret on either side: then all inside it is.
    secret: bool,
    changes: Vec<Change>,
}

impl Walk {
    fn compare(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let before = before.filter(|value| !value.is_null());
        let after = after.filter(|value| !value.is_null());
        let (Some(old), Some(new)) = (before, after) else {
            if before.is_some() || after.is_some() {
                self.report(before, after);
            }
            return;
        };
        let outer = self.secret;
        self.secret |= old.is_secret() || new.is_secret();
        match (old.kind(), new.kind()) {
            (Kind::List(olds), Kind::List(news)) => self.compare_lists(olds, news),
            (Kind::Set(olds), Kind::Set(news)) => self.compare_sets(olds, news),
            (Kind::Map(olds) | Kind::Object(olds), Kind::Map(news) | Kind::Object(news)) => {
                self.compare_entries(olds, news);
            }
            _ if old.is_unknown() || new.is_unknown() || !old.same(new) => self.report(before, after),
            _ => {}
        }
        self.secret = outer;
    }

    fn compare_lists(&mut self, olds: &[Value], news: &[Value]) {
        for at in 0..olds.len().max(news.len()) {
            self.at(Step::Index(at as u64), |walk| walk.compare(olds.get(at), news.get(at)));
        }
    }

    fn compare_sets(&mut self, olds: &[Value], news: &[Value]) {
        self.at(Step::Any, |walk| {
            let (mut old, mut new) = (0, 0);
            while old < olds.len() || new < news.len() {
                let order = match (olds.get(old), news.get(new)) {
                    (Some(left), Some(right)) => left.canonical_cmp(right),
                    (Some(_), None) => Ordering::Less,
                    _ => Ordering::Greater,
                };
                match order {
                    Ordering::Less => walk.report(Some(&olds[old]), None),
                    Ordering::Greater => walk.report(None, Some(&news[new])),
                    Ordering::Equal if !news[new].is_wholly_known() => {
                        walk.report(Some(&olds[old]), Some(&news[new]));
                    }
                    Ordering::Equal => {}
                }
                old += usize::from(order.is_le());
                new += usize::from(order.is_ge());
            }
        });
    }

    fn compare_entries(&mut self, olds: &Entries, news: &Entries) {
        let mut keys: Vec<_> = olds.keys().chain(news.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            self.at(Step::Key(key.clone()), |walk| walk.compare(olds.get(key), news.get(key)));
        }
    }

    fn at(&mut self, step: Step, inside: impl FnOnce(&mut Self)) {
        self.path.push(step);
        inside(self);
        self.path.pop();
    }

    fn report(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let keep = |value: Option<&Value>| value.map(|value| value.clone().into_secret_if(self.secret));
        let change = Change { path: self.path.clone(), before: keep(before), after: keep(after) };
        self.changes.push(change);
    }
}
