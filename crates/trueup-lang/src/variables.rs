//! What people give a program: variables from the environment, from files and from the command line, in Terraform's
//! order of precedence, and what becomes of them.

use std::path::Path;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Marks, Origin, SourceMap, Type, Value};
use trueup_files::Accept;
use trueup_front_end::{GivenVariable, Variables};

use crate::declare::{Module, Variable, at, remark, suggest};
use crate::eval::{Constants, evaluate};
use crate::folder::{read_bounded, unreadable};
use crate::syntax::{parse_expression, parse_private_expression, parse_private_source};

/// A value that was given, and where.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    value: GivenValue,
    from: String,
}

#[derive(Clone, Debug)]
enum GivenValue {
    /// A text, which the variable's type explains.
    Text(String),
    /// A value.
    Value(Value),
}

/// The values of the root module's variables. Unless they are required, those without a value are unknown.
pub(crate) fn root_values(
    module: &Module,
    folder: &Path,
    stage: &str,
    given: &Variables,
    required: bool,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> IndexMap<SmolStr, Value> {
    let given = gather(module, folder, stage, given, sources, diagnostics);
    let mut values = IndexMap::new();
    for (name, variable) in &module.variables {
        if let Some(given) = given.get(name) {
            match given_value(variable, given, sources) {
                Ok(value) => {
                    values.insert(name.clone(), value);
                }
                Err(wrong) => {
                    diagnostics.extend(wrong);
                    // It was given, so it is not missing too.
                    values.insert(name.clone(), Value::unknown(variable.constraint.ty.clone()));
                }
            }
        } else if variable.default.is_none() && !required {
            values.insert(name.clone(), Value::unknown(variable.constraint.ty.clone()));
        } else if variable.default.is_none() {
            let summary = format!("the variable `{name}` has no value");
            let hint = format!(
                "give it with `--var {name}=…`, in terraform.tfvars or {STAGES}/{stage}.tfvars, or as TRUEUP_VAR_{name}; or give it a default"
            );
            diagnostics.push(at(variable.name.origin, summary).hint(hint));
            values.insert(name.clone(), Value::unknown(variable.constraint.ty.clone()));
        }
    }
    values
}

/// What the root module's variables are to validation, as in Terraform: of their types, and unknown, whatever is given and
/// whatever their defaults are.
pub(crate) fn unknown_values(module: &Module) -> IndexMap<SmolStr, Value> {
    let unknown = |variable: &Variable| Value::unknown(variable.constraint.ty.clone());
    module.variables.iter().map(|(name, variable)| (name.clone(), unknown(variable))).collect()
}

/// All that is given, later places before earlier ones.
fn gather(
    module: &Module,
    folder: &Path,
    stage: &str,
    given: &Variables,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> IndexMap<SmolStr, Given> {
    let mut found = IndexMap::new();
    for (name, text) in &given.environment {
        // The environment is shared with other programs: what is not declared here is none of our business.
        if module.variables.contains_key(name.as_str()) {
            let from = format!("the environment variable for `{name}`");
            found.insert(name.clone(), Given { value: GivenValue::Text(text.clone()), from });
        }
    }
    for file in automatic_files(folder, stage) {
        let bytes = read_bounded(&folder.join(&file), Accept::Regular);
        read_variables(bytes, &file, module, &mut found, sources, diagnostics);
    }
    for argument in &given.given {
        match argument {
            GivenVariable::Value { name, text } => {
                if !module.variables.contains_key(name.as_str()) {
                    let diagnostic = Diagnostic::error(format!("there is no variable `{name}` to set"));
                    let known = module.variables.keys().map(SmolStr::as_str);
                    diagnostics.push(suggest(diagnostic, name, known));
                    continue;
                }
                let from = format!("`--var {name}`");
                found.insert(name.clone(), Given { value: GivenValue::Text(text.clone()), from });
            }
            GivenVariable::File(path) => {
                let shown = path.display().to_string();
                let bytes = read_bounded(path, Accept::Stream);
                read_variables(bytes, &shown, module, &mut found, sources, diagnostics);
            }
        }
    }
    found
}

/// The folder of the files that belong to one stage each.
pub(crate) const STAGES: &str = "stages";

/// The files that are read without being asked for, in order.
fn automatic_files(folder: &Path, stage: &str) -> Vec<String> {
    let mut files: Vec<String> = ["terraform.tfvars", "terraform.tfvars.json"].map(str::to_owned).into();
    // Whatever is there is read or told of, be it a pipe.
    let is_there = |file: &String| folder.join(file).symlink_metadata().is_ok();
    files.retain(is_there);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut automatic: Vec<String> =
        names.filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json")).collect();
    automatic.sort();
    files.extend(automatic);
    // What a stage says of itself beats what holds for all.
    let of_stage = [format!("{STAGES}/{stage}.tfvars"), format!("{STAGES}/{stage}.tfvars.json")];
    files.extend(of_stage.into_iter().filter(is_there));
    files
}

fn read_variables(
    bytes: std::io::Result<Vec<u8>>,
    shown: &str,
    module: &Module,
    found: &mut IndexMap<SmolStr, Given>,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) {
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return diagnostics.push(unreadable(shown, &error)),
    };
    let parsed = parse_private_source(sources, shown, &bytes);
    let well_formed = !parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    for block in parsed.tree.blocks() {
        let summary = "a file of variables holds no blocks";
        diagnostics.push(at(block.header, summary).hint("write `name = value`"));
    }
    for attribute in parsed.tree.attributes() {
        let name = &attribute.name;
        let Some(variable) = module.variables.get(&name.text) else {
            // After a mistake in the syntax, any part of a value may look like a name.
            if well_formed {
                let diagnostic = remark(name.origin, format!("there is no variable `{}`", name.text));
                let known = module.variables.keys().map(SmolStr::as_str);
                diagnostics.push(suggest(diagnostic, &name.text, known));
            }
            continue;
        };
        if well_formed && !variable.is_private() {
            sources.disclose(attribute.origin);
        }
        let evaluated = evaluate(&attribute.value, &Constants::default());
        diagnostics.extend(tellable(variable, shown, attribute.value.origin, evaluated.diagnostics));
        let value = GivenValue::Value(evaluated.value);
        found.insert(name.text.clone(), Given { value, from: shown.to_owned() });
    }
}

/// What was given as a value of the variable's type.
fn given_value(variable: &Variable, given: &Given, sources: &mut SourceMap) -> Result<Value, Diagnostics> {
    let value = match &given.value {
        GivenValue::Value(value) => value.clone(),
        GivenValue::Text(text) => match &variable.constraint.ty {
            // Without a type, Terraform takes the text as it is; `any` that is written out is an expression.
            Type::String => Value::string(text.as_str()),
            Type::Any if !variable.is_typed => Value::string(text.as_str()),
            Type::Bool | Type::Number => Value::string(text.trim()),
            _ => {
                let expression = if variable.is_private() {
                    parse_private_expression(sources, &given.from, text)?
                } else {
                    let file = sources.add(given.from.as_str(), text.as_str());
                    parse_expression(text, file)?
                };
                let evaluated = evaluate(&expression, &Constants::default());
                if evaluated.diagnostics.has_errors() {
                    return Err(tellable(variable, &given.from, expression.origin, evaluated.diagnostics));
                }
                evaluated.value
            }
        },
    };
    converted(variable, &value).map_err(|wrong| {
        let name = &variable.name.text;
        let mut diagnostics = Diagnostics::new();
        for (message, origin) in wrong {
            let summary = format!("the variable `{name}` from {}: {message}", given.from);
            let mut diagnostic = Diagnostic::error(summary);
            diagnostic.origin = Some(origin.unwrap_or(variable.name.origin));
            diagnostics.push(diagnostic);
        }
        diagnostics
    })
}

/// Where a default comes from.
pub(crate) const ITS_DEFAULT: &str = "its default";

/// What is wrong with the expression that a variable was given, as far as that may be told: messages quote names.
pub(crate) fn tellable(
    variable: &Variable,
    from: &str,
    origin: Origin,
    diagnostics: Diagnostics,
) -> Diagnostics {
    if !variable.is_private() || diagnostics.is_empty() {
        return diagnostics;
    }
    let summary = format!("the variable `{}` from {from}: the value is not a constant", variable.name.text);
    let hidden = at(origin, summary).detail("the reason is not shown, because the variable is sensitive");
    hidden.hint("text stands in quotes").into()
}

/// Tells of defaults that are not what their variables must be, whether anything is given or not.
pub(crate) fn check_defaults(module: &Module, diagnostics: &mut Diagnostics) {
    for variable in module.variables.values() {
        let Some(default) = &variable.default else { continue };
        let evaluated = evaluate(default, &Constants::default());
        let name = &variable.name.text;
        if evaluated.value.is_null() && !variable.nullable && evaluated.diagnostics.is_empty() {
            diagnostics.push(at(default.origin, format!("the variable `{name}` must not be null")));
        }
        let sound = evaluated.diagnostics.is_empty();
        diagnostics.extend(tellable(variable, ITS_DEFAULT, default.origin, evaluated.diagnostics));
        let wrong = converted(variable, &evaluated.value).err().filter(|_| sound);
        for (message, origin) in wrong.into_iter().flatten() {
            let place = origin.unwrap_or(default.origin);
            diagnostics.push(at(place, format!("the variable `{name}`: {message}")));
        }
    }
}

/// The mark of what belongs to one run alone, if it does.
pub(crate) fn ephemeral_if(ephemeral: bool) -> Marks {
    if ephemeral { Marks::EPHEMERAL } else { Marks::NONE }
}

/// A value as one of the variable's type, marked as the variable is; or what is wrong with it, and where.
pub(crate) fn converted(variable: &Variable, value: &Value) -> Result<Value, Vec<(String, Option<Origin>)>> {
    // Marked first: what does not fit is told without the keys of a secret.
    let value = value.clone().into_secret_if(variable.sensitive);
    let value = value.with_marks(ephemeral_if(variable.ephemeral));
    variable.constraint.convert(&value).map_err(|mismatches| {
        let told = mismatches.into_iter().map(|it| {
            let place = if it.path.is_root() { String::new() } else { format!("at `{}`: ", it.path) };
            (format!("{place}{}", it.message), it.origin)
        });
        told.collect::<Vec<_>>()
    })
}
