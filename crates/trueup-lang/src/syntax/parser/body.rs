//! Files, blocks and attributes, and where to go on after an error.
//!
//! After an error the text is searched for a line that looks like the next item: indented no further than the item at
//! fault, and beginning with a name or a closing brace. People indent their programs, so that this finds the next
//! attribute after a slip within one, and the next block after a missing bracket.

use smol_str::SmolStr;
use trueup_core::Diagnostic;

use super::{ERRORS_MAX, Halt, Newlines, Parse, Parser};
use crate::syntax::body::{Attribute, Block, Body, Item, Label, Name};
use crate::syntax::expression::{ExprKind, Literal};

impl Parser<'_> {
    pub(super) fn file(&mut self) -> Body {
        self.newlines = Newlines::Significant;
        let mut items = Vec::new();
        loop {
            // Halts when there were too many errors; what was read up to there is still a body.
            let _ = self.items(&mut items);
            if self.byte() != Some(b'}') || self.too_many_errors() {
                break;
            }
            let stray = Diagnostic::error("this `}` closes nothing");
            self.report(self.at, self.at + 1, stray);
            self.at += 1;
        }
        self.report_repeated_attributes(&items);
        Body { items, origin: self.origin(0, self.text.len()), json: false }
    }

    /// Items up to a closing brace or the end of the text.
    fn items(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        loop {
            self.skip_blank();
            if matches!(self.byte(), None | Some(b'}')) {
                return Ok(());
            }
            let start = self.at;
            match self.item() {
                Ok(item) => items.push(item),
                Err(Halt) if self.too_many_errors() => return Err(Halt),
                Err(Halt) => self.go_on_after_error(start),
            }
        }
    }

    fn too_many_errors(&self) -> bool {
        self.diagnostics.len() >= ERRORS_MAX
    }

    fn item(&mut self) -> Parse<Item> {
        let start = self.at;
        let Some(name) = self.name() else {
            let found = self.found();
            let mut diagnostic =
                Diagnostic::error(format!("expected an attribute or a block, found {found}"));
            if self.byte() == Some(b'"') {
                diagnostic = diagnostic.hint("names of attributes and blocks stand without quotes");
            }
            return self.fail_here(diagnostic);
        };
        self.skip();
        match self.byte() {
            Some(b'=') if self.byte_after(1) != Some(b'=') => {
                let attribute = self.attribute_value(name, start)?;
                self.end_of_item("the value")?;
                Ok(Item::Attribute(attribute))
            }
            Some(b'{' | b'"') => self.block(name, start),
            Some(_) if self.name_length(self.at) > 0 => self.block(name, start),
            _ => {
                let found = self.found();
                let mut diagnostic = Diagnostic::error(format!(
                    "expected `=` and a value, or a block, after `{}`, found {found}",
                    name.text
                ));
                if self.byte() == Some(b':') {
                    diagnostic = diagnostic.hint("outside of objects an attribute is written name = value");
                }
                self.fail_here(diagnostic)
            }
        }
    }

    fn attribute_value(&mut self, name: Name, start: usize) -> Parse<Attribute> {
        self.at += 1;
        let value = self.expression()?;
        let mut origin = self.origin_from(start);
        origin.end = value.origin.end;
        Ok(Attribute { name, value, origin })
    }

    fn end_of_item(&mut self, after: &str) -> Parse<()> {
        self.skip();
        match self.byte() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => {
                let found = self.found();
                let mut diagnostic =
                    Diagnostic::error(format!("expected the end of the line after {after}, found {found}"));
                if self.byte() == Some(b',') {
                    diagnostic = diagnostic.hint("attributes of a block stand on lines of their own");
                }
                self.fail_here(diagnostic)
            }
        }
    }

    fn block(&mut self, name: Name, start: usize) -> Parse<Item> {
        let mut labels = Vec::new();
        let mut header = name.origin;
        loop {
            self.skip();
            match self.byte() {
                Some(b'{') => break,
                Some(b'"') => labels.push(self.quoted_label()?),
                _ => match self.name() {
                    Some(label) => labels.push(Label { text: label.text, origin: label.origin }),
                    None => return self.missing_brace(&name, &labels),
                },
            }
            header.end = labels.last().map_or(header.end, |label| label.origin.end);
        }
        let open = self.at;
        self.at += 1;
        let body = self.deeper(|parser| parser.block_body(open, start))?;
        let origin = self.origin_from(start);
        self.end_of_item("the block")?;
        Ok(Item::Block(Block { name, labels, body, header, origin }))
    }

    fn missing_brace<T>(&mut self, name: &Name, labels: &[Label]) -> Parse<T> {
        let found = self.found();
        let mut diagnostic =
            Diagnostic::error(format!("expected `{{` to begin the block `{}`, found {found}", name.text));
        if self.byte() == Some(b'=') && labels.len() == 1 {
            diagnostic = diagnostic.hint("the name of an attribute is one word");
        } else if self.byte() == Some(b'\n') {
            diagnostic = diagnostic.hint("the `{` stands on the same line as the block's name");
        }
        self.fail_here(diagnostic)
    }

    fn quoted_label(&mut self) -> Parse<Label> {
        let start = self.at;
        let label = self.quoted_template()?;
        match label.kind {
            ExprKind::Literal(Literal::String(text)) => Ok(Label { text, origin: label.origin }),
            _ => {
                let end = self.at;
                self.fail(start, end, Diagnostic::error("a block's label is plain text, without `${}`"))
            }
        }
    }

    /// After the opening brace, up to and with the closing one.
    fn block_body(&mut self, open: usize, block_start: usize) -> Parse<Body> {
        let content = self.at;
        let mut items = Vec::new();
        self.skip();
        match self.byte() {
            Some(b'}' | b'\n') | None => self.items(&mut items)?,
            Some(_) => self.single_line(&mut items)?,
        }
        if self.byte() != Some(b'}') {
            let end = self.line_end(open).min(open + 1);
            let diagnostic = Diagnostic::error("this block is never closed").hint("end it with a `}`");
            let result = self.fail(block_start, end, diagnostic);
            self.halted_at = self.text.len();
            return result;
        }
        self.at += 1;
        self.report_repeated_attributes(&items);
        Ok(Body { items, origin: self.origin(content, self.at - 1), json: false })
    }

    /// `{ name = value }` on one line, which may hold one attribute.
    fn single_line(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        let start = self.at;
        let name = self.name();
        self.skip();
        let Some(name) = name.filter(|_| self.byte() == Some(b'=')) else {
            return self.fail_here(
                Diagnostic::error("a block on one line holds at most one attribute")
                    .hint("put a line break after the `{`"),
            );
        };
        items.push(Item::Attribute(self.attribute_value(name, start)?));
        self.skip();
        if self.byte() == Some(b'}') {
            return Ok(());
        }
        let found = self.found();
        self.fail_here(
            Diagnostic::error(format!("expected `}}` to end the block on this line, found {found}"))
                .hint("a block on one line holds at most one attribute; put a line break after the `{`"),
        )
    }

    fn report_repeated_attributes(&mut self, items: &[Item]) {
        let names = items.iter().filter_map(|item| match item {
            Item::Attribute(attribute) => Some(&attribute.name),
            Item::Block(_) => None,
        });
        let mut names: Vec<(&SmolStr, u32, &Name)> =
            names.map(|name| (&name.text, name.origin.start, name)).collect();
        names.sort_by_key(|(text, start, _)| (*text, *start));
        for pair in names.windows(2) {
            if pair[0].0 == pair[1].0 && !self.too_many_errors() {
                let name = pair[1].2;
                let mut diagnostic = Diagnostic::error(format!("the attribute `{}` is set twice", name.text));
                diagnostic.origin = Some(name.origin);
                self.diagnostics.push(diagnostic.repeating(Some(pair[0].2.origin)));
            }
        }
    }

    /// Moves to the line to go on with. Always moves forward.
    fn go_on_after_error(&mut self, item_start: usize) {
        let item_line = self.line_start(item_start);
        let indentation = item_start - item_line;
        let halted_line = self.line_start(self.halted_at.max(item_start).min(self.text.len()));
        let mut line = if halted_line > item_line { halted_line } else { self.next_line(halted_line) };
        while line < self.text.len() {
            let end = self.line_end(line);
            let content = &self.text[line..end];
            let trimmed = content.trim_start_matches([' ', '\t']);
            let begins =
                trimmed.starts_with('}') || self.name_length(line + content.len() - trimmed.len()) > 0;
            if begins && content.len() - trimmed.len() <= indentation {
                break;
            }
            line = self.next_line(line);
        }
        self.at = line.min(self.text.len());
    }

    fn next_line(&self, line: usize) -> usize {
        (self.line_end(line) + 1).min(self.text.len())
    }
}
