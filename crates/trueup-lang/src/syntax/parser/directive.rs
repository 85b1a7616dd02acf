//! Directives of templates: `%{if}` and `%{for}`, and the nesting of what stands between them and their ends.

use trueup_core::Diagnostic;

use super::template::{Piece, PieceKind};
use super::{DEPTH_MAX, Parse, Parser};
use crate::syntax::body::Name;
use crate::syntax::expression::{Expr, TemplatePart};

/// A directive that waits for its end, and the parts gathered so far.
struct Open {
    kind: OpenKind,
    start: usize,
    end: usize,
    parts: Vec<TemplatePart>,
}

enum OpenKind {
    Then(Expr),
    Otherwise(Expr, Vec<TemplatePart>),
    For(Option<Name>, Name, Expr),
}

impl OpenKind {
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            OpenKind::Then(_) | OpenKind::Otherwise(..) => ("if", "endif"),
            OpenKind::For(..) => ("for", "endfor"),
        }
    }
}

impl Parser<'_> {
    /// After `%{` and a possible `~`.
    pub(super) fn directive(&mut self) -> Parse<PieceKind> {
        self.skip();
        let start = self.at;
        let Some(word) = self.name() else {
            let found = self.found();
            return self.fail_here(
                Diagnostic::error(format!("expected `if` or `for` after `%{{`, found {found}"))
                    .hint("to have `%{` as text, write `%%{`"),
            );
        };
        match word.text.as_str() {
            "if" => self.expression().map(PieceKind::If),
            "else" => Ok(PieceKind::Else),
            "endif" => Ok(PieceKind::EndIf),
            "for" => {
                let (key, value) = self.for_names()?;
                let collection = self.expression()?;
                Ok(PieceKind::For(key, value, collection))
            }
            "endfor" => Ok(PieceKind::EndFor),
            other => {
                let diagnostic = Diagnostic::error(format!("there is no template directive `{other}`"))
                    .hint("known are if, else, endif, for and endfor");
                self.fail(start, self.at, diagnostic)
            }
        }
    }

    /// Puts what stands between a directive and its end inside it. A stack of our own, so that many directives cost no
    /// recursion; the depth of the result is bounded all the same.
    pub(super) fn nest_directives(&mut self, pieces: Vec<Piece>) -> Parse<Vec<TemplatePart>> {
        let mut done = Vec::new();
        let mut stack: Vec<Open> = Vec::new();
        for Piece { kind, start, end, .. } in pieces {
            let opened = match kind {
                PieceKind::Text(text) => {
                    current(&mut stack, &mut done).push(TemplatePart::Text(text.into()));
                    None
                }
                PieceKind::Interpolation(expression) => {
                    current(&mut stack, &mut done).push(TemplatePart::Interpolation(expression));
                    None
                }
                PieceKind::If(condition) => Some(OpenKind::Then(condition)),
                PieceKind::For(key, value, collection) => Some(OpenKind::For(key, value, collection)),
                PieceKind::Else => match stack.pop() {
                    Some(Open { kind: OpenKind::Then(condition), parts, .. }) => {
                        Some(OpenKind::Otherwise(condition, parts))
                    }
                    _ => return self.stray(start, end, "else", "if"),
                },
                PieceKind::EndIf => {
                    let part = match stack.pop() {
                        Some(Open { kind: OpenKind::Then(condition), parts, .. }) => {
                            TemplatePart::If { condition, then: parts, otherwise: Vec::new() }
                        }
                        Some(Open { kind: OpenKind::Otherwise(condition, then), parts, .. }) => {
                            TemplatePart::If { condition, then, otherwise: parts }
                        }
                        _ => return self.stray(start, end, "endif", "if"),
                    };
                    current(&mut stack, &mut done).push(part);
                    None
                }
                PieceKind::EndFor => {
                    let Some(Open { kind: OpenKind::For(key, value, collection), parts, .. }) = stack.pop()
                    else {
                        return self.stray(start, end, "endfor", "for");
                    };
                    let part = TemplatePart::For { key, value, collection, body: parts };
                    current(&mut stack, &mut done).push(part);
                    None
                }
            };
            if let Some(kind) = opened {
                if self.depth + stack.len() >= DEPTH_MAX {
                    let diagnostic = Diagnostic::error(format!("nests deeper than {DEPTH_MAX} levels"));
                    return self.fail(start, end, diagnostic);
                }
                stack.push(Open { kind, start, end, parts: Vec::new() });
            }
        }
        match stack.pop() {
            None => Ok(done),
            Some(open) => {
                let (name, closing) = open.kind.names();
                let diagnostic = Diagnostic::error(format!("this `%{{{name}}}` has no `%{{{closing}}}`"));
                let result = self.fail(open.start, open.end, diagnostic);
                self.halted_at = self.at;
                result
            }
        }
    }

    fn stray<T>(&mut self, start: usize, end: usize, name: &str, opening: &str) -> Parse<T> {
        let diagnostic = Diagnostic::error(format!("this `%{{{name}}}` belongs to no `%{{{opening}}}`"));
        let result = self.fail(start, end, diagnostic);
        self.halted_at = self.at;
        result
    }
}

/// The parts being gathered: those of the innermost open directive, or of the whole template.
fn current<'a>(stack: &'a mut [Open], done: &'a mut Vec<TemplatePart>) -> &'a mut Vec<TemplatePart> {
    stack.last_mut().map_or(done, |open| &mut open.parts)
}
