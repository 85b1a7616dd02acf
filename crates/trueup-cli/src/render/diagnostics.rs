//! Diagnostics as people read them: with an excerpt where there is a text, and in a few lines where there is none.

use trueup_core::{Diagnostic, Diagnostics, Report, Severity, SourceMap, Style};

use crate::ui::{Look, Meaning, genuine, width, wrapped};

/// All of them, one after another, and how many there are if there are several.
pub(crate) fn render_diagnostics(diagnostics: &Diagnostics, sources: &SourceMap, look: Look) -> String {
    let mut blocks: Vec<String> = diagnostics.iter().map(|it| one(it, sources, look)).collect();
    if diagnostics.len() > 1 {
        blocks.push(counted(diagnostics));
    }
    blocks.join("\n\n")
}

fn one(diagnostic: &Diagnostic, sources: &SourceMap, look: Look) -> String {
    let placed = diagnostic.origin.is_some_and(|origin| sources.file(origin.file).is_some());
    if placed {
        let style = if look.colour { Style::Coloured } else { Style::Plain };
        let report = Report::new(sources, style).within(look.columns);
        let rendered = report.render(&fitted(diagnostic, look).into());
        // A single one need not be counted.
        let alone = rendered.rsplit_once("\n\n").map_or(&*rendered, |(text, _)| text);
        // A report escapes what it quotes: its colours are its own.
        return genuine(alone);
    }
    let (word, meaning) = match diagnostic.severity {
        Severity::Error => ("error", Meaning::Delete),
        Severity::Warning => ("warning", Meaning::Update),
    };
    let mut lines = Vec::new();
    let mut summary = wrapped(&diagnostic.summary, look.columns - 9).into_iter();
    let first = summary.next().unwrap_or_default();
    lines.push(format!("{}: {}", look.paint(meaning, word), look.paint(Meaning::Strong, &first)));
    lines.extend(summary.map(|line| format!("  {}", look.paint(Meaning::Strong, &line))));
    // The place within its subject, unless the summary names it already.
    let subject =
        diagnostic.subject.as_ref().filter(|subject| !diagnostic.summary.contains(subject.as_str()));
    let path = diagnostic.path.as_ref().filter(|path| !path.is_root()).map(ToString::to_string);
    let at: Vec<String> = subject.cloned().into_iter().chain(path).collect();
    if !at.is_empty() {
        lines.push(format!("  in {}", at.join(": ")));
    }
    for text in diagnostic.detail.iter().flat_map(|detail| detail.lines()) {
        lines.extend(kept_or_wrapped(text, look.columns - 2).into_iter().map(|line| format!("  {line}")));
    }
    for hint in &diagnostic.hints {
        let mut hint = wrapped(hint, look.columns - 8).into_iter();
        lines.push(format!("  {} {}", look.paint(Meaning::Create, "help:"), hint.next().unwrap_or_default()));
        lines.extend(hint.map(|line| format!("        {line}")));
    }
    lines.join("\n")
}

/// The same with its texts broken into lines that fit.
fn fitted(diagnostic: &Diagnostic, look: Look) -> Diagnostic {
    let fit = |text: &String, beside: usize| {
        let columns = look.columns.saturating_sub(beside).max(20);
        let lines = text.lines().flat_map(|line| kept_or_wrapped(line, columns));
        lines.collect::<Vec<_>>().join("\n")
    };
    // What stands before: `warning: `, or the gutter of an excerpt and `= note: `.
    let (title, note) = (9, 14);
    let mut fitted = diagnostic.clone();
    fitted.summary = fit(&diagnostic.summary, title);
    fitted.detail = diagnostic.detail.as_ref().map(|it| fit(it, note));
    fitted.hints = diagnostic.hints.iter().map(|it| fit(it, note)).collect();
    fitted
}

/// A line that fits keeps its spaces: it may be part of an excerpt.
fn kept_or_wrapped(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns { vec![line.to_owned()] } else { wrapped(line, columns) }
}

fn counted(diagnostics: &Diagnostics) -> String {
    let count = |severity, one: &str| match diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == severity)
        .count()
    {
        0 => None,
        1 => Some(format!("1 {one}")),
        many => Some(format!("{many} {one}s")),
    };
    let counts = [count(Severity::Error, "error"), count(Severity::Warning, "warning")];
    counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
