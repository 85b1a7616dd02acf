//! Bounds on the texts that expressions make.
//!
//! A name that is used twice, over and over, doubles a text each time. Values as a whole are bounded where they are
//! evaluated (`Value::excess`); a text must be bounded while it grows, or there is no memory left to measure it in.

/// How long a text may become, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 128 * 1024 * 1024;

/// What to say of a text that becomes longer.
pub(crate) fn too_long() -> String {
    format!("becomes longer than {} MiB", TEXT_BYTES_MAX / (1024 * 1024))
}
