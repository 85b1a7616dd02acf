//! Templates from files and texts: templatefile templatestring. The names in them are those of the given object and no
//! others.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, SourceMap, Type, Value, convert, is_identifier};

use super::filesystem::read_text;
use super::{Call, Function, Outcome, Problem, Returns, Wanted, any, function, param};
use crate::eval::{Environment, Reference, Resolved, Surroundings, evaluate_with};
use crate::syntax::parse_template;

pub(super) const FUNCTIONS: &[Function] = &[
    function("templatefile", &[param("path", Wanted::Text), any("vars")], Returns::Any, templatefile)
        .with_unknown()
        .with_secrets(),
    function(
        "templatestring",
        &[param("template", Wanted::Text), any("vars")],
        Returns::Text,
        templatestring,
    )
    .with_unknown()
    .with_secrets(),
];

fn templatefile(call: &Call<'_>) -> Outcome {
    if call.arguments[0].is_unknown() {
        return Ok(Value::unknown(Type::Any).with_marks(call.marks()));
    }
    let text = read_text(call, 0)?;
    render(call, call.text(0), &text)
}

fn templatestring(call: &Call<'_>) -> Outcome {
    if call.arguments[0].is_unknown() {
        return Ok(Value::unknown(Type::String).with_marks(call.marks()));
    }
    let rendered = render(call, "the template", call.text(0))?;
    convert(&rendered, &Type::String)
        .map_err(|_| Problem::at(0, format!("the template gives {}, not a text", rendered.kind_name())))
}

fn render(call: &Call<'_>, name: &str, text: &str) -> Outcome {
    let variables = &call.arguments[1];
    let marks = call.arguments[0].marks() | variables.marks();
    let Some(entries) = variables.as_entries() else {
        return match variables.is_unknown() {
            true => Ok(Value::unknown(Type::Any).with_marks(marks)),
            false => Err(Problem::at(1, format!("needs an object, found {}", variables.kind_name()))),
        };
    };
    if let Some(wrong) = entries.keys().find(|key| !is_identifier(key)) {
        return Err(Problem::at(1, format!("{} is no name for a variable", call.shown(wrong))));
    }
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let template = parse_template(text, file).map_err(|told| problem(name, text, &told))?;
    let names: Vec<(SmolStr, Value)> =
        entries.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let environment = TemplateEnvironment { outer: call.environment };
    let evaluated = evaluate_with(&template, &environment, &names);
    if evaluated.diagnostics.has_errors() {
        return Err(problem(name, text, &evaluated.diagnostics));
    }
    Ok(evaluated.value.with_marks(marks))
}

/// The template stands in no source that the caller's report knows, so its place is told in words.
fn problem(name: &str, text: &str, told: &Diagnostics) -> Problem {
    let Some(first) = told.iter().next() else { return Problem::at(0, "cannot be rendered") };
    let line = first
        .origin
        .and_then(|origin| text.get(..origin.start as usize))
        .map_or(1, |before| 1 + before.bytes().filter(|byte| *byte == b'\n').count());
    let mut problem = Problem::at(0, format!("{name}, line {line}: {}", first.summary));
    problem.hints.clone_from(&first.hints);
    problem
}

/// Knows no names but offers the same functions.
struct TemplateEnvironment<'a> {
    outer: &'a dyn Environment,
}

impl Environment for TemplateEnvironment<'_> {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let summary = format!("the template uses `{}`, which it is not given", reference.root);
        Err(Diagnostic::error(summary).hint("add it to the object in the second argument"))
    }

    fn surroundings(&self) -> &Surroundings {
        self.outer.surroundings()
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        self.outer.call(name, arguments)
    }

    fn has_function(&self, name: &str) -> bool {
        self.outer.has_function(name)
    }

    fn report_source(&self, value: &Value) {
        self.outer.report_source(value);
    }

    fn renders_template(&self) -> bool {
        true
    }
}
