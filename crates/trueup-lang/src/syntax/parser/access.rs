//! What is taken of a term: attributes, indexes and splats.
//!
//! Steps gather in one flat list. A splat takes what was gathered as its source and goes on with a list of its own for
//! each element.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Number, Origin};

use super::{Newlines, Parse, Parser};
use crate::syntax::expression::{Access, AccessKind, Expr, ExprKind, Literal, Splat, SplatStyle};

impl Parser<'_> {
    pub(super) fn with_access(&mut self) -> Parse<Expr> {
        let term = self.term()?;
        self.accesses(term, Reach::Everything)
    }

    fn accesses(&mut self, term: Expr, reach: Reach) -> Parse<Expr> {
        let mut whole = term;
        let mut steps = Vec::new();
        loop {
            self.skip();
            let start = self.at;
            match self.byte() {
                Some(b'.') if self.starts_with("...") => break,
                Some(b'.') => {
                    self.at += 1;
                    self.skip();
                    if self.take("*") {
                        let source = taken_of(whole, std::mem::take(&mut steps));
                        whole = self.splat(source, SplatStyle::Attribute)?;
                    } else {
                        steps.push(self.attribute(start)?);
                    }
                }
                Some(b'[') if reach == Reach::Everything => {
                    self.at += 1;
                    if self.takes_full_splat() {
                        let source = taken_of(whole, std::mem::take(&mut steps));
                        whole = self.splat(source, SplatStyle::Full)?;
                    } else {
                        steps.push(self.index(start)?);
                    }
                }
                _ => break,
            }
        }
        Ok(taken_of(whole, steps))
    }

    fn splat(&mut self, source: Expr, style: SplatStyle) -> Parse<Expr> {
        self.deeper(|parser| {
            let item = Expr { kind: ExprKind::SplatItem, origin: source.origin };
            let reach = match style {
                SplatStyle::Attribute => Reach::Attributes,
                SplatStyle::Full => Reach::Everything,
            };
            let each = parser.accesses(item, reach)?;
            let mut origin = source.origin;
            origin.end = origin.end.max(parser.origin(parser.at, parser.at).end).max(each.origin.end);
            Ok(Expr { kind: ExprKind::Splat(Box::new(Splat { source, style, each })), origin })
        })
    }

    /// After `[`: takes `*]`, if that is what comes.
    fn takes_full_splat(&mut self) -> bool {
        let before = self.at;
        self.skip_blank();
        if self.take("*") {
            self.skip_blank();
            if self.take("]") {
                return true;
            }
        }
        self.at = before;
        false
    }

    /// After a dot: a name, or the old form of an index.
    fn attribute(&mut self, start: usize) -> Parse<Access> {
        if let Some(name) = self.name() {
            return Ok(Access { kind: AccessKind::Attribute(name.text), origin: self.origin_from(start) });
        }
        let digits_start = self.at;
        self.take_digits();
        let digits = SmolStr::new(&self.text[digits_start..self.at]);
        match digits.parse::<Number>() {
            Ok(index) => {
                let origin = self.origin_from(digits_start);
                let index = Expr { kind: ExprKind::Literal(Literal::Number(index)), origin };
                Ok(Access { kind: AccessKind::Index(index), origin: self.origin_from(start) })
            }
            Err(_) => {
                let found = self.found();
                self.fail_here(
                    Diagnostic::error(format!("expected an attribute's name after the dot, found {found}"))
                        .hint("a key that is not a name stands in brackets: value[\"key\"]"),
                )
            }
        }
    }

    /// After `[`.
    fn index(&mut self, start: usize) -> Parse<Access> {
        let index = self.with_newlines(Newlines::Ignored, |parser| {
            let index = parser.expression()?;
            parser.expect("]", "after the index")?;
            Ok(index)
        })?;
        Ok(Access { kind: AccessKind::Index(index), origin: self.origin_from(start) })
    }
}

/// How far the steps after a splat belong to each element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Attributes,
    Everything,
}

/// The expression that takes these steps of another.
fn taken_of(source: Expr, steps: Vec<Access>) -> Expr {
    let Some(last) = steps.last() else { return source };
    let origin = Origin { end: source.origin.end.max(last.origin.end), ..source.origin };
    let kind = match source.kind {
        ExprKind::Traversal(mut traversal) => {
            traversal.steps.extend(steps);
            ExprKind::Traversal(traversal)
        }
        kind => ExprKind::Access(Box::new(Expr { kind, origin: source.origin }), steps),
    };
    Expr { kind, origin }
}
