//! Where values and declarations come from: source files and places in them.
//!
//! An [`Origin`] is twelve bytes, so that every value can carry one; the [`SourceMap`] that gave it out turns it back
//! into a file, line and column. Whoever builds a program owns the map and hands it to whoever prints diagnostics.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::panic::Location;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct FileId(NonZeroU32);

/// A stretch of a source file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "(FileId, u32, u32)", into = "(FileId, u32, u32)")]
pub struct Origin {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl From<(FileId, u32, u32)> for Origin {
    fn from((file, start, end): (FileId, u32, u32)) -> Self {
        Origin { file, start, end: end.max(start) }
    }
}

impl From<Origin> for (FileId, u32, u32) {
    fn from(origin: Origin) -> Self {
        (origin.file, origin.start, origin.end)
    }
}

/// The sources of a program.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// The places in code that were entered, by name.
    places: BTreeMap<Arc<str>, FileId>,
}

/// One source: a file with its text, or a place in compiled code, of which only the name is known.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Option<Arc<str>>,
}

impl SourceMap {
    /// All texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|file| file.text.as_deref())
    }

    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and its text.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        self.push(SourceFile { name: name.into(), text: Some(text.into()) })
    }

    /// The origin that stands for a place in Rust code. The same place always has the same origin.
    pub fn code(&mut self, location: &Location<'_>) -> Origin {
        let name: Arc<str> = format!("{}:{}:{}", location.file(), location.line(), location.column()).into();
        let file = match self.places.get(&name) {
            Some(file) => *file,
            None => {
                let file = self.push(SourceFile { name: name.clone(), text: None });
                self.places.insert(name, file);
                file
            }
        };
        Origin { file, start: 0, end: 0 }
    }

    /// All of them, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// The file with this id, unless the id is from another map.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0.get() as usize - 1)
    }

    fn push(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        // Four billion files do not fit in memory.
        file_id(self.files.len() - 1).expect("fewer than 2^32 files")
    }
}

fn file_id(index: usize) -> Option<FileId> {
    u32::try_from(index + 1).ok().and_then(NonZeroU32::new).map(FileId)
}

impl SourceFile {
    /// The name, as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, if it is known.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}
