//! The engine: `lifecycle` is the specification in executable form, `laws` hold for every program, `makespan` is
//! about time.

// The derives refer to the crate by this name.
extern crate trueup_provider as trueup;

mod laws;
mod lifecycle;
mod makespan;
