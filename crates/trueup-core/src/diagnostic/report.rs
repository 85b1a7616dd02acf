//! Diagnostics as text: excerpt, place, explanation, what to do.
//!
//! Whatever a diagnostic quotes is escaped. The only terminal sequences in a report are those of its own colours.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin as Place, Renderer, Snippet};

use super::{Diagnostic, Diagnostics, Severity};
use crate::credentials::credential_ranges;
use crate::escape::{acts_on_display, escape, escape_line};
use crate::source::{FileId, Origin, SourceFile, SourceMap};

/// Whether a report is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Plain text.
    Plain,
    /// With terminal colours.
    Coloured,
}

/// Turns diagnostics into text, with excerpts from these sources.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    sources: &'a SourceMap,
    style: Style,
    columns: Option<usize>,
}

impl<'a> Report<'a> {
    /// A report on diagnostics whose origins are of this map.
    pub fn new(sources: &'a SourceMap, style: Style) -> Self {
        Report { sources, style, columns: None }
    }

    /// The same, for a terminal of this width: longer lines of a source are shown in part.
    #[must_use]
    pub fn within(mut self, columns: usize) -> Self {
        self.columns = Some(columns);
        self
    }

    /// All diagnostics, one after another, and how many there are.
    pub fn render(&self, diagnostics: &Diagnostics) -> String {
        let mut text = String::new();
        for diagnostic in diagnostics.iter() {
            text.push_str(&self.render_one(diagnostic));
            text.push_str("\n\n");
        }
        text.push_str(&counted(diagnostics));
        text
    }

    fn render_one(&self, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(escape(&diagnostic.summary)));
        if let Some(place) = self.place(diagnostic) {
            group = group.element(place);
        }
        if let Some(first) = diagnostic.first.and_then(|first| self.sources.place(first)) {
            group = group
                .element(Level::NOTE.message(escape(&format!("the first one is at {first}")).into_owned()));
        }
        if let Some(detail) = &diagnostic.detail {
            group = group.element(Level::NOTE.message(escape(detail)));
        }
        for hint in &diagnostic.hints {
            group = group.element(Level::HELP.message(escape(hint)));
        }
        let renderer = match self.style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        match self.columns {
            Some(columns) => renderer.term_width(columns).render(&[group]),
            None => renderer.render(&[group]),
        }
    }

    /// The excerpt if the text is at hand, else the name of the place, else the position within the subject.
    fn place<'d>(&self, diagnostic: &'d Diagnostic) -> Option<Element<'d>>
    where
        'a: 'd,
    {
        let file =
            diagnostic.origin.and_then(|origin| self.sources.file(origin.file).map(|file| (file, origin)));
        match file {
            Some((file, origin)) => match excerpt(file, origin) {
                Some(excerpt)
                    if !file.may_show(excerpt.first_byte..excerpt.first_byte + excerpt.text.len()) =>
                {
                    let place = Place::path(escape_line(file.name()));
                    let column = excerpt.text[..excerpt.span.start].chars().count() + 1;
                    Some(place.line(excerpt.first_line).char_column(column).into())
                }
                Some(Excerpt { text, first_line, first_byte, span }) => {
                    let text = visible(&masked(text, first_byte, origin.file, &diagnostic.concealed));
                    let label = diagnostic.label.as_deref().map(escape_line);
                    let annotation = AnnotationKind::Primary.span(span).label(label);
                    let snippet = Snippet::source(text).line_start(first_line).path(escape_line(file.name()));
                    Some(snippet.annotation(annotation).into())
                }
                None => Some(Place::path(escape_line(file.name())).into()),
            },
            None => {
                let parts = [diagnostic.subject.clone(), diagnostic.path.as_ref().map(ToString::to_string)];
                let parts: Vec<String> =
                    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
                (!parts.is_empty()).then(|| Place::path(escape_line(&parts.join(": ")).into_owned()).into())
            }
        }
    }
}

/// The lines around a span: a file may be large, and only these are drawn.
struct Excerpt<'t> {
    text: &'t str,
    first_line: usize,
    first_byte: usize,
    span: std::ops::Range<usize>,
}

/// `None` when the origin does not fit the text, as when a file changed after it was read.
fn excerpt(file: &SourceFile, origin: Origin) -> Option<Excerpt<'_>> {
    let text = file.text()?;
    let (start, end) = (origin.start as usize, origin.end as usize);
    let before = text.get(..start)?;
    let after = text.get(end..)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line_end = after.find('\n').map_or(text.len(), |at| end + at);
    Some(Excerpt {
        text: &text[line_start..line_end],
        first_byte: line_start,
        first_line: 1 + file.line_at(start),
        span: start - line_start..end - line_start,
    })
}

/// The text with an asterisk for each byte of a secret and of passwords in addresses, so that all places stay where they are.
fn masked(text: &str, first_byte: usize, file: FileId, secrets: &[Origin]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let within = |at: u32| (at as usize).saturating_sub(first_byte).min(text.len());
    let marked = secrets.iter().filter(|secret| secret.file == file);
    let marked = marked.map(|secret| within(secret.start)..within(secret.end));
    for range in marked.chain(credential_ranges(text)) {
        bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
    }
    // A place that cuts a character in two is no place in this text; then nothing is shown of it.
    String::from_utf8(bytes).unwrap_or_else(|_| "*".repeat(text.len()))
}

/// The text without what acts on a display. Each character is as long as before, so that all places stay where they are.
fn visible(text: &str) -> String {
    let shown = |char: char| match char.len_utf8() {
        _ if !acts_on_display(char) || matches!(char, '\n' | '\r' | '\t') => char,
        1 => '?',
        2 => '\u{bf}',
        3 => char::REPLACEMENT_CHARACTER,
        _ => '\u{1fbc4}',
    };
    text.chars().map(shown).collect()
}

fn counted(diagnostics: &Diagnostics) -> String {
    let count = |severity, one: &str| {
        let number = diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
        match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            many => Some(format!("{many} {one}s")),
        }
    };
    let counts = [count(Severity::Error, "error"), count(Severity::Warning, "warning")];
    counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
