//! Heredocs: text of several lines, up to a line that holds nothing but the marker.

use trueup_core::Diagnostic;

use super::template::{BareEnd, Piece, PieceKind, strip};
use super::{Parse, Parser};
use crate::syntax::expression::Expr;

impl Parser<'_> {
    /// `<<EOT` or, flush, `<<-EOT`.
    pub(super) fn heredoc(&mut self) -> Parse<Expr> {
        let open = self.at;
        self.at += 2;
        let flush = self.take("-");
        let Some(marker) = self.name() else {
            let found = self.found();
            return self.fail_here(
                Diagnostic::error(format!("expected the marker that ends the heredoc, found {found}"))
                    .hint("a heredoc is written <<EOT, its lines, and a line with EOT alone"),
            );
        };
        let header_end = self.at;
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        if self.byte() != Some(b'\n') {
            let found = self.found();
            return self.fail_here(Diagnostic::error(format!(
                "expected a new line after the marker of the heredoc, found {found}"
            )));
        }
        self.at += 1;
        let mut pieces = self.bare_pieces(BareEnd::Marker(&marker.text))?;
        if self.at == self.text.len() && !self.last_line_is(&marker.text) {
            let diagnostic =
                Diagnostic::error(format!("this heredoc never ends: no line holds only `{}`", marker.text));
            let result = self.fail(open, header_end, diagnostic);
            self.halted_at = header_end;
            return result;
        }
        strip(&mut pieces);
        if flush {
            flush_left(&mut pieces);
        }
        let kind = self.finished_template(pieces)?;
        self.at = self.line_end(self.at);
        let trailing = self.text[..self.at].len() - self.text[..self.at].trim_end().len();
        self.at -= trailing;
        Ok(Expr { kind, origin: self.origin_from(open) })
    }

    fn last_line_is(&self, marker: &str) -> bool {
        self.text[self.line_start(self.text.len())..].trim() == marker
    }
}

/// Takes the indentation that all lines share away from each. Blank lines have no say in it.
fn flush_left(pieces: &mut [Piece]) {
    let mut shared = usize::MAX;
    let mut line_starts = Vec::new();
    let mut at_line_start = true;
    for (at, piece) in pieces.iter().enumerate() {
        let PieceKind::Text(text) = &piece.kind else {
            if at_line_start {
                shared = 0;
            }
            at_line_start = false;
            continue;
        };
        let indentation = text.chars().take_while(|char| char.is_whitespace()).count();
        let blank = text.ends_with('\n') && text.trim_start().is_empty();
        if at_line_start && !blank {
            shared = shared.min(indentation);
            line_starts.push(at);
        }
        at_line_start = text.ends_with('\n');
    }
    for at in line_starts {
        if let PieceKind::Text(text) = &mut pieces[at].kind {
            let bytes: usize = text.chars().take(shared).map(char::len_utf8).sum();
            text.drain(..bytes);
        }
    }
}
