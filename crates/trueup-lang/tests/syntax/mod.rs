//! What texts are read as, and what is said of those that cannot be read.

mod bodies;
mod errors;
mod expressions;
mod hostile;
mod json;
pub(crate) mod outline;

use trueup_core::{FileId, SourceMap};

/// A file of a throw-away source map, for texts whose places do not matter.
fn any_file() -> FileId {
    SourceMap::new().add("test", "")
}
