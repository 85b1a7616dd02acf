//! The tests that every store shares.
//!
//! - [`conformance`]: what every store must do, one case each
//! - [`contest`]: many processes that contend for a store, are killed and stopped

pub mod conformance;
pub mod contest;
