//! Terraform's providers and states, for the commands that deal with them.

mod adopting;
mod installing;
mod leaving;
mod places;

pub(crate) use adopting::{Adoption, Standing, adoption};
pub(crate) use installing::{found_json, install, shown, wrong};
pub(crate) use leaving::{Left, leave};
pub use places::{cache_folder, requirements, settings};
