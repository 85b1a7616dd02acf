//! Tokens → syntax tree, by precedence climbing.

use smol_str::SmolStr;

use super::error::{CelError, Span};
use super::lexer::{Token, TokenKind, tokens};
use super::operators::{BinaryOperator, UnaryOperator};
use super::syntax::{Expr, ExprKind};
use super::value::Value;

/// Brackets, arguments and conditionals within one another: what the parser itself recurses over.
const NESTING_MAX: usize = 100;

/// Levels of a tree. Operators in a row make one each, `&&` and `||` aside.
const HEIGHT_MAX: usize = 250;

/// Words that the language keeps for the languages it is embedded in.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Parses an expression.
pub(super) fn parse(text: &str) -> Result<Expr, CelError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, nesting: 0 };
    let expression = parser.expression()?;
    match parser.peek() {
        TokenKind::End => Ok(expression),
        _ => Err(parser.expected("an operator or the end")),
    }
}

/// What stands between two operands.
#[derive(Clone, Copy)]
enum Infix {
    And,
    Or,
    Binary(BinaryOperator),
}

/// The operator that a token is, and how strongly it binds.
fn infix(token: &TokenKind) -> Option<(usize, Infix)> {
    let (TokenKind::Symbol(text) | TokenKind::Keyword(text)) = token else { return None };
    let (precedence, operator) = match *text {
        "||" => return Some((1, Infix::Or)),
        "&&" => return Some((2, Infix::And)),
        "==" => (3, BinaryOperator::Equal),
        "!=" => (3, BinaryOperator::NotEqual),
        "<" => (3, BinaryOperator::Less),
        "<=" => (3, BinaryOperator::LessOrEqual),
        ">" => (3, BinaryOperator::Greater),
        ">=" => (3, BinaryOperator::GreaterOrEqual),
        "in" => (3, BinaryOperator::In),
        "+" => (4, BinaryOperator::Add),
        "-" => (4, BinaryOperator::Subtract),
        "*" => (5, BinaryOperator::Multiply),
        "/" => (5, BinaryOperator::Divide),
        "%" => (5, BinaryOperator::Remainder),
        _ => return None,
    };
    Some((precedence, Infix::Binary(operator)))
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
}

