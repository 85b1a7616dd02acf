//! Modules of variables, local values, resources and calls of further modules, each with outputs of known kinds.

use std::fmt::Write;

use super::expressions::{KINDS, Kind, Known, Writer};
use super::random::Random;

/// Files by their paths.
pub(super) type Files = Vec<(String, String)>;

/// What a caller knows of a module.
struct Interface {
    variables: Vec<(String, Kind, bool)>,
    outputs: Vec<(String, Kind)>,
}

/// Writes a module that needs nothing from outside, and gives all it has as the output `all`.
pub(super) fn write_case(seed: u64, folder: &str, files: &mut Files) {
    let mut random = Random::new(seed);
    Author { random: &mut random, files }.module(folder, 2, true);
}

struct Author<'a> {
    random: &'a mut Random,
    files: &'a mut Files,
}

/// How deep expressions go.
const DEPTH: usize = 3;

impl Author<'_> {
    fn module(&mut self, folder: &str, levels: usize, outermost: bool) -> Interface {
        let mut text = String::new();
        let mut names: Vec<Known> = Vec::new();
        let variables = self.variables(&mut text, &mut names, outermost);
        for number in 0..1 + self.random.below(3) {
            self.local(&mut text, &mut names, &format!("before{number}"));
        }
        for number in 0..1 + self.random.below(3) {
            self.resource(&mut text, &mut names, &format!("r{number}"));
        }
        if levels > 0 {
            for number in 0..self.random.below(3) {
                self.call(&mut text, &mut names, folder, levels, &format!("m{number}"));
            }
        }
        for number in 0..1 + self.random.below(2) {
            self.local(&mut text, &mut names, &format!("after{number}"));
        }
        if self.random.percent(50) {
            self.resource(&mut text, &mut names, "last");
        }
        let outputs = self.outputs(&mut text, &names, outermost);
        self.files.push((format!("{folder}/main.tf"), text));
        Interface { variables, outputs }
    }

    /// An expression that may be refused, which is then a value too.
    fn tried(&mut self, names: &[Known], kind: Kind, at_plan: bool) -> String {
        let mut writer = Writer::new(self.random, names.to_vec());
        writer.at_plan = at_plan;
        let expression = writer.expression(kind, DEPTH);
        let instead = match kind {
            Kind::Number => "99",
            Kind::Text => "\"refused\"",
            Kind::Bool => "false",
            Kind::Texts => "[\"refused\"]",
            Kind::Numbers => "[99]",
            Kind::TextMap => "{ refused = \"refused\" }",
            Kind::NumberMap => "{ refused = 99 }",
            Kind::Object => "{ a = 99, b = \"refused\", c = [] }",
            Kind::Objects => "[]",
        };
        format!("try({expression}, {instead})")
    }

    fn variables(
        &mut self,
        text: &mut String,
        names: &mut Vec<Known>,
        outermost: bool,
    ) -> Vec<(String, Kind, bool)> {
        let mut found = Vec::new();
        for number in 0..1 + self.random.below(3) {
            let (name, kind) = (format!("x{number}"), *self.random.one_of(&KINDS));
            let optional = outermost || self.random.percent(40);
            let _ = writeln!(text, "variable \"{name}\" {{\n  type = {}", kind.constraint(self.random));
            if optional {
                // The default of a variable is constant.
                let default = Writer::new(self.random, Vec::new()).expression(kind, 0);
                let _ = writeln!(text, "  default = {}", safe_default(kind, default));
            }
            if self.random.percent(20) {
                let _ = writeln!(text, "  nullable = false");
            }
            let _ = writeln!(text, "}}");
            // A module may be given what only an apply knows.
            names.push(Known { text: format!("var.{name}"), kind, at_plan: outermost });
            found.push((name, kind, optional));
        }
        found
    }

    fn local(&mut self, text: &mut String, names: &mut Vec<Known>, name: &str) {
        let kind = *self.random.one_of(&KINDS);
        let at_plan = self.random.percent(40);
        let value = self.tried(names, kind, at_plan);
        let _ = writeln!(text, "locals {{\n  {name} = {value}\n}}");
        names.push(Known { text: format!("local.{name}"), kind, at_plan });
    }

    /// How many there are of something. Terraform judges this even where there is nothing in the end, so it always fits.
    fn repetition(&mut self, text: &mut String, names: &[Known]) -> Repetition {
        match self.random.below(5) {
            0 | 1 => Repetition::None,
            2 => {
                let count = self.tried(names, Kind::Number, true);
                let _ = writeln!(text, "  count = max(0, min(3, floor(try(tonumber({count}), 1))))");
                Repetition::Count
            }
            3 => {
                let keys = self.tried(names, Kind::Texts, true);
                let _ = writeln!(
                    text,
                    "  for_each = toset(try([for it in {keys} : tostring(it)], [\"refused\"]))"
                );
                Repetition::Each(Kind::Text)
            }
            _ => {
                let map = self.tried(names, Kind::NumberMap, true);
                let _ = writeln!(
                    text,
                    "  for_each = try({{ for key, it in {map} : key => tonumber(it) }}, {{ refused = 99 }})"
                );
                Repetition::Each(Kind::Number)
            }
        }
    }

    fn resource(&mut self, text: &mut String, names: &mut Vec<Known>, name: &str) {
        let kind = *self.random.one_of(&KINDS);
        let _ = writeln!(text, "resource \"terraform_data\" \"{name}\" {{");
        let repetition = self.repetition(text, names);
        let inside = repetition.inside(names);
        let input = self.tried(&inside, kind, false);
        let _ = writeln!(text, "  input = {input}");
        if self.random.percent(20) {
            let trigger = self.tried(&inside, Kind::Text, false);
            let _ = writeln!(text, "  triggers_replace = [{trigger}]");
        }
        if self.random.percent(15) {
            // Terraform wants a condition to refer to something.
            let condition = self.tried(&inside, Kind::Bool, false);
            let _ = writeln!(
                text,
                "  lifecycle {{\n    precondition {{\n      condition = try(tobool({condition}), false) || var.x0 == null || true\n      error_message = \"never\"\n    }}\n  }}"
            );
        }
        let _ = writeln!(text, "}}");
        self.know(names, &repetition, &format!("terraform_data.{name}"), "output", kind);
    }

    fn call(&mut self, text: &mut String, names: &mut Vec<Known>, folder: &str, levels: usize, name: &str) {
        let called = self.module(&format!("{folder}/{name}"), levels - 1, false);
        let _ = writeln!(text, "module \"{name}\" {{\n  source = \"./{name}\"");
        let repetition = self.repetition(text, names);
        let inside = repetition.inside(names);
        for (variable, kind, optional) in &called.variables {
            if *optional && self.random.percent(30) {
                continue;
            }
            let argument = match kind {
                // What can be converted will do as well.
                Kind::Text if self.random.percent(20) => self.tried(&inside, Kind::Number, false),
                kind => self.tried(&inside, *kind, false),
            };
            let _ = writeln!(text, "  {variable} = {}", convertible(*kind, &argument));
        }
        let _ = writeln!(text, "}}");
        for (output, kind) in &called.outputs {
            self.know(names, &repetition, &format!("module.{name}"), output, *kind);
        }
    }

    /// Adds the ways in which an attribute of something can be named.
    fn know(
        &mut self,
        names: &mut Vec<Known>,
        repetition: &Repetition,
        subject: &str,
        attribute: &str,
        kind: Kind,
    ) {
        let mut know = |text: String, kind: Kind| names.push(Known { text, kind, at_plan: false });
        let (list, map) = match kind {
            Kind::Number => (Some(Kind::Numbers), Some(Kind::NumberMap)),
            Kind::Text => (Some(Kind::Texts), Some(Kind::TextMap)),
            Kind::Object => (Some(Kind::Objects), None),
            _ => (None, None),
        };
        match repetition {
            Repetition::None => know(format!("{subject}.{attribute}"), kind),
            Repetition::Count => {
                know(format!("{subject}[0].{attribute}"), kind);
                know(format!("one(slice({subject}[*].{attribute}, 0, 1))"), kind);
                list.into_iter().for_each(|list| know(format!("{subject}[*].{attribute}"), list));
                list.into_iter()
                    .for_each(|list| know(format!("[for it in {subject} : it.{attribute}]"), list));
            }
            Repetition::Each(_) => {
                know(format!("{subject}[\"a\"].{attribute}"), kind);
                know(format!("values({subject})[0].{attribute}"), kind);
                know(format!("keys({subject})"), Kind::Texts);
                list.into_iter()
                    .for_each(|list| know(format!("[for key, it in {subject} : it.{attribute}]"), list));
                map.into_iter().for_each(|map| {
                    know(format!("{{ for key, it in {subject} : key => it.{attribute} }}"), map);
                });
            }
        }
    }

    fn outputs(&mut self, text: &mut String, names: &[Known], outermost: bool) -> Vec<(String, Kind)> {
        let mut found = Vec::new();
        for number in 0..1 + self.random.below(3) {
            let (name, kind) = (format!("o{number}"), *self.random.one_of(&KINDS));
            let value = self.tried(names, kind, false);
            let _ = writeln!(text, "output \"{name}\" {{\n  value = {value}\n}}");
            found.push((name, kind));
        }
        if outermost {
            let all: String =
                names.iter().map(|name| format!("    try({}, \"refused\"),\n", name.text)).collect();
            let _ = writeln!(text, "output \"all\" {{\n  value = [\n{all}  ]\n}}");
        }
        found
    }
}

