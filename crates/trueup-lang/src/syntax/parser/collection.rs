//! Tuples, objects and for expressions.

use trueup_core::Diagnostic;

use super::{Newlines, Parse, Parser};
use crate::syntax::body::Name;
use crate::syntax::expression::{Expr, ExprKind, For, ForResult, ObjectItem, ObjectKey};

/// What stands between `for` and the colon.
struct ForHeader {
    key: Option<Name>,
    value: Name,
    collection: Expr,
}

impl Parser<'_> {
    /// `[…]`: a tuple or a for expression.
    pub(super) fn bracketed(&mut self) -> Parse<Expr> {
        let open = self.at;
        self.at += 1;
        let kind = self.with_newlines(Newlines::Ignored, |parser| {
            parser.skip();
            if parser.take_word("for") { parser.for_tuple() } else { parser.tuple(open) }
        })?;
        Ok(Expr { kind, origin: self.origin_from(open) })
    }

    fn tuple(&mut self, open: usize) -> Parse<ExprKind> {
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.take("]") {
                return Ok(ExprKind::Tuple(items));
            }
            if self.at == self.text.len() {
                return self.unclosed(open, "[", "this list");
            }
            items.push(self.expression()?);
            self.skip();
            if !self.take(",") && self.byte() != Some(b']') {
                if self.at == self.text.len() {
                    return self.unclosed(open, "[", "this list");
                }
                let found = self.found();
                return self.fail_here(Diagnostic::error(format!(
                    "expected `,` or `]` after an element, found {found}"
                )));
            }
        }
    }

    /// `{…}`: an object or a for expression.
    pub(super) fn braced(&mut self) -> Parse<Expr> {
        let open = self.at;
        self.at += 1;
        let before = self.at;
        self.skip_blank();
        let kind = if self.take_word("for") {
            self.with_newlines(Newlines::Ignored, Self::for_object)?
        } else {
            self.at = before;
            self.with_newlines(Newlines::Significant, |parser| parser.object(open))?
        };
        Ok(Expr { kind, origin: self.origin_from(open) })
    }

    fn object(&mut self, open: usize) -> Parse<ExprKind> {
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.take("}") {
                return Ok(ExprKind::Object(items));
            }
            if self.at == self.text.len() {
                return self.unclosed(open, "{", "this object");
            }
            let key = self.object_key()?;
            self.skip();
            if !self.take(":") && !self.take("=") {
                let found = self.found();
                return self.fail_here(
                    Diagnostic::error(format!("expected `=` and a value after the key, found {found}"))
                        .hint("an object is written { key = value, other_key = value }"),
                );
            }
            let value = self.expression()?;
            items.push(ObjectItem { key, value });
            self.skip();
            if !matches!(self.byte(), Some(b'\n' | b'}')) && !self.take(",") {
                if self.at == self.text.len() {
                    return self.unclosed(open, "{", "this object");
                }
                let found = self.found();
                return self.fail_here(
                    Diagnostic::error(format!("expected `,` or a new line after a value, found {found}"))
                        .hint("entries of an object stand on lines of their own or between commas"),
                );
            }
        }
    }

    fn object_key(&mut self) -> Parse<ObjectKey> {
        let start = self.at;
        if let Some(name) = self.name() {
            self.skip();
            let ends = match self.byte() {
                Some(b':') => self.byte_after(1) != Some(b':'),
                Some(b'=') => self.byte_after(1) != Some(b'='),
                // Whatever is wrong here, the caller says so better than the grammar of expressions would.
                other => !matches!(other, Some(b'.' | b'[' | b'(' | b'+' | b'-' | b'?')),
            };
            if ends {
                return Ok(ObjectKey::Name(name));
            }
            self.at = start;
        }
        let key = self.expression()?;
        match &key.kind {
            // `aws.west` is a key where providers are passed; wherever a value is wanted, it is refused.
            ExprKind::Traversal(traversal) if !traversal.is_provider_name() => {
                let end = self.at;
                self.fail(
                    start,
                    end,
                    Diagnostic::error("this key is neither a name nor an expression in parentheses")
                        .hint("write (…) around a key that is computed, and quotes around one that is text"),
                )
            }
            _ => Ok(ObjectKey::Expr(key)),
        }
    }

    fn for_tuple(&mut self) -> Parse<ExprKind> {
        let ForHeader { key, value, collection } = self.for_header()?;
        let result = ForResult::Tuple(self.expression()?);
        self.skip();
        if self.starts_with("=>") {
            return self.fail_here(
                Diagnostic::error("a for expression in brackets makes a list, whose elements have no keys")
                    .hint("use braces to make an object: {for … : key => value}"),
            );
        }
        let filter = self.for_filter()?;
        self.expect("]", "to end the for expression")?;
        Ok(ExprKind::For(Box::new(For { key, value, collection, result, filter })))
    }

    fn for_object(&mut self) -> Parse<ExprKind> {
        let ForHeader { key, value, collection } = self.for_header()?;
        let result_key = self.expression()?;
        self.skip();
        if !self.take("=>") {
            let found = self.found();
            return self.fail_here(
                Diagnostic::error(format!("expected `=>` and a value after the key, found {found}"))
                    .hint("use brackets to make a list: [for … : value]"),
            );
        }
        let result_value = self.expression()?;
        self.skip();
        let grouped = self.take("...");
        let filter = self.for_filter()?;
        self.expect("}", "to end the for expression")?;
        let result = ForResult::Object { key: result_key, value: result_value, grouped };
        Ok(ExprKind::For(Box::new(For { key, value, collection, result, filter })))
    }

    /// After `for`: names, `in`, what is gone through, and the colon.
    fn for_header(&mut self) -> Parse<ForHeader> {
        let (key, value) = self.for_names()?;
        let collection = self.expression()?;
        self.expect(":", "after what the for expression goes through")?;
        Ok(ForHeader { key, value, collection })
    }

    /// The one or two names of a for, and `in`.
    pub(super) fn for_names(&mut self) -> Parse<(Option<Name>, Name)> {
        let first = self.for_name()?;
        self.skip();
        let (key, value) = if self.take(",") { (Some(first), self.for_name()?) } else { (None, first) };
        self.skip();
        if self.take_word("in") {
            return Ok((key, value));
        }
        let found = self.found();
        self.fail_here(
            Diagnostic::error(format!("expected `in` after the names of the for expression, found {found}"))
                .hint("write `for value in collection` or `for key, value in collection`"),
        )
    }

    fn for_name(&mut self) -> Parse<Name> {
        self.skip();
        match self.name() {
            Some(name) => Ok(name),
            None => {
                let found = self.found();
                self.fail_here(Diagnostic::error(format!(
                    "expected a name for the elements after `for`, found {found}"
                )))
            }
        }
    }

    fn for_filter(&mut self) -> Parse<Option<Expr>> {
        self.skip();
        if self.take_word("if") { self.expression().map(Some) } else { Ok(None) }
    }
}
