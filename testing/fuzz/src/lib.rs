//! What must hold for any bytes that come from outside: no panic, and what was read and written again is the same.
//!
//! Each [`Target`] is a property of bytes, which panics where it does not hold. The fuzzer (`libfuzzer/`, run by
//! `cargo xtask fuzz`) searches for such bytes with instrumentation for as long as it is let; the tests of this crate try
//! random bytes and damaged seeds for a few seconds. That memory and time stay bounded is for both to watch from
//! outside.

// What the derives refer to.
extern crate trueup_provider as trueup;

mod addresses;
mod journal;
mod language;
mod plans;
mod plugin;
mod terraform;
mod values;

/// A property of bytes, by the name of its fuzz target.
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// Panics where the property does not hold.
    pub check: fn(&[u8]),
    /// Texts that the reader likes, to start from.
    pub seeds: &'static [&'static str],
}

/// All targets.
pub const TARGETS: [Target; 9] = [
    Target { name: "addresses", check: addresses::check, seeds: addresses::SEEDS },
    Target { name: "expressions", check: language::check_expression, seeds: language::EXPRESSIONS },
    Target { name: "journal", check: journal::check, seeds: journal::SEEDS },
    Target { name: "lock_files", check: terraform::check_lock, seeds: terraform::LOCKS },
    Target { name: "plans", check: plans::check, seeds: plans::SEEDS },
    Target { name: "plugin", check: plugin::check, seeds: plugin::SEEDS },
    Target { name: "stacks", check: language::check_stack, seeds: language::STACKS },
    Target { name: "state_files", check: terraform::check_state, seeds: terraform::STATES },
    Target { name: "values", check: values::check, seeds: values::SEEDS },
];

/// Checks the property of this name, for a fuzz target.
///
/// # Panics
/// Where it does not hold, or if there is none of this name.
pub fn check(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of this name").check)(bytes);
}

/// Bytes as the text that they are, if they are one.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
