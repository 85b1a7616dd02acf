//! Reads SPDX licence expressions and says whether a set of accepted licences satisfies them.
//!
//! `WITH` binds tighter than `AND`, and `AND` tighter than `OR`. The slash of older manifests (`MIT/Apache-2.0`) reads
//! as `OR`. Names are not checked against the SPDX list: a name that is not accepted is simply not accepted.

/// A licence expression, as in a manifest's `license` field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    /// One licence, with its exception if it has one: `Apache-2.0 WITH LLVM-exception`.
    Licence(String),
    /// The user's choice of one.
    Any(Vec<Expression>),
    /// All of them at once.
    All(Vec<Expression>),
}

impl Expression {
    /// Parses an expression; the error says what was expected and what was found.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let mut parser = Parser { tokens: spaced.split_whitespace().collect(), next: 0 };
        let expression = parser.any()?;
        match parser.peek() {
            None => Ok(expression),
            Some(token) => Err(format!("expected the end, found `{token}`")),
        }
    }

    /// Whether one may use the licensed work under accepted licences alone.
    pub(crate) fn is_satisfied_by(&self, accepted: &[&str]) -> bool {
        match self {
            Self::Licence(name) => accepted.contains(&name.as_str()),
            Self::Any(choices) => choices.iter().any(|choice| choice.is_satisfied_by(accepted)),
            Self::All(parts) => parts.iter().all(|part| part.is_satisfied_by(accepted)),
        }
    }
}

struct Parser<'text> {
    tokens: Vec<&'text str>,
    next: usize,
}

impl<'text> Parser<'text> {
    fn any(&mut self) -> Result<Expression, String> {
        let mut choices = vec![self.all()?];
        while self.take_if("OR") {
            choices.push(self.all()?);
        }
        Ok(single_or(choices, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.operand()?];
        while self.take_if("AND") {
            parts.push(self.operand()?);
        }
        Ok(single_or(parts, Expression::All))
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.take_if("(") {
            let inner = self.any()?;
            return if self.take_if(")") { Ok(inner) } else { Err(self.expected("`)`")) };
        }
        let licence = self.name("a licence")?;
        if self.take_if("WITH") {
            let exception = self.name("an exception")?;
            return Ok(Expression::Licence(format!("{licence} WITH {exception}")));
        }
        Ok(Expression::Licence(licence.to_owned()))
    }

    fn name(&mut self, what: &str) -> Result<&'text str, String> {
        match self.peek() {
            Some(token) if !["OR", "AND", "WITH", "(", ")"].contains(&token) => {
                self.next += 1;
                Ok(token)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn peek(&self) -> Option<&'text str> {
        self.tokens.get(self.next).copied()
    }

    fn take_if(&mut self, token: &str) -> bool {
        let matches = self.peek() == Some(token);
        self.next += usize::from(matches);
        matches
    }

    fn expected(&self, what: &str) -> String {
        match self.peek() {
            Some(token) => format!("expected {what}, found `{token}`"),
            None => format!("expected {what}, found the end"),
        }
    }
}

/// An operator with one operand is that operand.
fn single_or(mut operands: Vec<Expression>, combine: fn(Vec<Expression>) -> Expression) -> Expression {
    if operands.len() == 1 { operands.remove(0) } else { combine(operands) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, accepted: &[&str], expected: bool) {
        let expression = Expression::parse(text).unwrap();
        assert_eq!(
            expression.is_satisfied_by(accepted),
            expected,
            "{text} under {accepted:?}: {expression:?}"
        );
    }

    #[test]
    fn one_licence_is_satisfied_by_itself_alone() {
        check("MIT", &["MIT"], true);
        check("MIT-0", &["MIT"], false);
        check("GPL-3.0-only", &["MIT"], false);
    }

    #[test]
    fn or_needs_one_side_and_the_old_slash_means_or() {
        check("MIT OR GPL-3.0-only", &["MIT"], true);
        check("GPL-3.0-only OR MIT", &["MIT"], true);
        check("MIT/Apache-2.0", &["Apache-2.0"], true);
        check("MIT / Apache-2.0", &["MIT"], true);
        check("GPL-2.0-only OR GPL-3.0-only", &["MIT"], false);
    }

    #[test]
    fn and_needs_both_sides() {
        check("MIT AND BSD-3-Clause", &["MIT", "BSD-3-Clause"], true);
        check("MIT AND BSD-3-Clause", &["MIT"], false);
    }

    #[test]
    fn and_binds_tighter_than_or_unless_parentheses_say_otherwise() {
        check("MIT OR Apache-2.0 AND GPL-3.0-only", &["MIT"], true);
        check("(MIT OR Apache-2.0) AND GPL-3.0-only", &["MIT"], false);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", &["Apache-2.0", "Unicode-3.0"], true);
        check("((MIT) OR ((GPL-3.0-only)))", &["MIT"], true);
    }

    #[test]
    fn an_exception_is_part_of_the_licence() {
        check("Apache-2.0 WITH LLVM-exception", &["Apache-2.0"], false);
        check("Apache-2.0 WITH LLVM-exception", &["Apache-2.0 WITH LLVM-exception"], true);
        check("Apache-2.0 WITH LLVM-exception OR MIT", &["MIT"], true);
    }

    #[test]
    fn malformed_expressions_are_errors_that_say_where() {
        let error = |text| Expression::parse(text).unwrap_err();
        assert_eq!(error(""), "expected a licence, found the end");
        assert_eq!(error("MIT OR"), "expected a licence, found the end");
        assert_eq!(error("AND MIT"), "expected a licence, found `AND`");
        assert_eq!(error("MIT Apache-2.0"), "expected the end, found `Apache-2.0`");
        assert_eq!(error("(MIT OR ISC"), "expected `)`, found the end");
        assert_eq!(error("MIT)"), "expected the end, found `)`");
        assert_eq!(error("Apache-2.0 WITH OR"), "expected an exception, found `OR`");
    }
}
