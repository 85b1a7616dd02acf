//! Patterns: regex regexall replace. The syntax is RE2's, which Rust's engine has too, but for a few places where that
//! one is richer: there the pattern is rewritten to mean what RE2 would.

use regex::{Captures, Regex, RegexBuilder};
use trueup_core::Value;

use super::{
    Call, Function, Outcome, Problem, Returns, Wanted, bounded_list, function, param, refuse_longer_than_max,
};
use crate::limits::too_long;

/// How large a compiled pattern may become, in bytes.
const PATTERN_BYTES_MAX: usize = 10 * 1024 * 1024;

const PATTERN_AND_TEXT: &[super::Parameter] =
    &[param("pattern", Wanted::Text), param("string", Wanted::Text)];

pub(super) const FUNCTIONS: &[Function] = &[
    function("regex", PATTERN_AND_TEXT, Returns::Any, regex),
    function("regexall", PATTERN_AND_TEXT, Returns::Any, regexall),
    function(
        "replace",
        &[param("str", Wanted::Text), param("substr", Wanted::Text), param("replace", Wanted::Text)],
        Returns::Text,
        replace,
    ),
];

fn regex(call: &Call<'_>) -> Outcome {
    let pattern = compiled(call, call.text(0), 0)?;
    let shape = Shape::of(&pattern)?;
    match pattern.captures(call.text(1)) {
        Some(captures) => Ok(shape.value(&pattern, &captures)),
        None => Err(Problem::at(1, "the pattern does not match the text")
            .hint("to get a list of matches, which may be empty, use `regexall`")),
    }
}

fn regexall(call: &Call<'_>) -> Outcome {
    let pattern = compiled(call, call.text(0), 0)?;
    let shape = Shape::of(&pattern)?;
    bounded_list(pattern.captures_iter(call.text(1)).map(|captures| shape.value(&pattern, &captures)))
}

fn replace(call: &Call<'_>) -> Outcome {
    let (text, wanted, replacement) = (call.text(0), call.text(1), call.text(2));
    let inner = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    match inner {
        Some(pattern) => {
            let pattern = compiled(call, pattern, 1)?;
            replace_matches(&pattern, text, replacement).map(Value::string)
        }
        None => {
            let found = text.matches(wanted).count();
            let added = found.checked_mul(replacement.len()).ok_or_else(|| Problem::new(too_long()))?;
            refuse_longer_than_max(text.len() - found * wanted.len() + added)?;
            Ok(Value::string(text.replace(wanted, replacement)))
        }
    }
}

/// As `Regex::replace_all`, within the bounds of a text.
fn replace_matches(pattern: &Regex, text: &str, replacement: &str) -> Result<String, Problem> {
    // Each reference to a group adds a part of the match.
    let references = replacement.matches('$').count();
    let (mut replaced, mut copied) = (String::new(), 0);
    for captures in pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let expanded = references.saturating_mul(whole.len()).saturating_add(replacement.len());
        refuse_longer_than_max(replaced.len().saturating_add(expanded))?;
        replaced.push_str(&text[copied..whole.start()]);
        captures.expand(replacement, &mut replaced);
        copied = whole.end();
    }
    replaced.push_str(&text[copied..]);
    Ok(replaced)
}

fn compiled(call: &Call<'_>, pattern: &str, argument: usize) -> Result<Regex, Problem> {
    RegexBuilder::new(&as_re2(pattern)).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
        let reason = match &error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            _ if call.concealed() => "it is invalid".to_owned(),
            // The last line says what is wrong; those before draw the pattern as rewritten.
            other => {
                other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            }
        };
        Problem::at(argument, format!("the pattern cannot be used: {reason}"))
    })
}

/// What a match gives: the text, a list of its groups, or an object of its named groups.
enum Shape {
    Text,
    List,
    Object,
}

impl Shape {
    fn of(pattern: &Regex) -> Result<Self, Problem> {
        let named = pattern.capture_names().flatten().count();
        match (pattern.captures_len() - 1, named) {
            (0, _) => Ok(Shape::Text),
            (_, 0) => Ok(Shape::List),
            (groups, named) if groups == named => Ok(Shape::Object),
            _ => Err(Problem::at(0, "either all groups of the pattern have names or none")
                .hint("a group that is not captured is written (?:…)")),
        }
    }

