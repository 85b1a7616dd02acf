//! The reference: what the program says of itself, as pages in Markdown for a book, and JSON Schemas.
//!
//! Everything here comes from where the program has it too: commands from their arguments, types from their schemas. The
//! pages are the same on every machine.

mod commands;
mod json;
mod providers;

pub(crate) use commands::command_page;
pub(crate) use json::schemas;
pub(crate) use providers::provider_pages;

/// The first line of a page, for those who would change it.
fn notice(program: &str) -> String {
    format!("<!-- Written by `{program} reference`. Changes made here are lost. -->\n\n")
}
