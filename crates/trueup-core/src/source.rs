//! Where values and declarations come from: source files and places in them.
//!
//! An [`Origin`] is twelve bytes, so that every value can carry one; the [`SourceMap`] that gave it out turns it back
//! into a file, line and column. Whoever builds a program owns the map and hands it to whoever prints diagnostics.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostics;

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

impl FileId {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Origin {
    /// A whole file.
    pub fn of_file(file: FileId) -> Self {
        Origin { file, start: 0, end: u32::MAX }
    }
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

/// A place in a source, for whoever cannot read an [`Origin`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlace<'m> {
    /// The file, by its name in the map.
    pub file: &'m str,
    /// Where it begins; `None` if only the file is known.
    pub start: Option<LineColumn>,
    /// Where it ends: the place after the last character. `None` if that is unknown.
    pub end: Option<LineColumn>,
}

impl fmt::Display for SourcePlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file)?;
        self.start.map_or(Ok(()), |LineColumn { line, column }| write!(f, ":{line}:{column}"))
    }
}

/// A line and a column, both counted from 1; columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// One source: a file with its text, or a place in compiled code, of which only the name is known.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Option<Arc<str>>,
    /// The place in compiled code that it stands for.
    code: Option<(&'static str, LineColumn)>,
    /// Stretches of the text that no report shows, in order.
    withheld: Vec<Range<u32>>,
    /// The first byte of each line, once someone asked for one.
    line_starts: OnceLock<Arc<[usize]>>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and its text.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        self.push(SourceFile::new(name.into(), Some(text.into())))
    }

    /// Keeps a stretch of a text from being shown: reports point there without an excerpt.
    pub fn withhold(&mut self, origin: Origin) {
        if let Some(file) = self.files.get_mut(origin.file.index()) {
            file.disclose(origin);
            let at = file.withheld.partition_point(|range| range.start < origin.start);
            file.withheld.insert(at, origin.start..origin.end);
        }
    }

    /// Lets a stretch of a text be shown that was kept from it.
    pub fn disclose(&mut self, origin: Origin) {
        if let Some(file) = self.files.get_mut(origin.file.index()) {
            file.disclose(origin);
        }
    }

    /// The origin that stands for a place in Rust code. The same place always has the same origin.
    pub fn code(&mut self, location: &'static Location<'static>) -> Origin {
        let name: Arc<str> = format!("{}:{}:{}", location.file(), location.line(), location.column()).into();
        let file = match self.places.get(&name) {
            Some(file) => *file,
            None => {
                let at = LineColumn { line: location.line() as usize, column: location.column() as usize };
                let code = Some((location.file(), at));
                let file = self.push(SourceFile { code, ..SourceFile::new(name.clone(), None) });
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
        self.files.get(id.index())
    }

    /// Adds the files of another map. The diagnostics that refer to them refer to this map from then on.
    pub fn append(&mut self, other: SourceMap, diagnostics: &mut Diagnostics) {
        let before = self.files.len();
        let moved = |origin: &mut Origin| {
            origin.file = file_id(origin.file.index() + before).expect("fewer than 2^32 files");
        };
        for diagnostic in diagnostics.iter_mut() {
            diagnostic.origin.iter_mut().chain(&mut diagnostic.first).for_each(moved);
            if !diagnostic.concealed.is_empty() {
                Arc::make_mut(&mut diagnostic.concealed).iter_mut().for_each(moved);
            }
        }
        self.files.extend(other.files);
    }

    /// The place that an origin means, unless the origin is from another map.
    pub fn place(&self, origin: Origin) -> Option<SourcePlace<'_>> {
        let file = self.file(origin.file)?;
        if let Some((file, at)) = file.code {
            return Some(SourcePlace { file, start: Some(at), end: None });
        }
        let ends = file.line_column(origin.start as usize).zip(file.line_column(origin.end as usize));
        Some(SourcePlace { file: &file.name, start: ends.map(|it| it.0), end: ends.map(|it| it.1) })
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
    fn new(name: Arc<str>, text: Option<Arc<str>>) -> Self {
        SourceFile { name, text, code: None, withheld: Vec::new(), line_starts: OnceLock::new() }
    }

    fn disclose(&mut self, Origin { start, end, .. }: Origin) {
        let first = self.withheld.partition_point(|range| range.end <= start);
        let beyond = self.withheld.partition_point(|range| range.start < end);
        if first >= beyond {
            return;
        }
        let outer = self.withheld[first].start..self.withheld[beyond - 1].end;
        let left = [outer.start..start, end..outer.end].into_iter().filter(|range| !range.is_empty());
        self.withheld.splice(first..beyond, left);
    }

    /// Whether a report may show this stretch of the text. Blanks and the marks between values say nothing.
    pub(crate) fn may_show(&self, stretch: Range<usize>) -> bool {
        let Some(text) = self.text() else { return false };
        let first = self.withheld.partition_point(|range| range.end as usize <= stretch.start);
        let concerned =
            self.withheld[first..].iter().take_while(|range| (range.start as usize) < stretch.end);
        concerned.clone().all(|range| {
            let (start, end) = (stretch.start.max(range.start as usize), stretch.end.min(range.end as usize));
            let says_nothing = |byte: &u8| byte.is_ascii_whitespace() || b"{},:\"".contains(byte);
            text.as_bytes().get(start..end).is_some_and(|bytes| bytes.iter().all(says_nothing))
        })
    }

    /// The number of the line that a byte of the text is in, from 0 on.
    pub(crate) fn line_at(&self, byte: usize) -> usize {
        self.line_starts().partition_point(|start| *start <= byte).saturating_sub(1)
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let text = self.text().unwrap_or_default();
            let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(breaks).collect()
        })
    }

    /// Where a byte of the text stands; `None` if the text has no character that begins or ends there.
    fn line_column(&self, byte: usize) -> Option<LineColumn> {
        let before = self.text()?.get(..byte)?;
        let line = self.line_at(byte);
        let column = before[self.line_starts()[line]..].chars().count() + 1;
        Some(LineColumn { line: line + 1, column })
    }

    /// The name, as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, if it is known.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, Path};

    /// Which bytes of a text of ten may be shown, after some were withheld and disclosed.
    fn shown(private: bool, changes: &[(bool, u32, u32)]) -> String {
        let mut sources = SourceMap::new();
        let text = "0123456789";
        let file = sources.add("a", text);
        if private {
            sources.withhold(Origin::of_file(file));
        }
        for (disclose, start, end) in changes {
            let origin = Origin { file, start: *start, end: *end };
            if *disclose { sources.disclose(origin) } else { sources.withhold(origin) }
        }
        let file = sources.file(file).unwrap();
        (0..text.len()).map(|at| if file.may_show(at..at + 1) { &text[at..=at] } else { "-" }).collect()
    }

    /// SECRET-1
    #[test]
    fn a_file_shows_what_is_not_withheld() {
        assert_eq!(shown(false, &[]), "0123456789");
        assert_eq!(shown(true, &[]), "----------");
        assert_eq!(shown(true, &[(true, 2, 4), (true, 6, 7)]), "--23--6---");
        assert_eq!(shown(true, &[(true, 0, 10)]), "0123456789");
        assert_eq!(shown(false, &[(false, 2, 5), (false, 4, 8)]), "01------89");
        assert_eq!(shown(false, &[(false, 6, 8), (false, 1, 3), (true, 2, 7)]), "0-23456-89");
        assert_eq!(shown(false, &[(false, 3, 3)]), "0123456789");
        assert_eq!(shown(false, &[(false, 2, 8), (false, 4, 5)]), "01------89");
    }

    #[test]
    fn each_byte_is_in_the_line_that_it_stands_in() {
        let mut sources = SourceMap::new();
        let file = sources.add("a", "ab\n\nc");
        let file = sources.file(file).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|byte| file.line_at(byte)), [0, 0, 0, 1, 2, 2]);
    }

    /// OUTPUT-11: its own place, and that of what it repeats.
    #[test]
    fn diagnostics_follow_files_into_another_map() {
        let (mut all, mut more) = (SourceMap::new(), SourceMap::new());
        all.add("a", "a");
        let at = |file, start| Some(Origin { file, start, end: start + 1 });
        let file = more.add("b", "b\nb\n");
        let repeated = Diagnostic::error("twice").at(Path::ROOT, at(file, 2)).repeating(at(file, 0));
        let mut diagnostics = Diagnostics::from(repeated);
        all.append(more, &mut diagnostics);
        let place = |origin: Option<Origin>| all.place(origin.unwrap()).unwrap().to_string();
        let moved = diagnostics.iter().next().unwrap();
        assert_eq!((place(moved.origin), place(moved.first)), ("b:2:1".to_owned(), "b:1:1".to_owned()));
    }

    /// OUTPUT-11
    #[test]
    fn a_place_has_lines_and_columns_in_characters() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.tu", "ä = 1\nöü = \"x\ny\"\n");
        let place = |start, end| {
            let place = sources.place(Origin { file, start, end }).unwrap();
            let pair = |at: LineColumn| (at.line, at.column);
            (place.file.to_owned(), place.start.map(pair), place.end.map(pair))
        };
        assert_eq!(place(0, 2), ("a.tu".to_owned(), Some((1, 1)), Some((1, 2))));
        assert_eq!(place(7, 11), ("a.tu".to_owned(), Some((2, 1)), Some((2, 3))));
        assert_eq!(place(14, 19), ("a.tu".to_owned(), Some((2, 6)), Some((3, 3))));
        assert_eq!(place(0, u32::MAX), ("a.tu".to_owned(), None, None));
        assert_eq!(place(1, 2), ("a.tu".to_owned(), None, None));
        let here = Location::caller();
        let origin = sources.code(here);
        let place = sources.place(origin).unwrap();
        assert_eq!((place.file, place.end), (file!(), None));
        assert_eq!(place.start.unwrap().line, here.line() as usize);
    }
}
