//! The canonical form of texts, in tables that people can read, a file per family.
//!
//! Where Terraform is installed, it formats the same texts, so that the tables say what it really does; cases in which
//! ours differs on purpose are marked. Programs made up at random must keep their meaning and stay as they are the
//! second time.

mod author;
mod cases;
mod generated;
mod hostile;
mod meaning;
mod referee;

use trueup_lang::format::format;

/// The canonical form of a text that can be read.
fn formatted(text: &str) -> String {
    format(text).unwrap_or_else(|diagnostics| {
        let told: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("{}:\n{text}", told.join("; "))
    })
}
