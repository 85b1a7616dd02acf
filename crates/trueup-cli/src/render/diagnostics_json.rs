//! Diagnostics for machines: places as file, line and column.

use serde_json::{Value as Json, json};
use trueup_core::{Diagnostic, Diagnostics, LineColumn, SourceMap};

/// All of them, in order. Lines and columns are counted from 1, columns in characters.
pub(crate) fn diagnostics_json(diagnostics: &Diagnostics, sources: &SourceMap) -> Json {
    diagnostics.iter().map(|it| one(it, sources)).collect()
}

fn one(diagnostic: &Diagnostic, sources: &SourceMap) -> Json {
    let Diagnostic { severity, summary, subject, path, origin, first, label, detail, hints, class, .. } =
        diagnostic;
    let place = origin.and_then(|origin| sources.place(origin));
    let (start, end) = place.as_ref().map_or((None, None), |it| (it.start, it.end));
    let line = |at: Option<LineColumn>| json!(at.map(|it| it.line));
    let column = |at: Option<LineColumn>| json!(at.map(|it| it.column));
    let first = first.and_then(|first| sources.place(first)).map(|first| first.to_string());
    let hints = Some(hints).filter(|hints| !hints.is_empty());
    let members = [
        ("severity", json!(severity)),
        ("summary", json!(summary)),
        ("subject", json!(subject)),
        ("path", json!(path)),
        ("file", json!(place.map(|it| it.file))),
        ("line", line(start)),
        ("column", column(start)),
        ("end_line", line(end)),
        ("end_column", column(end)),
        ("first", json!(first)),
        ("label", json!(label)),
        ("detail", json!(detail)),
        ("hints", json!(hints)),
        ("class", json!(class)),
    ];
    let known = members.into_iter().filter(|(_, value)| !value.is_null());
    Json::Object(known.map(|(name, value)| (name.to_owned(), value)).collect())
}