enum Repetition {
    None,
    Count,
    /// With values of a kind.
    Each(Kind),
}

impl Repetition {
    /// The names that are known inside what is repeated.
    fn inside(&self, names: &[Known]) -> Vec<Known> {
        let mut names = names.to_vec();
        let mut know =
            |text: &str, kind: Kind| names.push(Known { text: text.to_owned(), kind, at_plan: true });
        match self {
            Repetition::None => {}
            Repetition::Count => know("count.index", Kind::Number),
            Repetition::Each(value) => {
                know("each.key", Kind::Text);
                know("each.value", *value);
            }
        }
        names
    }
}

/// Leaves of another kind than wanted would not fit the variable.
fn safe_default(kind: Kind, default: String) -> String {
    let fits = match kind {
        Kind::Number => default.parse::<f64>().is_ok(),
        Kind::Text => default.starts_with('"'),
        Kind::Bool => default == "true" || default == "false",
        Kind::Texts | Kind::Numbers | Kind::Objects => default == "[]",
        Kind::TextMap | Kind::NumberMap => default == "{}" || default.starts_with("{ a = 1, b = 2"),
        Kind::Object => default.starts_with("{ a = 1, b = \"o\""),
    };
    if fits { default } else { fallback(kind).to_owned() }
}

/// What fits a kind.
fn fallback(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "42",
        Kind::Text => "\"text\"",
        Kind::Bool => "true",
        Kind::Texts => "[\"one\", \"two\"]",
        Kind::Numbers => "[1, 2]",
        Kind::TextMap => "{ a = \"1\" }",
        Kind::NumberMap => "{ a = 1 }",
        Kind::Object => "{ b = \"given\" }",
        Kind::Objects => "[{ a = 1, b = \"g\", c = [] }]",
    }
}

