//! Whether what a provider did is what it planned.

use trueup_core::{Kind, Path, Step, Value};

use super::Violation;

/// Where a new state differs from the plan: what was planned as known must have come to be.
pub fn inconsistencies(planned: &Value, actual: &Value) -> Vec<Violation> {
    let mut check = Check { path: Path::ROOT, found: Vec::new() };
    check.compare(planned, actual);
    check.found
}

struct Check {
    path: Path,
    found: Vec<Violation>,
}

impl Check {
    fn compare(&mut self, planned: &Value, actual: &Value) {
        if planned.is_unknown() {
            return;
        }
        let secret = planned.is_secret() || actual.is_secret();
        match (planned.kind(), actual.kind()) {
            (Kind::List(planneds), Kind::List(actuals)) if planneds.len() == actuals.len() => {
                for (at, (planned, actual)) in planneds.iter().zip(actuals.iter()).enumerate() {
                    self.at(Step::Index(at as u64), |it| it.compare(planned, actual));
                }
            }
            (Kind::Map(planneds) | Kind::Object(planneds), Kind::Map(actuals) | Kind::Object(actuals))
                if planneds.len() == actuals.len() =>
            {
                for (key, planned) in planneds.iter() {
                    let actual = actuals.get(key).cloned().unwrap_or_default();
                    self.at(Step::Key(key.clone()), |it| it.compare(planned, &actual));
                }
            }
            (Kind::Set(planneds), Kind::Set(actuals)) => {
                // Elements that were not known may have come to be anything, the same as others included.
                let known = planneds.iter().all(Value::is_wholly_known);
                let stray = planneds
                    .iter()
                    .filter(|it| it.is_wholly_known())
                    .any(|planned| !actuals.iter().any(|actual| actual.same(planned)));
                if stray || (known && planneds.len() != actuals.len()) {
                    self.report("the set has other elements than were planned".to_owned());
                }
            }
            (left, right) if std::mem::discriminant(left) == std::mem::discriminant(right) => {
                if !planned.same(actual) {
                    let message = match secret || planned.children().next().is_some() {
                        true => "it has another value than was planned".to_owned(),
                        false => format!("was planned as {planned}, but is {actual}"),
                    };
                    self.report(message);
                }
            }
            (left, right) => self.report(format!("was planned as {}, but is {}", left.name(), right.name())),
        }
    }

    fn report(&mut self, message: String) {
        self.found.push(Violation::new(&self.path, message));
    }

    fn at(&mut self, step: Step, inside: impl FnOnce(&mut Self)) {
        self.path.push(step);
        inside(self);
        self.path.pop();
    }
}

/// The value with null in place of everything that is still unknown, and where that was.
pub(crate) fn settled(value: &Value) -> (Value, Vec<Path>) {
    let mut unknown = Vec::new();
    let value = settle(value, &mut Path::ROOT.clone(), &mut unknown);
    (value, unknown)
}

fn settle(value: &Value, path: &mut Path, unknown: &mut Vec<Path>) -> Value {
    let mut inside = |step: Step, item: &Value| {
        path.push(step);
        let settled = settle(item, path, unknown);
        path.pop();
        settled
    };
    let settled = match value.kind() {
        Kind::Unknown(_) => {
            unknown.push(path.clone());
            Value::NULL
        }
        Kind::List(items) => Value::list(
            items
                .iter()
                .enumerate()
                .map(|(at, item)| inside(Step::Index(at as u64), item))
                .collect::<Vec<_>>(),
        ),
        Kind::Set(items) => Value::set(items.iter().map(|item| inside(Step::Any, item)).collect::<Vec<_>>()),
        Kind::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, item)| (key.clone(), inside(Step::Key(key.clone()), item)))
                .collect::<Vec<_>>(),
        ),
        Kind::Object(entries) => Value::object(
            entries
                .iter()
                .map(|(key, item)| (key.clone(), inside(Step::Key(key.clone()), item)))
                .collect::<Vec<_>>(),
        ),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => return value.clone(),
    };
    settled.into_secret_if(value.is_secret())
}
