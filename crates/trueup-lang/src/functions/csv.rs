//! CSV: csvdecode. The rules are those of RFC 4180; each row is an object with the names of the first.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use trueup_core::Value;

use super::{Call, Outcome, Problem, counted};

pub(super) fn csvdecode(call: &Call<'_>) -> Outcome {
    let mut reader = Reader { text: call.text(0), at: 0, line: 1 };
    let Some(names) = reader.row()? else {
        return Err(Problem::at(0, "the first line, with the names of the columns, is missing"));
    };
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(Problem::at(0, format!("the column name {} stands there twice", call.shown(twice))));
    }
    let mut rows = Vec::new();
    loop {
        let line = reader.line;
        let Some(row) = reader.row()? else { return Ok(Value::list(rows)) };
        if row.len() != names.len() {
            let message =
                format!("line {line} has {}, and the first has {}", counted(row.len(), "field"), names.len());
            return Err(Problem::at(0, message));
        }
        let cells = names.iter().zip(row).map(|(name, cell)| (SmolStr::new(name), Value::string(cell)));
        rows.push(Value::object(cells));
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Reader<'_> {
    /// The next row that is not blank.
    fn row(&mut self) -> Result<Option<Vec<String>>, Problem> {
        while self.take("\r\n") || self.take("\n") {
            self.line += 1;
        }
        if self.at == self.text.len() {
            return Ok(None);
        }
        let mut fields = Vec::new();
        loop {
            fields.push(self.field()?);
            if self.take(",") {
                continue;
            }
            if self.take("\r\n") || self.take("\n") {
                self.line += 1;
            }
            return Ok(Some(fields));
        }
    }

    fn field(&mut self) -> Result<String, Problem> {
        if self.take("\"") {
            return self.quoted();
        }
        let rest = &self.text[self.at..];
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        let field =
            rest[..end].strip_suffix('\r').filter(|_| rest[end..].starts_with('\n')).unwrap_or(&rest[..end]);
        if field.contains('"') {
            return Err(self.problem("a quote stands in a field that does not begin with one"));
        }
        self.at += field.len();
        Ok(field.to_owned())
    }

    fn quoted(&mut self) -> Result<String, Problem> {
        let mut field = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('"') else {
                return Err(self.problem("a quoted field is never closed"));
            };
            field.push_str(&rest[..end].replace("\r\n", "\n"));
            self.line += rest[..end].matches('\n').count();
            self.at += end + 1;
            if self.take("\"") {
                field.push('"');
                continue;
            }
            let next = self.text[self.at..].chars().next();
            let ends = matches!(next, None | Some(',' | '\n')) || self.text[self.at..].starts_with("\r\n");
            return if ends { Ok(field) } else { Err(self.problem("something stands after a quoted field")) };
        }
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    fn problem(&self, message: &str) -> Problem {
        Problem::at(0, format!("line {}: {message}", self.line))
    }
}