/// An argument that a variable of a kind takes, whatever became of it.
fn convertible(kind: Kind, argument: &str) -> String {
    let fallback = fallback(kind);
    match kind {
        Kind::Number => format!("try(tonumber({argument}), {fallback})"),
        Kind::Text => format!("try(tostring({argument}), {fallback})"),
        Kind::Bool => format!("try(tobool({argument}), {fallback})"),
        Kind::Texts => format!("try([for it in {argument} : tostring(it)], {fallback})"),
        Kind::Numbers => format!("try([for it in {argument} : tonumber(it)], {fallback})"),
        Kind::TextMap => format!("try({{ for key, it in {argument} : key => tostring(it) }}, {fallback})"),
        Kind::NumberMap => format!("try({{ for key, it in {argument} : key => tonumber(it) }}, {fallback})"),
        // Named once: to say it three times would make the text grow with each level.
        Kind::Object => format!(
            "try([for it in [{argument}] : {{ a = tonumber(it.a), b = tostring(it.b), c = [for c in it.c : tostring(c)] }}][0], {fallback})"
        ),
        Kind::Objects => format!(
            "try([for it in {argument} : {{ a = tonumber(it.a), b = tostring(it.b), c = [for c in it.c : tostring(c)] }}], {fallback})"
        ),
    }
}
