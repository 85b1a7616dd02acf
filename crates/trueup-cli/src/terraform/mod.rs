//! Terraform's providers and states, for the commands that deal with them.

mod installing;
mod places;

pub(crate) use installing::{found_json, install, wrong};
pub use places::{cache_folder, requirements, settings};
