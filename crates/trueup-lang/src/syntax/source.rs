//! From the bytes of a file to its tree: size, byte-order mark and encoding, then the syntax that the name asks for.

use trueup_core::{Diagnostic, FileId, Origin, SourceMap};

use super::body::Body;
use super::json::parse_json_values;
use super::{Parsed, parse_body, parse_json_body};

/// The largest file that is read. Places are 32 bits wide, and nobody writes a program of this size by hand.
pub const FILE_BYTES_MAX: usize = 32 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Enters a file in the source map and reads it: as JSON if its name ends in `.json`, else as native syntax.
pub fn parse_source(sources: &mut SourceMap, name: &str, bytes: &[u8]) -> Parsed<Body> {
    let entered = enter_source(sources, name, bytes);
    entered.parse(sources)
}

/// A file that stands in the source map and is still to be read.
pub(crate) enum Entered {
    /// A text.
    Text(FileId),
    /// What cannot be read at all.
    Refused(Parsed<Body>),
}

impl Entered {
    /// Reads it. `sources` is the map it stands in.
    pub(crate) fn parse(self, sources: &SourceMap) -> Parsed<Body> {
        self.parse_by(sources, parse_json_body)
    }

    /// Reads a file of values. `sources` is the map it stands in.
    pub(crate) fn parse_values(self, sources: &SourceMap) -> Parsed<Body> {
        self.parse_by(sources, parse_json_values)
    }

    fn parse_by(self, sources: &SourceMap, parse_json: fn(&str, FileId) -> Parsed<Body>) -> Parsed<Body> {
        match self {
            Entered::Refused(parsed) => parsed,
            Entered::Text(id) => {
                let file = sources.file(id).expect("it was entered in this map");
                let text = file.text().unwrap_or_default();
                if file.name().ends_with(".json") { parse_json(text, id) } else { parse_body(text, id) }
            }
        }
    }
}

/// Enters a file in the source map.
pub(crate) fn enter_source(sources: &mut SourceMap, name: &str, bytes: &[u8]) -> Entered {
    if bytes.len() > FILE_BYTES_MAX {
        let file = sources.add(name, "");
        let message = format!(
            "this file has more than {} MiB, and no larger one is read",
            FILE_BYTES_MAX / (1024 * 1024)
        );
        // Its text is not kept, so there is nothing to show but its name: the place lies beyond the text.
        return refused(file, 0, 1, message, "move large data to a file of its own and read it with `file`");
    }
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Entered::Text(sources.add(name, text)),
        Err(error) => {
            // Up to the error the lossy text is the same as the bytes, so the place is right in it.
            let file = sources.add(name, String::from_utf8_lossy(bytes).as_ref());
            let start = error.valid_up_to();
            let replacement = char::REPLACEMENT_CHARACTER.len_utf8();
            let message = format!("this file is not UTF-8: found byte {:#04x}", bytes[start]);
            refused(file, start, start + replacement, message, "save the file as UTF-8")
        }
    }
}

fn refused(file: FileId, start: usize, end: usize, message: String, hint: &str) -> Entered {
    // Both are within FILE_BYTES_MAX.
    let origin = Origin { file, start: start as u32, end: end as u32 };
    let mut diagnostic = Diagnostic::error(message).hint(hint);
    diagnostic.origin = Some(origin);
    let tree = Body { items: Vec::new(), origin, json: false };
    Entered::Refused(Parsed { tree, diagnostics: diagnostic.into() })
}
