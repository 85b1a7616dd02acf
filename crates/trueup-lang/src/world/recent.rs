//! The latest value of a name that many resources go into, kept as long as none of them changes.
//!
//! The engine evaluates the inputs of one resource at a time. A local value that gathers a thousand resources and is used
//! by a thousand others would be evaluated a thousand times; here that becomes as many looks at what went into it, most
//! of which find that it is the very same.

use std::sync::Mutex;

use trueup_core::{Address, Path, Value};
use trueup_program::{Reference, Scope};

/// The fewest resources from which on looking at them all is cheaper than evaluating.
const RESOURCES_MIN: usize = 16;

/// The latest value of a name, and what went into it.
#[derive(Default)]
pub(super) struct Recent(Mutex<Option<Kept>>);

struct Kept {
    /// Whether it was evaluated to be carried out: time and chance are known only then.
    is_final: bool,
    /// What the resources were that it depends on.
    seen: Vec<Option<Value>>,
    value: Value,
}

impl Recent {
    /// The value, if all that goes into it is as it was.
    pub(super) fn get(&self, used: &[Address], scope: &dyn Scope) -> Option<Value> {
        if used.len() < RESOURCES_MIN {
            return None;
        }
        let kept = self.0.lock().ok()?;
        let kept = kept.as_ref().filter(|kept| kept.is_final == scope.is_final())?;
        let same = used.iter().zip(&kept.seen).all(|(address, seen)| resolve(scope, address) == *seen);
        same.then(|| kept.value.clone())
    }

    /// Keeps the value in place of the one before.
    pub(super) fn set(&self, used: &[Address], scope: &dyn Scope, value: &Value) {
        if used.len() < RESOURCES_MIN {
            return;
        }
        let seen = used.iter().map(|address| resolve(scope, address)).collect();
        let kept = Kept { is_final: scope.is_final(), seen, value: value.clone() };
        // A lock that is poisoned holds a value like any other.
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(kept);
    }
}

fn resolve(scope: &dyn Scope, address: &Address) -> Option<Value> {
    scope.resolve(&Reference { address: address.clone(), path: Path::ROOT })
}
