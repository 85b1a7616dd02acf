//! One directive of a format: `%[flags][width][.precision][[argument]]verb`.

use trueup_core::{Kind, Type, Value, convert};
use unicode_segmentation::UnicodeSegmentation;

use super::number::{in_base, scientific, shortest, with_decimals};
use super::plain_text;
use crate::functions::{Problem, json_text};

/// The widest that anything is made.
const WIDTH_MAX: usize = 10_000;

/// What a format consists of.
pub(super) enum Part<'f> {
    Text(&'f str),
    Directive(Directive<'f>),
}

pub(super) struct Directive<'f> {
    /// As it is written, for messages.
    pub(super) text: &'f str,
    plus: bool,
    minus: bool,
    space: bool,
    zero: bool,
    sharp: bool,
    width: usize,
    precision: Option<usize>,
    /// Which argument it formats, counted from 0; the next one if it does not say.
    pub(super) argument: Option<usize>,
    verb: char,
}

/// Takes a format apart.
pub(super) fn parts(format: &str) -> Result<Vec<Part<'_>>, Problem> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        if at > 0 {
            parts.push(Part::Text(&rest[..at]));
        }
        rest = &rest[at..];
        if rest.starts_with("%%") {
            parts.push(Part::Text(&rest[..1]));
            rest = &rest[2..];
            continue;
        }
        let (directive, after) = Directive::read(rest).ok_or_else(|| {
            Problem::at(0, format!("`{rest}` begins with a directive that is not complete"))
                .hint("a percent sign itself is written %%")
        })?;
        parts.push(Part::Directive(directive));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

impl<'f> Directive<'f> {
    /// The directive that a text begins with, and the rest of the text.
    fn read(text: &'f str) -> Option<(Self, &'f str)> {
        let mut directive = Directive {
            text,
            plus: false,
            minus: false,
            space: false,
            zero: false,
            sharp: false,
            width: 0,
            precision: None,
            argument: None,
            verb: ' ',
        };
        let mut rest = &text[1..];
        loop {
            let flag = match rest.as_bytes().first()? {
                b'+' => &mut directive.plus,
                b'-' => &mut directive.minus,
                b' ' => &mut directive.space,
                b'0' => &mut directive.zero,
                b'#' => &mut directive.sharp,
                _ => break,
            };
            *flag = true;
            rest = &rest[1..];
        }
        (directive.width, rest) = number_prefix(rest)?;
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = number_prefix(after)?;
            directive.precision = Some(precision);
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('[') {
            let (argument, after) = number_prefix(after)?;
            directive.argument = Some(argument.checked_sub(1)?);
            rest = after.strip_prefix(']')?;
        }
        directive.verb = rest.chars().next().filter(char::is_ascii_alphabetic)?;
        rest = &rest[1..];
        directive.text = &text[..text.len() - rest.len()];
        Some((directive, rest))
    }

    /// The text of a value.
    pub(super) fn format(&self, value: &Value) -> Result<String, String> {
        match self.verb {
            'v' if self.sharp => Ok(self.padded(&json_text(value))),
            'v' => match value.kind() {
                Kind::Number(_) => self.number(value),
                Kind::String(text) => Ok(self.text(text)),
                Kind::Bool(truth) => Ok(self.padded(if *truth { "true" } else { "false" })),
                _ => Ok(self.padded(&json_text(value))),
            },
            's' | 'q' => {
                let text = plain_text(value).ok_or_else(|| self.needs("a text", value))?;
                if self.verb == 's' {
                    return Ok(self.text(&text));
                }
                Ok(self.padded(&json_text(&Value::string(self.cut(&text)))))
            }
            't' => match convert(value, &Type::Bool).ok().as_ref().and_then(Value::as_bool) {
                Some(truth) => Ok(truth.to_string()),
                None => Err(self.needs("a bool", value)),
            },
            'b' | 'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' => self.number(value),
            other => Err(format!(
                "`{}`: there is no verb `{other}`; known are v s q t b d o x X e E f g G",
                self.text
            )),
        }
    }

    fn needs(&self, wanted: &str, value: &Value) -> String {
        format!("`{}` needs {wanted}, and this is {}", self.text, value.kind_name())
    }

    fn number(&self, value: &Value) -> Result<String, String> {
        let converted = convert(value, &Type::Number).ok();
        let number =
            converted.as_ref().and_then(Value::as_number).ok_or_else(|| self.needs("a number", value))?;
        let decimal = number.to_decimal();
        let digits = match self.verb {
            'b' | 'd' | 'o' | 'x' | 'X' => {
                if !number.is_integer() {
                    return Err(format!("`{}` needs a whole number", self.text));
                }
                in_base(&decimal, self.verb, self.sharp)
            }
            'f' => with_decimals(&decimal, self.precision.unwrap_or(6)),
            'e' | 'E' => scientific(&decimal, self.precision.unwrap_or(6)),
            _ => shortest(&decimal, self.precision),
        };
        let digits = if matches!(self.verb, 'E' | 'G') { digits.to_uppercase() } else { digits };
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None if self.plus => ("+", digits.as_str()),
            None if self.space => (" ", digits.as_str()),
            None => ("", digits.as_str()),
        };
        let zeros =
            if self.zero && !self.minus { self.width.saturating_sub(sign.len() + digits.len()) } else { 0 };
        let prefix_length = if digits.starts_with("0x") || digits.starts_with("0X") { 2 } else { 0 };
        let (prefix, digits) = digits.split_at(prefix_length);
        Ok(self.padded(&format!("{sign}{prefix}{}{digits}", "0".repeat(zeros))))
    }

    fn text(&self, text: &str) -> String {
        self.padded(&self.cut(text))
    }

    /// The text up to the precision.
    fn cut(&self, text: &str) -> String {
        match self.precision {
            Some(precision) => text.graphemes(true).take(precision).collect(),
            None => text.to_owned(),
        }
    }

    fn padded(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(text.graphemes(true).count());
        let fill = if self.zero && !self.minus { "0" } else { " " };
        if self.minus {
            format!("{text}{}", " ".repeat(missing))
        } else {
            format!("{}{text}", fill.repeat(missing))
        }
    }
}

/// The number that a text begins with, 0 if none does, and the rest.
fn number_prefix(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    (number <= WIDTH_MAX).then_some((number, rest))
}
