//! The pages of providers: each type with what it takes, what it gives, and how it is recovered.

use std::fmt::Write;

use trueup_core::schema::{Attribute, Block, Presence, Shape};
use trueup_core::{Failure, Type, Value};
use trueup_engine::describe_attempt;
use trueup_front_end::GeneratedFile;
use trueup_provider::{Provider, Recovery, Registry, ResourceHandler};

use super::notice;
use crate::failure::{CommandError, CommandResult};
use crate::render::natural;
use crate::render::schema::{conditions, facts, inner, nesting, rule};

/// A page for each provider.
pub(crate) async fn provider_pages(program: &str, registry: &Registry) -> CommandResult<Vec<GeneratedFile>> {
    let mut pages = Vec::new();
    for provider in registry.providers() {
        let name = provider.name();
        let text = provider_page(program, &**provider).await.map_err(|failure| {
            CommandError::from(describe_attempt(&format!("load the provider {name}"), failure))
        })?;
        pages.push(GeneratedFile { path: format!("providers/{name}.md").into(), text });
    }
    Ok(pages)
}

async fn provider_page(program: &str, provider: &dyn Provider) -> Result<String, Failure> {
    let mut text = notice(program);
    push(&mut text, &format!("# Provider `{}`\n\n", provider.name()));
    let config = provider.config_schema().await?;
    if config.names().next().is_some() {
        push(&mut text, &format!("`provider \"{}\" {{ … }}` takes:\n\n", provider.name()));
        push_block(&config, 0, &mut text);
        push(&mut text, "\n");
    }
    let mut types = provider.resource_types().await?;
    types.sort_by(|left, right| natural::compare(left, right));
    for name in &types {
        if let Some(handler) = provider.resource(name).await? {
            let schema = handler.schema();
            push(&mut text, &format!("## resource `{name}`\n\n{}\n\n", about(&schema.inputs)));
            push(&mut text, &format!("{}\n\n", behaviour(&*handler)));
            push_sides(&schema.inputs, &schema.outputs, &mut text);
        }
    }
    let mut types = provider.data_source_types().await?;
    types.sort_by(|left, right| natural::compare(left, right));
    for name in &types {
        if let Some(handler) = provider.data_source(name).await? {
            push(&mut text, &format!("## data `{name}`\n\n{}\n\n", about(handler.inputs())));
            push_sides(handler.inputs(), handler.outputs(), &mut text);
        }
    }
    Ok(text.trim_end().to_owned() + "\n")
}

/// What a type is for. Its own headings stand below that of the type.
fn about(inputs: &Block) -> String {
    let lines = inputs.doc.trim().lines().map(|line| match line.starts_with('#') {
        true => format!("##{line}\n"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a reader should know beyond the fields.
fn behaviour(handler: &dyn ResourceHandler) -> String {
    let recovery = match handler.recovery(&least(&handler.schema().inputs)) {
        Recovery::Lookup => "*lookup*: the next run looks for the object",
        Recovery::Token => "*token*: the next run repeats the create, which is then the same create",
        Recovery::Blind => "*blind*: the next run stops, and a person has to say what became of it",
    };
    let mut told = format!("Recovery class, for a create with an unknown outcome: {recovery}");
    if handler.schema().inputs.attributes.contains_key("recover") {
        told.push_str(", unless the inputs say otherwise (`recover`)");
    }
    told.push('.');
    if handler.traits().delete_first {
        told.push_str(" A replacement deletes the old object first.");
    }
    let _ = write!(told, " Schema version {}.", handler.schema().version);
    told
}

fn push_sides(inputs: &Block, outputs: &Block, text: &mut String) {
    for (title, block) in [("Inputs", inputs), ("Outputs", outputs)] {
        if block.names().next().is_some() {
            push(text, &format!("**{title}**\n\n"));
            push_block(block, 0, text);
            push(text, "\n");
        }
    }
}

fn push_block(block: &Block, depth: usize, text: &mut String) {
    let space = "  ".repeat(depth);
    for (name, attribute) in &block.attributes {
        push(text, &format!("{space}- `{name}` ({})", facts(attribute).join(", ")));
        push(text, &sentence(attribute));
        if let Some(inner) = inner(&attribute.shape) {
            push_block(inner, depth + 1, text);
        }
    }
    for (name, nested) in &block.blocks {
        push(text, &format!("{space}- `{name}` ({}): {}\n", nesting(nested), flowing(&nested.block.doc)));
        push_block(&nested.block, depth + 1, text);
    }
    for between in &block.rules {
        push(text, &format!("{space}- *Rule:* {}.\n", rule(between)));
    }
}

/// What is to be said of an attribute, on one line.
fn sentence(attribute: &Attribute) -> String {
    let mut told = String::new();
    if !attribute.doc.is_empty() {
        let _ = write!(told, ": {}", flowing(&attribute.doc));
    }
    let conditions: Vec<String> = conditions(attribute).iter().map(|text| quoted_pattern(text)).collect();
    if !conditions.is_empty() {
        let _ = write!(told, " *Constraint:* {}.", conditions.join("; "));
    }
    told + "\n"
}

fn quoted_pattern(condition: &str) -> String {
    match condition.split_once("matches ") {
        Some((before, pattern)) => format!("{before}matches `{pattern}`"),
        None => condition.to_owned(),
    }
}

fn flowing(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Inputs with nothing but what must be there.
fn least(block: &Block) -> Value {
    let required = block.attributes.iter().filter(|(_, it)| it.presence == Presence::Required);
    let given = Value::object(required.map(|(name, attribute)| (name.clone(), sample(&attribute.shape))));
    block.check(&given, "").value
}

fn sample(shape: &Shape) -> Value {
    match shape {
        Shape::Plain(Type::Bool) => false.into(),
        Shape::Plain(Type::Number) => 0.into(),
        Shape::Plain(Type::List(_) | Type::Tuple(_)) | Shape::List(_) => Value::list([]),
        Shape::Plain(Type::Set(_)) | Shape::Set(_) => Value::set([]),
        Shape::Plain(Type::Map(_) | Type::Object(_)) | Shape::Map(_) => Value::object::<&str>([]),
        Shape::Plain(Type::String | Type::Any) => "".into(),
        Shape::Object(block) => least(block),
    }
}

fn push(text: &mut String, more: &str) {
    text.push_str(more);
}
