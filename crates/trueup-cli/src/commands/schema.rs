//! `schema`: what a resource type takes and gives.

use clap::Args;
use serde_json::json;
use trueup_core::schema::{Attribute, Block, Constraint, Nesting, Presence, Shape};
use trueup_provider::Registry;

use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::front_end::StateSettings;
use crate::render::natural;
use crate::session::Session;
use crate::ui::{Look, Meaning, padded, width, wrapped};

/// Show what a resource type or data source takes and gives
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup schema            (all types)\n  trueup schema std_file")]
pub(crate) struct SchemaArgs {
    /// The type, or `data.TYPE` for a data source; else all types are listed
    type_name: Option<String>,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &SchemaArgs) -> CommandResult {
    // Which types there are does not depend on where state is kept.
    let registry = &session.registry(&StateSettings::in_own_folder());
    let Some(type_name) = &args.type_name else { return list(session, registry, args).await };
    let (title, version, inputs, outputs) = match type_name.strip_prefix("data.") {
        Some(name) => {
            let handler = registry.data_source(name).await?;
            (format!("data source {name}"), None, handler.inputs().clone(), handler.outputs().clone())
        }
        None => {
            let handler = registry.resource(type_name).await?;
            let schema = handler.schema().clone();
            (format!("resource {type_name}"), Some(schema.version), schema.inputs, schema.outputs)
        }
    };
    if args.json.json {
        let told = json!({ "version": 1, "kind": "schema", "type": type_name, "schema_version": version, "inputs": block_json(&inputs), "outputs": block_json(&outputs) });
        session.ui.data(&told.to_string());
        return Ok(Exit::Done);
    }
    let look = session.ui.out();
    session.ui.data(&look.paint(Meaning::Strong, &title));
    if !inputs.doc.is_empty() {
        wrapped(&inputs.doc, look.columns).iter().for_each(|line| session.ui.data(line));
    }
    for (name, block) in [("inputs", &inputs), ("outputs", &outputs)] {
        if block.names().next().is_some() {
            session.ui.data(&format!("\n{name}"));
            block_lines(block, 2, look).iter().for_each(|line| session.ui.data(line));
        }
    }
    Ok(Exit::Done)
}

async fn list(session: &Session<'_>, registry: &Registry, args: &SchemaArgs) -> CommandResult {
    let mut types: Vec<String> = Vec::new();
    for provider in registry.providers() {
        let unloadable = |failure: trueup_core::Failure| {
            CommandError::plain(format!("cannot load the provider {}: {}", provider.name(), failure.message))
        };
        types.extend(provider.resource_types().await.map_err(unloadable)?.iter().map(ToString::to_string));
        let data = provider.data_source_types().await.map_err(unloadable)?;
        types.extend(data.iter().map(|name| format!("data.{name}")));
    }
    types.sort_by(|left, right| natural::compare(left, right));
    match args.json.json {
        true => session.ui.data(&json!({ "version": 1, "kind": "types", "types": types }).to_string()),
        false => types.iter().for_each(|name| session.ui.data(name)),
    }
    Ok(Exit::Done)
}

/// An attribute on a line of its own, what is to be said of it below.
fn block_lines(block: &Block, indent: usize, look: Look) -> Vec<String> {
    let column = block.names().map(width).max().unwrap_or(0);
    let space = " ".repeat(indent);
    let mut lines = Vec::new();
    for (name, attribute) in &block.attributes {
        let head = format!("{space}{}  {}", padded(name, column), facts(attribute).join(", "));
        lines.push(head);
        let about = [&attribute.doc].into_iter().cloned().chain(conditions(attribute));
        for text in about.filter(|text| !text.is_empty()) {
            let beside = " ".repeat(indent + column + 2);
            let room = look.columns.saturating_sub(width(&beside));
            lines.extend(
                wrapped(&text, room)
                    .into_iter()
                    .map(|line| look.paint(Meaning::Quiet, &format!("{beside}{line}"))),
            );
        }
        if let Some(inner) = inner(&attribute.shape) {
            lines.extend(block_lines(inner, indent + 4, look));
        }
    }
    for (name, nested) in &block.blocks {
        let nesting = match nested.nesting {
            Nesting::Single | Nesting::Group => "block",
            Nesting::List => "blocks, in order",
            Nesting::Set => "blocks, without order",
            Nesting::Map => "blocks, by label",
        };
        lines.push(format!("{space}{}  {nesting}", padded(name, column)));
        lines.extend(block_lines(&nested.block, indent + 4, look));
    }
    lines
}

