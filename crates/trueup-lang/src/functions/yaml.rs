//! YAML to values: yamldecode. The syntax is read by a library; what plain words mean follows Terraform, which keeps
//! the old reading of `yes`, `on` and the like.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, StrInput, Tag};
use smol_str::SmolStr;
use trueup_core::{Number, Value};

use super::timestamp::Timestamp;
use super::{Call, Outcome, Problem};
use crate::normal_form::normal_text;

/// What the names of YAML's own tags begin with.
const CORE_TAGS: &str = "tag:yaml.org,2002:";

/// How many values a document may come to once its aliases are followed: a few lines can stand for billions.
const NODES_MAX: usize = 1_000_000;

pub(super) fn yamldecode(call: &Call<'_>) -> Outcome {
    let mut reader = Reader {
        parser: Parser::new_from_str(call.text(0)),
        end: 0,
        length: Some(call.text(0).chars().count()).filter(|_| !call.text(0).ends_with('\n')),
        anchors: BTreeMap::new(),
        nodes: 0,
        concealed: call.concealed(),
    };
    reader.document()
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// What each anchor stands for, and how many values that is.
    anchors: BTreeMap<usize, (Value, usize)>,
    nodes: usize,
    /// Where the last event ends.
    end: usize,
    /// How long the text is, if its last line has no end.
    length: Option<usize>,
    concealed: bool,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Outcome {
        loop {
            match self.next()? {
                Event::StreamStart | Event::Nothing => {}
                Event::DocumentStart(_) => break,
                _ => return Err(Problem::at(0, "there is no document in this text")),
            }
        }
        let first = self.next()?;
        let value = self.node(first, 0)?;
        loop {
            match self.next()? {
                Event::DocumentEnd | Event::Nothing => {}
                Event::StreamEnd => return Ok(value),
                _ => return Err(Problem::at(0, "there is more than one document in this text")),
            }
        }
    }

    fn next(&mut self) -> Result<Event<'a>, Problem> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.end = span.end.index();
                Ok(event)
            }
            Some(Err(error)) => Err(self.syntax(&error)),
            None => Ok(Event::StreamEnd),
        }
    }

    fn syntax(&self, error: &ScanError) -> Problem {
        let place = error.marker();
        let reason = if self.concealed { "invalid" } else { error.info() };
        Problem::at(
            0,
            format!("this is no YAML: line {}, column {}: {reason}", place.line(), place.col() + 1),
        )
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Outcome {
        if depth >= Value::DEPTH_MAX {
            return Err(Problem::at(0, format!("nests deeper than {} levels", Value::DEPTH_MAX)));
        }
        let before = self.nodes;
        self.count(1)?;
        let (value, anchor) = match event {
            Event::Alias(anchor) => {
                let Some((value, nodes)) = self.anchors.get(&anchor).cloned() else {
                    return Err(Problem::at(0, "an alias stands within the value that it refers to"));
                };
                self.count(nodes)?;
                return Ok(value);
            }
            Event::Scalar(text, style, anchor, tag) => {
                (self.scalar(self.without_line_end(&text, style), style, tag.as_deref())?, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "seq")?;
                (self.sequence(depth)?, anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "map")?;
                (self.mapping(depth)?, anchor)
            }
            _ => return Err(Problem::at(0, "there is no value where one is expected")),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), self.nodes - before));
        }
        Ok(value)
    }

    fn count(&mut self, nodes: usize) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES_MAX {
            return Err(Problem::at(0, format!("the document stands for more than {NODES_MAX} values")));
        }
        Ok(())
    }

    fn sequence(&mut self, depth: usize) -> Outcome {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::tuple(items)),
                event => items.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Outcome {
        let mut entries: BTreeMap<SmolStr, Value> = BTreeMap::new();
        let mut merged: Vec<Value> = Vec::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => break,
                event => event,
            };
            let merges = matches!(&key, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = self.node(key, depth + 1)?;
            let value_event = self.next()?;
            let value = self.node(value_event, depth + 1)?;
            if merges {
                merged.push(value);
                continue;
            }
            let key = trueup_core::convert(&key, &trueup_core::Type::String);
            let Some(key) = key.ok().as_ref().and_then(Value::as_str).map(SmolStr::new) else {
                return Err(Problem::at(0, "the keys of a mapping must be texts"));
            };
            entries.insert(key, value);
        }
        for value in merged {
            merge(&value, &mut entries)?;
        }
        Ok(Value::object(entries))
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Outcome {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let core = match tag {
            None if style == ScalarStyle::Plain => return plain(text),
            // Of a block at the end of the text not even the first line is there.
            None if is_block && text.is_empty() && self.length == Some(self.end) => return Ok(Value::NULL),
            None => "str",
            Some(tag) => self.core_tag(tag)?,
        };
        let text_of = || normal_text(Value::string(text));
        let resolved = if style == ScalarStyle::Plain { plain(text)? } else { text_of() };
        match core {
            // Texts in quotes stay texts, whatever their tag says; so does Terraform.
            "int" | "float" | "bool" | "null" | "timestamp" if style != ScalarStyle::Plain => Ok(resolved),
            "int" | "float" if resolved.as_number().is_some() => Ok(resolved),
            "bool" if resolved.as_bool().is_some() => Ok(resolved),
            "null" => Ok(Value::NULL),
            "timestamp" => Ok(resolved),
            "str" | "binary" => Ok(text_of()),
            other => Err(Problem::at(0, format!("a value is tagged as {other} and is none"))),
        }
    }

    /// A block that goes up to the end of the text ends as the text does, which may be within a line.
    fn without_line_end<'t>(&self, text: &'t str, style: ScalarStyle) -> &'t str {
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded
                if self.length.is_some_and(|length| self.end >= length) =>
            {
                text.strip_suffix('\n').unwrap_or(text)
            }
            _ => text,
        }
    }

    fn core_tag<'t>(&self, tag: &'t Tag) -> Result<&'t str, Problem> {
        if tag.handle == CORE_TAGS || tag.handle == "!!" {
            return Ok(&tag.suffix);
        }
        if let ("" | "!", Some(core)) = (tag.handle.as_str(), tag.suffix.strip_prefix(CORE_TAGS)) {
            return Ok(core);
        }
        let name = if self.concealed { String::new() } else { format!(" {}{}", tag.handle, tag.suffix) };
        Err(Problem::at(0, format!("the tag{name} is not supported")))
    }

    fn check_tag(&self, tag: Option<&Tag>, expected: &str) -> Result<(), Problem> {
        match tag {
            None => Ok(()),
            Some(tag) if self.core_tag(tag)? == expected => Ok(()),
            Some(tag) => Err(Problem::at(0, format!("the tag {} is not supported", tag.suffix))),
        }
    }
}

