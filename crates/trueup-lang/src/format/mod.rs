//! Texts in their canonical form.
//!
//! [`format()`] lays a text out as `terraform fmt` does, so that people who use both see no difference. It works on the
//! row of tokens and not on the tree, because only the tokens hold what people wrote: every comment and blank line, and
//! whether something stands on one line or on several.
//!
//! 1. The parser reads the text. What it refuses is not formatted: it would be guesswork that is hard to undo.
//! 2. `lexer` cuts the text into tokens.
//! 3. `rewrite` replaces the few spellings that are out of date: `"${x}"` for `x`, `type = "string"`, bare labels. It
//!    asks the tree where they are.
//! 4. `line` divides the tokens into lines, and each line into cells: what leads, what is assigned, what is remarked.
//! 5. `indentation`, `spacing` and `alignment` decide how many spaces stand before each token. They change nothing else.
//! 6. `write` puts it together.
//!
//! Three things hold for every text: the tokens mean what they meant before, no comment is lost, and a formatted text
//! is formatted to itself. Where Terraform breaks one of these, we do otherwise:
//!
//! - comments between the labels of a block stay, and so do labels that hold a `$` or `%`
//! - `"${"${x}"}"` is unwrapped at once, and not one layer each time
//! - unwrapped code of several lines gets parentheses unless one pair holds all of it, also where it is a comment that
//!   ends the line; a heredoc and nothing else is not unwrapped
//! - the index of `x[true]` and `x[null]` stays
//! - `1 .0` keeps its space, without which it would be another number
//!
//! Nothing here reads or writes files.

mod alignment;
mod indentation;
mod label;
mod lexer;
mod line;
mod rewrite;
mod spacing;
mod token;
mod write;

use trueup_core::{Diagnostic, Diagnostics, SourceMap};

pub(crate) use label::escaped;

use crate::syntax::{FILE_BYTES_MAX, parse_body};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// How the names of files end that are written in native syntax, and therefore can be formatted.
const NATIVE_ENDINGS: [&str; 5] = [".tu.hcl", ".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl"];

/// The text in its canonical form: programs, and values for variables, which are written alike.
///
/// Line ends stay as they are, a byte-order mark goes.
///
/// # Errors
///
/// What is wrong with a text that cannot be read. The places are in the first file of a source map: to show them, enter
/// the text, without a byte-order mark, in a new one. A text whose canonical form would be too large to be read again is
/// refused too; columns as wide as that are not written by people.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if text.len() > FILE_BYTES_MAX {
        return Err(too_large("this text has").into());
    }
    // The parser needs some file for its places; nothing looks the text up in it.
    let file = SourceMap::new().add("", "");
    let parsed = parse_body(text, file);
    if parsed.diagnostics.has_errors() {
        return Err(parsed.diagnostics);
    }
    let mut tokens = rewrite::rewritten(lexer::tokens(text), &parsed.tree);
    let lines = line::lines(&tokens);
    indentation::indent(&mut tokens, &lines);
    spacing::space(&mut tokens, &lines);
    alignment::align(&mut tokens, &lines);
    write::written(&tokens, FILE_BYTES_MAX).ok_or_else(|| too_large("aligned, this text would have").into())
}

/// Whether a file of this name is written in the syntax that [`format()`] formats.
pub fn is_formattable(name: &str) -> bool {
    NATIVE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn too_large(what: &str) -> Diagnostic {
    let mebibytes = FILE_BYTES_MAX / (1024 * 1024);
    Diagnostic::error(format!("{what} more than {mebibytes} MiB, and no larger file is read"))
        .hint("move large data to a file of its own and read it with `file`")
}
