//! Operators, conditionals, literals, names and calls.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Number, NumberError};

use super::{Newlines, Parse, Parser};
use crate::syntax::body::Name;
use crate::syntax::expression::{
    Binary, BinaryOperator, Branch, Call, Conditional, Expr, ExprKind, Literal, Operation, Traversal,
    UnaryOperator, spanning,
};

/// What a call's parentheses hold, before its name is known to be one.
struct Arguments {
    arguments: Vec<Expr>,
    expand_last: bool,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.deeper(|parser| {
            let mut branches = Vec::new();
            let otherwise = loop {
                let condition = parser.binary(0)?;
                parser.skip();
                if !parser.take("?") {
                    break condition;
                }
                let then = parser.expression()?;
                parser.skip();
                if !parser.take(":") {
                    let found = parser.found();
                    return parser.fail_here(
                        Diagnostic::error(format!("expected `:` and the other result, found {found}"))
                            .hint("a conditional is written `condition ? result : other_result`"),
                    );
                }
                branches.push(Branch { condition, then });
            };
            let Some(Branch { condition, .. }) = branches.first() else { return Ok(otherwise) };
            let origin = spanning(condition.origin, otherwise.origin);
            Ok(Expr { kind: ExprKind::Conditional(Box::new(Conditional { branches, otherwise })), origin })
        })
    }

    /// Operators of at least this precedence, those of one precedence from left to right.
    fn binary(&mut self, lowest: u8) -> Parse<Expr> {
        let first = self.unary()?;
        let mut operations = Vec::new();
        loop {
            self.skip();
            let Some((operator, precedence)) = self.operator().filter(|(_, own)| *own >= lowest) else {
                break;
            };
            let start = self.at;
            self.at += operator.symbol().len();
            let operator_origin = self.origin_from(start);
            let right = self.binary(precedence + 1)?;
            if operations.is_empty() {
                // Most expressions have no more.
                operations.reserve_exact(1);
            }
            operations.push(Operation { operator, operator_origin, right });
        }
        let Some(last) = operations.last() else { return Ok(first) };
        let origin = spanning(first.origin, last.right.origin);
        Ok(Expr { kind: ExprKind::Binary(Box::new(Binary { first, operations })), origin })
    }

    fn operator(&self) -> Option<(BinaryOperator, u8)> {
        use BinaryOperator::{
            Add, And, Divide, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Multiply, NotEqual, Or,
            Remainder, Subtract,
        };
        match (self.byte()?, self.byte_after(1)) {
            (b'|', Some(b'|')) => Some((Or, 0)),
            (b'&', Some(b'&')) => Some((And, 1)),
            (b'=', Some(b'=')) => Some((Equal, 2)),
            (b'!', Some(b'=')) => Some((NotEqual, 2)),
            (b'<', Some(b'=')) => Some((LessOrEqual, 3)),
            (b'>', Some(b'=')) => Some((GreaterOrEqual, 3)),
            (b'<', _) => Some((Less, 3)),
            (b'>', _) => Some((Greater, 3)),
            (b'+', _) => Some((Add, 4)),
            (b'-', _) => Some((Subtract, 4)),
            (b'*', _) => Some((Multiply, 5)),
            (b'/', _) => Some((Divide, 5)),
            (b'%', _) => Some((Remainder, 5)),
            _ => None,
        }
    }

    fn unary(&mut self) -> Parse<Expr> {
        self.skip();
        let operator = match self.byte() {
            Some(b'-') => UnaryOperator::Negate,
            Some(b'!') if self.byte_after(1) != Some(b'=') => UnaryOperator::Not,
            _ => return self.with_access(),
        };
        let start = self.at;
        self.at += 1;
        self.deeper(|parser| {
            let operand = parser.unary()?;
            let mut origin = parser.origin_from(start);
            origin.end = operand.origin.end;
            Ok(Expr { kind: ExprKind::Unary(operator, Box::new(operand)), origin })
        })
    }

    /// A term without what is taken of it.
    pub(super) fn term(&mut self) -> Parse<Expr> {
        self.skip();
        let start = self.at;
        match self.byte() {
            Some(b'"') => self.quoted_template(),
            Some(b'0'..=b'9') => self.number(),
            Some(b'[') => self.bracketed(),
            Some(b'{') => self.braced(),
            Some(b'(') => {
                self.at += 1;
                let inner = self.with_newlines(Newlines::Ignored, |parser| {
                    let inner = parser.expression()?;
                    parser.expect(")", "to close the parenthesis")?;
                    Ok(inner)
                })?;
                let origin = self.origin_from(start);
                Ok(Expr { kind: ExprKind::Parentheses(Box::new(inner)), origin })
            }
            Some(b'<') if self.starts_with("<<") => self.heredoc(),
            _ => match self.name() {
                Some(name) => self.named(name),
                None => self.missing_term(),
            },
        }
    }

    fn missing_term<T>(&mut self) -> Parse<T> {
        let found = self.found();
        let mut diagnostic = Diagnostic::error(format!("expected an expression, found {found}"));
        match self.byte() {
            Some(b'\n') => {
                diagnostic =
                    diagnostic.hint("put parentheses around an expression that goes on over several lines");
            }
            Some(b'\'') => diagnostic = diagnostic.hint("strings stand in double quotes: \"text\""),
            Some(b'.') if self.byte_after(1).is_some_and(|byte| byte.is_ascii_digit()) => {
                diagnostic = diagnostic.hint("write a zero before the decimal point: 0.5");
            }
            Some(b'+') => diagnostic = diagnostic.hint("a positive number needs no sign"),
            _ => {}
        }
        self.fail_here(diagnostic)
    }

    /// A keyword, a call, or the root of a traversal.
    fn named(&mut self, name: Name) -> Parse<Expr> {
        let origin = name.origin;
        let literal = match name.text.as_str() {
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            "null" => Some(Literal::Null),
            _ => None,
        };
        if let Some(literal) = literal {
            return Ok(Expr { kind: ExprKind::Literal(literal), origin });
        }
        self.skip();
        if self.starts_with("::") || self.byte() == Some(b'(') {
            return self.call(name);
        }
        let traversal = Traversal { root: name, steps: Vec::new() };
        Ok(Expr { kind: ExprKind::Traversal(Box::new(traversal)), origin })
    }

    fn call(&mut self, first: Name) -> Parse<Expr> {
        let mut name = first;
        while self.take("::") {
            self.skip();
            let Some(part) = self.name() else {
                let found = self.found();
                return self.fail_here(Diagnostic::error(format!(
                    "expected the rest of the function's name after `::`, found {found}"
                )));
            };
            name.text = SmolStr::new(format!("{}::{}", name.text, part.text));
            name.origin.end = part.origin.end;
            self.skip();
        }
        if self.byte() != Some(b'(') {
            let found = self.found();
            return self.fail_here(Diagnostic::error(format!(
                "expected `(` and the arguments of `{}`, found {found}",
                name.text
            )));
        }
        let open = self.at;
        self.at += 1;
        let arguments = self.with_newlines(Newlines::Ignored, |inner| inner.arguments(open))?;
        let mut origin = name.origin;
        origin.end = self.origin(self.at, self.at).end;
        let Arguments { arguments, expand_last } = arguments;
        Ok(Expr { kind: ExprKind::Call(Box::new(Call { name, arguments, expand_last })), origin })
    }

    fn arguments(&mut self, open: usize) -> Parse<Arguments> {
        let mut arguments = Vec::new();
        loop {
            self.skip();
            if self.take(")") {
                return Ok(Arguments { arguments, expand_last: false });
            }
            if self.at == self.text.len() {
                return self.unclosed(open, "(", "this call");
            }
            arguments.push(self.expression()?);
            self.skip();
            if self.take("...") {
                self.expect(")", "after the last argument, which `...` expands")?;
                return Ok(Arguments { arguments, expand_last: true });
            }
            if !self.take(",") && self.byte() != Some(b')') {
                if self.at == self.text.len() {
                    return self.unclosed(open, "(", "this call");
                }
                let found = self.found();
                return self.fail_here(Diagnostic::error(format!(
                    "expected `,` or `)` after an argument, found {found}"
                )));
            }
        }
    }

    /// Says that something which was opened never ends; the place to look at is where it begins.
    pub(super) fn unclosed<T>(&mut self, open: usize, mark: &str, what: &str) -> Parse<T> {
        let diagnostic = Diagnostic::error(format!("the `{mark}` of {what} is never closed"));
        let result = self.fail(open, open + mark.len(), diagnostic);
        self.halted_at = self.at;
        result
    }

    fn number(&mut self) -> Parse<Expr> {
        let start = self.at;
        self.take_digits();
        if self.byte() == Some(b'.') && self.byte_after(1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
            self.take_digits();
        }
        let signed = matches!(self.byte_after(1), Some(b'+' | b'-'));
        let exponent_at = if signed { 2 } else { 1 };
        if matches!(self.byte(), Some(b'e' | b'E'))
            && self.byte_after(exponent_at).is_some_and(|byte| byte.is_ascii_digit())
        {
            self.at += exponent_at;
            self.take_digits();
        }
        if self.name_length(self.at) > 0 {
            let end = self.at + self.name_length(self.at);
            let text = &self.text[start..end];
            let mut diagnostic = Diagnostic::error(format!("`{text}` is neither a number nor a name"));
            if text.starts_with("0x") || text.starts_with("0X") {
                diagnostic = diagnostic.hint("numbers are written in decimal; `parseint` reads other bases");
            }
            return self.fail(start, end, diagnostic);
        }
        match self.text[start..self.at].parse::<Number>() {
            Ok(number) => {
                let origin = self.origin_from(start);
                Ok(Expr { kind: ExprKind::Literal(Literal::Number(number)), origin })
            }
            Err(error @ (NumberError::Syntax | NumberError::TooLarge | NumberError::NotFinite)) => {
                self.fail(start, self.at, Diagnostic::error(format!("this number {error}")))
            }
        }
    }

    pub(super) fn take_digits(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }
}
