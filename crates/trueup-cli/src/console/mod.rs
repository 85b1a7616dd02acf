//! The lines of a `console` in a terminal: read with an editor on a thread of its own, so that signals are heard meanwhile,
//! and remembered from session to session.
//!
//! [`Lines`] is what the command sees. `editor` reads (rustyline), `complete` says what a word may become and when an
//! expression is whole, `remembered` keeps the history file.

mod complete;
mod editor;
mod remembered;

pub(crate) use complete::Words;
pub(crate) use editor::{Lines, Typed};