    fn value(&self, pattern: &Regex, captures: &Captures<'_>) -> Value {
        let group = |at: usize| captures.get(at).map_or(Value::NULL, |found| Value::string(found.as_str()));
        match self {
            Shape::Text => group(0),
            Shape::List => Value::tuple((1..captures.len()).map(group)),
            Shape::Object => {
                let names = pattern.capture_names().enumerate();
                Value::object(names.filter_map(|(at, name)| name.map(|name| (name, group(at)))))
            }
        }
    }
}

/// The pattern as Rust's engine would have to read it: classes such as `\d` are ASCII, and within brackets only `]`,
/// `\`, `-`, `^` and `[:` are special.
fn as_re2(pattern: &str) -> String {
    let mut rewritten = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    let mut class_start = false;
    while let Some(char) = chars.next() {
        let at_start = std::mem::take(&mut class_start);
        match char {
            '\\' => match chars.next() {
                Some('Q') if !in_class => quote(&mut chars, &mut rewritten),
                // \p{Greek}, \x{10FFFF}: the braces belong to the escape.
                Some(escaped @ ('p' | 'P' | 'x')) if chars.peek() == Some(&'{') => {
                    rewritten.push('\\');
                    rewritten.push(escaped);
                    copy_through(&mut chars, '}', &mut rewritten);
                }
                Some(escaped) => push_escape(escaped, in_class, &mut rewritten),
                None => rewritten.push('\\'),
            },
            '[' if !in_class => {
                in_class = true;
                class_start = true;
                rewritten.push('[');
            }
            '^' if at_start => {
                class_start = true;
                rewritten.push('^');
            }
            // The first of a class stands for itself.
            ']' if at_start => rewritten.push_str("\\]"),
            ']' if in_class => {
                in_class = false;
                rewritten.push(']');
            }
            '[' if chars.peek() == Some(&':') => {
                rewritten.push('[');
                copy_through(&mut chars, ']', &mut rewritten);
            }
            '{' if !in_class && !counts(chars.clone()) => rewritten.push_str("\\{"),
            '[' | '&' | '~' if in_class => {
                rewritten.push('\\');
                rewritten.push(char);
            }
            other => rewritten.push(other),
        }
    }
    rewritten
}

fn copy_through(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char, rewritten: &mut String) {
    for char in chars.by_ref() {
        rewritten.push(char);
        if char == end {
            break;
        }
    }
}

/// Whether what follows a brace makes it a repetition: `2}`, `2,}`, `2,5}`. Any other brace stands for itself.
fn counts(chars: std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let inside: String = chars.take_while(|char| *char != '}').take(20).collect();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match inside.split_once(',') {
        Some((least, most)) => digits(least) && (most.is_empty() || digits(most)),
        None => digits(&inside),
    }
}

/// `\Q…\E`: the text between them as it stands.
fn quote(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, rewritten: &mut String) {
    let mut quoted = String::new();
    while let Some(char) = chars.next() {
        if char == '\\' && chars.peek() == Some(&'E') {
            chars.next();
            break;
        }
        quoted.push(char);
    }
    rewritten.push_str(&regex::escape(&quoted));
}

fn push_escape(escaped: char, in_class: bool, rewritten: &mut String) {
    let class = match escaped {
        'd' | 'D' => "0-9",
        'w' | 'W' => "0-9A-Za-z_",
        's' | 'S' => "\\t\\n\\f\\r ",
        'b' if !in_class => {
            rewritten.push_str("(?-u:\\b)");
            return;
        }
        other => {
            rewritten.push('\\');
            rewritten.push(other);
            return;
        }
    };
    match (escaped.is_ascii_uppercase(), in_class) {
        (false, true) => rewritten.push_str(class),
        (false, false) => rewritten.push_str(&format!("[{class}]")),
        (true, _) => rewritten.push_str(&format!("[^{class}]")),
    }
}