fn inner(shape: &Shape) -> Option<&Block> {
    match shape {
        Shape::Plain(_) => None,
        Shape::Object(block) => Some(block),
        Shape::List(element) | Shape::Set(element) | Shape::Map(element) => inner(element),
    }
}

fn shape_name(shape: &Shape) -> String {
    match shape {
        Shape::Plain(ty) => ty.to_string(),
        Shape::Object(_) => "object".to_owned(),
        Shape::List(element) => format!("list({})", shape_name(element)),
        Shape::Set(element) => format!("set({})", shape_name(element)),
        Shape::Map(element) => format!("map({})", shape_name(element)),
    }
}

fn facts(attribute: &Attribute) -> Vec<String> {
    let mut facts = vec![shape_name(&attribute.shape)];
    facts.push(
        match attribute.presence {
            Presence::Required => "required",
            Presence::Optional => "optional",
            Presence::OptionalComputed => "optional, else set by the provider",
            Presence::Computed => "set by the provider",
        }
        .to_owned(),
    );
    if let Some(default) = &attribute.default {
        facts.push(format!("default {default}"));
    }
    let marks = [
        (attribute.secret, "secret"),
        (attribute.identity, "identity"),
        (attribute.replace, "forces replacement"),
        (attribute.volatile, "volatile"),
        (attribute.informational, "informational"),
        (attribute.create_only, "known from the create alone"),
        (attribute.stable, "stable"),
        (attribute.write_only, "never recorded"),
    ];
    facts.extend(marks.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()));
    if let Some(input) = &attribute.mirrors {
        facts.push(format!("repeats {input}"));
    }
    facts
}

fn conditions(attribute: &Attribute) -> Vec<String> {
    let mut told: Vec<String> = attribute.constraints.iter().map(condition).collect();
    told.extend(attribute.deprecated.iter().map(|why| format!("deprecated: {why}")));
    told
}

fn condition(constraint: &Constraint) -> String {
    let between = |min: Option<String>, max: Option<String>| match (min, max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any".to_owned(),
    };
    match constraint {
        Constraint::OneOf(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("one of {}", values.join(", "))
        }
        Constraint::Pattern(pattern) => format!("matches {}", pattern.as_str()),
        Constraint::Integer => "a whole number".to_owned(),
        Constraint::Range { min, max } => {
            between(min.as_ref().map(ToString::to_string), max.as_ref().map(ToString::to_string))
        }
        Constraint::Length { min, max } => {
            format!("length {}", between(min.map(|it| it.to_string()), max.map(|it| it.to_string())))
        }
        Constraint::NotNull => "not null".to_owned(),
        Constraint::Each(inner) => format!("each {}", condition(inner)),
    }
}

fn block_json(block: &Block) -> serde_json::Value {
    let attributes: serde_json::Map<String, serde_json::Value> = block
        .attributes
        .iter()
        .map(|(name, attribute)| {
            let told = json!({
                "type": attribute.shape.implied_type().to_string(),
                "required": attribute.presence == Presence::Required,
                "computed": matches!(attribute.presence, Presence::Computed | Presence::OptionalComputed),
                "doc": attribute.doc,
                "default": attribute.default.as_ref().map(ToString::to_string),
                "facts": facts(attribute),
                "conditions": conditions(attribute),
            });
            (name.to_string(), told)
        })
        .collect();
    let blocks: serde_json::Map<String, serde_json::Value> =
        block.blocks.iter().map(|(name, nested)| (name.to_string(), block_json(&nested.block))).collect();
    json!({ "doc": block.doc, "attributes": attributes, "blocks": blocks })
}
