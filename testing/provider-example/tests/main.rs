//! The provider of `examples/provider`: as a plugin of Terraform, as a plugin of trueup, and in trueup itself. All three
//! must plan and do the same.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says when it is skipped")]

mod plugins;
