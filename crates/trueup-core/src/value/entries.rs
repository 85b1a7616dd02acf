//! The keyed contents of maps and objects: a shared, sorted slice.
//!
//! Sorted, so that two values with the same contents are the same bytes; a slice, because most objects have a dozen
//! attributes and are read far more often than built.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smol_str::SmolStr;

use super::Value;

/// Keys with their values, sorted by key, each key once. A clone shares the contents.
#[derive(Clone, Eq, Default)]
pub struct Entries(Arc<[(SmolStr, Value)]>);

impl Entries {
    /// Sorts the pairs; of a repeated key the last one counts.
    pub fn from_pairs<K: Into<SmolStr>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Self {
        let mut pairs: Vec<(SmolStr, Value)> =
            pairs.into_iter().map(|(key, value)| (key.into(), value)).collect();
        if !pairs.is_sorted_by(|left, right| left.0 < right.0) {
            pairs.sort_by(|left, right| left.0.cmp(&right.0));
            // `dedup_by` keeps the earlier of two; swapping first makes that the later one.
            pairs.dedup_by(|later, earlier| {
                let repeated = later.0 == earlier.0;
                if repeated {
                    std::mem::swap(later, earlier);
                }
                repeated
            });
        }
        Entries(pairs.into())
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.binary_search_by(|(own, _)| own.as_str().cmp(key)).ok().map(|at| &self.0[at].1)
    }

    /// The pairs, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &Value)> + Clone {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The keys, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &SmolStr> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs as a slice.
    pub fn as_slice(&self) -> &[(SmolStr, Value)] {
        &self.0
    }

    pub(super) fn shares_storage_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for Entries {
    /// What shares its storage is equal without a look inside, which is what most comparisons of a plan are.
    fn eq(&self, other: &Self) -> bool {
        self.shares_storage_with(other) || self.0 == other.0
    }
}

impl Hash for Entries {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