/// Adds what `<<` brings; keys that are there already stay.
fn merge(value: &Value, entries: &mut BTreeMap<SmolStr, Value>) -> Result<(), Problem> {
    if let Some(own) = value.as_entries() {
        for (key, item) in own.iter() {
            entries.entry(key.clone()).or_insert_with(|| item.clone());
        }
        return Ok(());
    }
    match value.as_items() {
        Some(items) if items.iter().all(|item| item.as_entries().is_some()) => {
            items.iter().try_for_each(|item| merge(item, entries))
        }
        _ => Err(Problem::at(0, "`<<` merges a mapping or a list of mappings")),
    }
}

/// What a word without quotes stands for.
fn plain(text: &str) -> Outcome {
    let keyword = match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::NULL),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Some(Value::from(true))
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Value::from(false))
        }
        _ => None,
    };
    if let Some(keyword) = keyword {
        return Ok(keyword);
    }
    if matches!(text.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Err(Problem::at(0, "infinity and \"not a number\" are no numbers here"));
    }
    if let Some(number) = number(text) {
        return Ok(Value::number(number));
    }
    let looks_like_a_date = text.len() >= 8 && text.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    if let Some(time) = looks_like_a_date.then(|| Timestamp::from_yaml(text)).flatten() {
        return Ok(Value::string(time.to_string()));
    }
    Ok(normal_text(Value::string(text)))
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| {
        let valid = !digits.is_empty() && digits.chars().all(|char| char.is_digit(radix));
        valid.then(|| u64::from_str_radix(digits, radix).ok()).flatten().map(Number::from)
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let (sign, unsigned) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (if text.starts_with('-') { "-" } else { "" }, rest),
        None => ("", text),
    };
    if !unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
        return None;
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => unsigned.split_at(at),
        None => (unsigned, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let filled = |part: &str| if part.is_empty() { "0".to_owned() } else { part.to_owned() };
    format!("{sign}{}.{}{exponent}", filled(whole), filled(fraction)).parse().ok()
}