impl Parser {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The place of the token before this one.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn advance(&mut self) {
        // The last token is the end, and stays.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Symbol(text) if *text == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), CelError> {
        match self.accept(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{symbol}`"))),
        }
    }

    fn expected(&self, what: &str) -> CelError {
        CelError::new(self.span(), format!("expected {what}, found {}", self.peek()))
    }

    /// A node over children whose highest has this height.
    fn node(&self, kind: ExprKind, span: Span, below: usize) -> Result<Expr, CelError> {
        match below < HEIGHT_MAX {
            true => Ok(Expr { kind: Box::new(kind), span, height: below + 1 }),
            false => {
                let message = format!("more than {HEIGHT_MAX} operators or selections within one another");
                Err(CelError::new(span, message).hint("split it into several policies"))
            }
        }
    }

    fn expression(&mut self) -> Result<Expr, CelError> {
        if self.nesting == NESTING_MAX {
            return Err(self.nested_too_deep());
        }
        self.nesting += 1;
        let mut expression = self.binary(1)?;
        if self.accept("?") {
            expression = self.conditional(expression)?;
        }
        self.nesting -= 1;
        Ok(expression)
    }

    #[cold]
    fn nested_too_deep(&self) -> CelError {
        let message = format!("nested more than {NESTING_MAX} levels deep");
        CelError::new(self.span(), message).hint("split it into several policies")
    }

    fn conditional(&mut self, condition: Expr) -> Result<Expr, CelError> {
        let then = self.binary(1)?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        let span = condition.span.to(otherwise.span);
        let below = condition.height.max(then.height).max(otherwise.height);
        self.node(ExprKind::Conditional { condition, then, otherwise }, span, below)
    }

    /// Operands with operators between them that bind at least this strongly.
    fn binary(&mut self, weakest: usize) -> Result<Expr, CelError> {
        let mut left = self.unary()?;
        while let Some((precedence, infix)) = infix(self.peek())
            && precedence >= weakest
        {
            left = self.combined(left, precedence, infix)?;
        }
        Ok(left)
    }

    fn combined(&mut self, left: Expr, precedence: usize, infix: Infix) -> Result<Expr, CelError> {
        let operator_span = self.span();
        self.advance();
        let right = self.binary(precedence + 1)?;
        let (span, below) = (left.span.to(right.span), left.height.max(right.height));
        let operator = match infix {
            Infix::And => return self.terms("&&", precedence, vec![left, right], ExprKind::And),
            Infix::Or => return self.terms("||", precedence, vec![left, right], ExprKind::Or),
            Infix::Binary(operator) => operator,
        };
        self.node(ExprKind::Binary { operator, left, right, operator_span }, span, below)
    }

    /// Further terms of one logical operator.
    fn terms(
        &mut self,
        operator: &str,
        precedence: usize,
        mut terms: Vec<Expr>,
        kind: fn(Vec<Expr>) -> ExprKind,
    ) -> Result<Expr, CelError> {
        while self.accept(operator) {
            terms.push(self.binary(precedence + 1)?);
        }
        let (span, below) = (terms[0].span.to(self.last_span()), highest(&terms));
        self.node(kind(terms), span, below)
    }

    /// `!` and `-` may be repeated, but not mixed.
    fn unary(&mut self) -> Result<Expr, CelError> {
        let operator = match self.peek() {
            TokenKind::Symbol("!") => UnaryOperator::Not,
            TokenKind::Symbol("-") if !self.signed_number() => UnaryOperator::Negate,
            _ => return self.member(),
        };
        let mut places = Vec::new();
        while matches!(self.peek(), TokenKind::Symbol(text) if *text == operator.symbol())
            && !self.signed_number()
        {
            places.push(self.span());
            self.advance();
        }
        let mut expression = self.member()?;
        for place in places.into_iter().rev() {
            let (span, below) = (place.to(expression.span), expression.height);
            expression = self.node(ExprKind::Unary { operator, operand: expression }, span, below)?;
        }
        Ok(expression)
    }

    /// Whether a minus is the sign of the number after it.
    fn signed_number(&self) -> bool {
        *self.peek() == TokenKind::Symbol("-")
            && matches!(
                self.tokens.get(self.at + 1).map(|token| &token.kind),
                Some(TokenKind::Int(_) | TokenKind::Double(_))
            )
    }

    fn member(&mut self) -> Result<Expr, CelError> {
        let mut operand = self.primary()?;
        loop {
            operand = match self.peek() {
                TokenKind::Symbol(".") => self.selection(operand)?,
                TokenKind::Symbol("[") => self.index(operand)?,
                TokenKind::Symbol("{") => match operand.qualified_name() {
                    Some(name) => {
                        let message = format!("messages such as `{name}{{…}}` are not supported");
                        return Err(
                            CelError::new(operand.span, message).hint("write a map, `{\"key\": value}`")
                        );
                    }
                    None => return Ok(operand),
                },
                _ => return Ok(operand),
            };
        }
    }

    fn selection(&mut self, operand: Expr) -> Result<Expr, CelError> {
        self.advance();
        let name_span = self.span();
        let field = match self.peek() {
            TokenKind::Name(name) => name.clone(),
            TokenKind::Symbol("?") => {
                let error = CelError::new(name_span, "optional fields, `.?`, are not supported");
                return Err(error.hint("test for the field with `has(…)`"));
            }
            TokenKind::Symbol("`") => {
                let error = CelError::new(name_span, "quoted field names are not supported");
                return Err(error.hint("index instead, as in `tags[\"my-key\"]`"));
            }
            _ => return Err(self.expected("a field name")),
        };
        self.advance();
        if self.accept("(") {
            let arguments = self.list_until(")")?;
            return self.call(field, Some(operand), arguments, name_span);
        }
        let (span, below) = (operand.span.to(name_span), operand.height);
        self.node(ExprKind::Select { operand, field }, span, below)
    }

    fn index(&mut self, operand: Expr) -> Result<Expr, CelError> {
        self.advance();
        self.refuse_optional()?;
        let index = self.expression()?;
        self.expect("]")?;
        let span = operand.span.to(self.last_span());
        let below = operand.height.max(index.height);
        self.node(ExprKind::Index { operand, index }, span, below)
    }

    /// Refuses `?` where optional syntax has it.
    fn refuse_optional(&self) -> Result<(), CelError> {
        match self.peek() {
            TokenKind::Symbol("?") => {
                let error = CelError::new(self.span(), "optional elements, `?`, are not supported");
                Err(error.hint("test for the key with `in`"))
            }
            _ => Ok(()),
        }
    }

    fn call(
        &self,
        function: SmolStr,
        receiver: Option<Expr>,
        arguments: Vec<Expr>,
        name_span: Span,
    ) -> Result<Expr, CelError> {
        let start = receiver.as_ref().map_or(name_span, |receiver| receiver.span);
        let below = highest(&arguments).max(receiver.as_ref().map_or(0, |receiver| receiver.height));
        let kind = ExprKind::Call { function, receiver, arguments, name_span };
        self.node(kind, start.to(self.last_span()), below)
    }

    fn primary(&mut self) -> Result<Expr, CelError> {
        match self.peek() {
            TokenKind::Symbol("(") => self.parenthesised(),
            TokenKind::Symbol("[") => self.list(),
            TokenKind::Symbol("{") => self.map(),
            TokenKind::Symbol(".") => {
                self.advance();
                self.name(true)
            }
            TokenKind::Name(_) => self.name(false),
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Expr, CelError> {
        let span = self.span();
        let value = match self.peek().clone() {
            TokenKind::Symbol("-") if self.signed_number() => {
                self.advance();
                self.negative_number(span)?
            }
            TokenKind::Keyword("true") => Value::Bool(true),
            TokenKind::Keyword("false") => Value::Bool(false),
            TokenKind::Keyword("null") => Value::Null,
            TokenKind::Int(magnitude) => {
                Value::Int(i64::try_from(magnitude).map_err(|_| out_of_range(span))?)
            }
            TokenKind::Uint(value) => Value::Uint(value),
            TokenKind::Double(value) => Value::Double(value),
            TokenKind::String(text) => Value::String(text),
            TokenKind::Bytes(bytes) => Value::Bytes(bytes),
            TokenKind::Name(_) | TokenKind::Symbol(_) | TokenKind::Keyword(_) | TokenKind::End => {
                return Err(self.expected("an expression"));
            }
        };
        self.advance();
        self.node(ExprKind::Literal(value), span.to(self.last_span()), 0)
    }

    /// The number after a sign, which alone reaches the smallest integer.
    fn negative_number(&self, sign: Span) -> Result<Value, CelError> {
        match *self.peek() {
            TokenKind::Int(magnitude) => {
                let value = 0i64.checked_sub_unsigned(magnitude);
                value.map(Value::Int).ok_or_else(|| out_of_range(sign.to(self.span())))
            }
            TokenKind::Double(value) => Ok(Value::Double(-value)),
            _ => Err(self.expected("a number")),
        }
    }

    fn parenthesised(&mut self) -> Result<Expr, CelError> {
        let start = self.span();
        self.advance();
        let mut inner = self.expression()?;
        self.expect(")")?;
        inner.span = start.to(self.last_span());
        Ok(inner)
    }

    fn name(&mut self, absolute: bool) -> Result<Expr, CelError> {
        let span = self.span();
        let TokenKind::Name(name) = self.peek().clone() else { return Err(self.expected("a name")) };
        if RESERVED.contains(&name.as_str()) {
            return Err(CelError::new(span, format!("`{name}` is a reserved word")));
        }
        self.advance();
        if self.accept("(") {
            let arguments = self.list_until(")")?;
            return self.call(name, None, arguments, span);
        }
        self.node(ExprKind::Name { name, absolute }, span, 0)
    }

    fn list(&mut self) -> Result<Expr, CelError> {
        let start = self.span();
        self.advance();
        let elements = self.list_until("]")?;
        let below = highest(&elements);
        self.node(ExprKind::List(elements), start.to(self.last_span()), below)
    }

    /// Expressions with commas between them. Lists may end with a comma, even if it is all they have.
    fn list_until(&mut self, close: &'static str) -> Result<Vec<Expr>, CelError> {
        let mut elements = Vec::new();
        if close == "]" && self.accept(",") {
            self.expect(close)?;
            return Ok(elements);
        }
        loop {
            let may_close = elements.is_empty() || close == "]";
            if may_close && self.accept(close) {
                return Ok(elements);
            }
            self.refuse_optional()?;
            elements.push(self.expression()?);
            if !self.accept(",") {
                return match self.accept(close) {
                    true => Ok(elements),
                    false => Err(self.expected(&format!("`,` or `{close}`"))),
                };
            }
        }
    }

    fn map(&mut self) -> Result<Expr, CelError> {
        let start = self.span();
        self.advance();
        let mut entries = Vec::new();
        let mut below = 0;
        let lone_comma = self.accept(",");
        while !self.accept("}") {
            if lone_comma {
                return Err(self.expected("`}`"));
            }
            self.refuse_optional()?;
            let key = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            below = below.max(key.height).max(value.height);
            entries.push((key, value));
            if !self.accept(",") {
                if !self.accept("}") {
                    return Err(self.expected("`,` or `}`"));
                }
                break;
            }
        }
        self.node(ExprKind::Map(entries), start.to(self.last_span()), below)
    }
}

fn highest(expressions: &[Expr]) -> usize {
    expressions.iter().map(|expression| expression.height).max().unwrap_or(0)
}

fn out_of_range(span: Span) -> CelError {
    CelError::new(span, "number out of range").hint("integers have 64 bits")
}
