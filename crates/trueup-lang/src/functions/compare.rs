//! Searching lists by the language's equality, in which what is unknown leaves the answer open.

use trueup_core::Value;

use crate::eval::equal;

/// Where a value was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    At(usize),
    Nowhere,
    /// An unknown element may be it.
    Open,
}

pub(super) fn find(items: &[Value], wanted: &Value) -> Found {
    let mut open = false;
    for (at, item) in items.iter().enumerate() {
        match equal(item, wanted) {
            Some(true) if !open => return Found::At(at),
            Some(true) | None => open = true,
            Some(false) => {}
        }
    }
    if open { Found::Open } else { Found::Nowhere }
}
