//! What a stack in Rust may know when it is declared: its stage, and variables.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use trueup_core::{Diagnostic, Diagnostics, Severity, Type, Value, nearest};
use trueup_front_end::{GivenVariable, Premise, PremiseKind, Variables};
use trueup_provider::Inputs;

/// What a stack is declared for.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// The stage.
    pub stage: String,
    /// By name; later ones take precedence.
    variables: Vec<(String, String)>,
    /// The names that the command line gave.
    given: Vec<String>,
    /// The variables that were asked for, with what was answered: a saved plan follows from those.
    asked: Arc<Mutex<BTreeMap<String, Option<String>>>>,
    /// What is worth a warning about variables.
    warnings: Arc<Mutex<Diagnostics>>,
}

impl Deployment {
    /// For a stage, with variables from the outside. Fails on files of variables, which only a language could read.
    pub(super) fn new(stage: &str, variables: &Variables) -> Result<Self, Diagnostics> {
        let environment = variables.environment.iter();
        let mut all: Vec<_> = environment.map(|(name, value)| (name.to_string(), value.clone())).collect();
        let mut names = Vec::new();
        for given in &variables.given {
            match given {
                GivenVariable::Value { name, text } => {
                    names.push(name.to_string());
                    all.push((name.to_string(), text.clone()));
                }
                GivenVariable::File(path) => {
                    let path = path.display();
                    let summary = format!("{path} cannot be read: a program in Rust takes no variable files");
                    return Err(Diagnostic::error(summary).hint("use --var NAME=VALUE").into());
                }
            }
        }
        Ok(Deployment {
            stage: stage.to_owned(),
            variables: all,
            given: names,
            asked: Arc::default(),
            warnings: Arc::default(),
        })
    }

    /// The value of a variable: `--var name=value`, else `TRUEUP_VAR_name`, else `TF_VAR_name`.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        if let Ok(mut asked) = self.asked.lock() {
            asked.insert(name.to_owned(), found.map(str::to_owned));
        }
        found
    }

    /// All variables of a stack at once: the fields of a struct that derives [`Inputs`], with its defaults and
    /// constraints. Texts are taken as they stand, everything else is written as JSON: `--var 'ports=[80, 443]'`.
    ///
    /// Fails with all that is missing or wrong.
    pub fn variables<V: Inputs<Injected = ()>>(&self) -> Result<V, Diagnostics> {
        let block = V::block();
        let mut diagnostics = Diagnostics::new();
        let mut written = Vec::new();
        for name in block.names() {
            let Some(text) = self.variable(name) else { continue };
            let attribute = block.attributes.get(name);
            let ty = attribute.map_or(Type::Any, |attribute| attribute.shape.implied_type());
            let is_text = attribute.is_some() && ty == Type::String;
            match if is_text { Ok(Value::string(text)) } else { Value::from_plain_json(text) } {
                Ok(value) => written.push((name.to_owned(), value)),
                Err(_) => {
                    // The text itself may be a secret.
                    let summary = format!("the variable `{name}` is not written as JSON");
                    let hint = format!("it is {ty}: write it like --var '{name}={}'", example(&ty));
                    diagnostics.push(Diagnostic::error(summary).hint(hint));
                    written.push((name.to_owned(), Value::unknown(ty)));
                }
            }
        }
        let checked = block.check(&Value::object(written), "the variables");
        for found in checked.diagnostics {
            match found.severity {
                Severity::Error => {
                    diagnostics.push(found.hint("give it with --var NAME=VALUE, or as TRUEUP_VAR_NAME"));
                }
                Severity::Warning => self.warn(found),
            }
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let value = block.with_defaults(&checked.value);
        V::decode(&value, ()).map_err(|error| Diagnostic::error(format!("a variable {error}")).into())
    }

    fn warn(&self, warning: Diagnostic) {
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.push(warning);
        }
    }

    /// The warnings so far.
    pub(super) fn warnings(&self) -> Diagnostics {
        self.warnings.lock().map(|warnings| warnings.clone()).unwrap_or_default()
    }

    /// What is wrong with variables of the command line: names that nobody asked for.
    pub(super) fn unasked(&self) -> Diagnostics {
        let asked = self.asked.lock().map(|asked| asked.clone()).unwrap_or_default();
        let mut diagnostics = Diagnostics::new();
        for name in self.given.iter().filter(|name| !asked.contains_key(*name)) {
            let hint = match nearest(name, asked.keys().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if asked.is_empty() => "it has no variables".to_owned(),
                None => format!(
                    "its variables are `{}`",
                    asked.keys().map(String::as_str).collect::<Vec<_>>().join("`, `")
                ),
            };
            let summary = format!("the program has no variable `{name}`");
            diagnostics.push(Diagnostic::error(summary).hint(hint));
        }
        diagnostics
    }

    /// What a program follows from because it asked for it.
    pub(super) fn premises(&self) -> Vec<Premise> {
        let asked = self.asked.lock().map(|asked| asked.clone()).unwrap_or_default();
        let premise = |(name, value): (String, Option<String>)| {
            // Not set is told from set to nothing.
            let content = value.map_or_else(Vec::new, |value| [b"=", value.as_bytes()].concat());
            Premise::of(PremiseKind::Variable, name, &content)
        };
        asked.into_iter().map(premise).collect()
    }
}

/// How a value of a type is written.
fn example(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "true",
        Type::Number => "5",
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => "[…]",
        Type::Any | Type::String | Type::Map(_) | Type::Object(_) => "{…}",
    }
}
