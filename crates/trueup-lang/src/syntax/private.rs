//! Texts that may hold secrets: values for variables. What is wrong with one is told with its place, but neither the report
//! nor the message quotes anything of the text.

use trueup_core::{Diagnostic, Diagnostics, FileId, Origin, SourceMap};

use super::body::Body;
use super::expression::Expr;
use super::{Parsed, enter_source, parse_expression};

/// Enters a file of values in the source map and reads it. No report shows any of it, until it is [disclosed](SourceMap::disclose).
pub(crate) fn parse_private_source(sources: &mut SourceMap, name: &str, bytes: &[u8]) -> Parsed<Body> {
    let mut parsed = enter_source(sources, name, bytes).parse_values(sources);
    conceal(sources, parsed.tree.origin.file, &mut parsed.diagnostics);
    parsed
}

/// The same for one expression.
pub(crate) fn parse_private_expression(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
) -> Result<Expr, Diagnostics> {
    let file = sources.add(name, text);
    let parsed = parse_expression(text, file).map_err(|mut diagnostics| {
        conceal(sources, file, &mut diagnostics);
        diagnostics
    });
    sources.withhold(Origin::of_file(file));
    parsed
}

/// Takes out of reports and messages what they would quote of a file.
pub(crate) fn conceal(sources: &mut SourceMap, file: FileId, diagnostics: &mut Diagnostics) {
    sources.withhold(Origin::of_file(file));
    diagnostics.iter_mut().for_each(unquote);
}

/// Takes the words of the text out of a message: syntax errors quote them in backticks.
fn unquote(diagnostic: &mut Diagnostic) {
    let Diagnostic { summary, label, detail, hints, .. } = diagnostic;
    for text in std::iter::once(summary).chain(label).chain(detail).chain(hints) {
        *text = unquoted(text);
    }
}

fn unquoted(message: &str) -> String {
    let parts = message.split('`').enumerate().map(|(at, part)| {
        let quoted = at % 2 == 1;
        let says_something = part.contains(char::is_alphanumeric) && !KEYWORDS.contains(&part);
        if quoted && says_something { "…" } else { part }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Words of the language, which messages suggest.
const KEYWORDS: [&str; 5] = ["if", "for", "in", "else", "parseint"];

#[cfg(test)]
mod tests {
    use super::*;

    /// SECRET-1: each line is a mistake that people make with a secret, and none of its words is told.
    #[test]
    fn no_message_quotes_a_word_of_a_private_text() {
        let native = [
            "token hunter2",
            "token = hunter2 hunter3",
            "hunter2",
            "token = \"hunter2",
            "token = 'hunter2'",
            "token = hunter2`",
            "token: hunter2",
            "token = 12hunter2",
            "token = <<hunter2\nx",
            "token = \"%{hunter2}\"",
            "token = \"${hunter2\"",
            "token = hunter2::x",
            "token = hunter2(",
            "token = { hunter2 hunter3 }",
            "token = [hunter2 hunter3]",
            "hunter2 = 1\nhunter2 = 2",
            "hunter2 \"a\" x",
            "token = 1 hunter2",
            "token = a.\"hunter2\"",
        ];
        let json = [
            "hunter2",
            "{\"token\": hunter2}",
            "{\"token\": \"hunter2}",
            "{\"token\" \"hunter2\"}",
            "[\"hunter2\"]",
            "{\"token\": \"hunter2\",}",
        ];
        let named =
            |name, texts: &[&'static str]| texts.iter().map(move |text| (name, *text)).collect::<Vec<_>>();
        for (name, text) in [named("a.tfvars", &native), named("a.tfvars.json", &json)].concat() {
            let mut sources = SourceMap::new();
            let parsed = parse_private_source(&mut sources, name, text.as_bytes());
            assert!(parsed.diagnostics.has_errors(), "{text} is read");
            let style = trueup_core::Style::Plain;
            let report = trueup_core::Report::new(&sources, style).render(&parsed.diagnostics);
            assert!(!report.contains("hunter"), "{text}:\n{report}");
            assert!(report.contains("a.tfvars"), "{report}");
        }
    }
}
