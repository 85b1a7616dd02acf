//! Bounds on the texts that expressions make, and stack for trees that nest deeply.
//!
//! A name that is used twice, over and over, doubles a text each time. Values as a whole are bounded where they are
//! evaluated (`Value::excess`); a text must be bounded while it grows, or there is no memory left to measure it in.
//!
//! Trees are walked by recursion. How deep one is depends on a text, how much stack is left on the thread: a walk takes
//! more stack when it needs it, so that the bound of the parser alone decides which texts are too deep.

/// How long a text may become, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 128 * 1024 * 1024;

/// What to say of a text that becomes longer.
pub(crate) fn too_long() -> String {
    format!("becomes longer than {} MiB", TEXT_BYTES_MAX / (1024 * 1024))
}

/// The least room that a step of a walk begins with: more than it needs before the next one asks again.
const STACK_LEFT_MIN: usize = 384 * 1024;

/// How much more stack there is when that is not left.
const STACK_MORE: usize = 8 * 1024 * 1024;

/// How many levels of a tree are walked between two looks at the stack.
const LEVELS: usize = 8;

/// A step of a walk, on more stack if little is left.
pub(crate) fn deep<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_LEFT_MIN, STACK_MORE, step)
}

/// The same for a walk that counts its levels.
pub(crate) fn deep_at<T>(level: usize, step: impl FnOnce() -> T) -> T {
    if level.is_multiple_of(LEVELS) { deep(step) } else { step() }
}
