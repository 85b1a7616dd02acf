//! `schema`: what a resource type takes and gives.

use clap::Args;
use serde_json::json;
use trueup_core::Failure;
use trueup_core::schema::{Block, Presence};
use trueup_engine::describe_attempt;
use trueup_provider::Registry;

use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::schema::{conditions, facts, inner, nesting};
use crate::render::{natural, one_line};
use crate::session::Session;
use crate::stores::state_in_own_folder;
use crate::ui::{Look, Meaning, padded, prose, width, wrapped};

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
    // Which types there are does not depend on where state is kept, but on what the folder's program asks for.
    let providers = session.composition.front_end.load(&session.folder).providers;
    let registry = &session.registry(&state_in_own_folder(), &providers);
    // What the program's own name for the provider stands for; empty for the one that the type's name implies.
    let provider_of = |type_name: &str| {
        let local = type_name.split('_').next().unwrap_or(type_name);
        let required = providers.iter().find(|required| required.local == local && required.source.is_some());
        required.and_then(|required| Some(required.source.as_ref()?.name())).unwrap_or_default()
    };
    let Some(type_name) = &args.type_name else { return list(session, registry, args).await };
    let (title, version, inputs, outputs) = match type_name.strip_prefix("data.") {
        Some(name) => {
            let handler = registry.data_source_of(&provider_of(name), name).await?;
            (format!("data source {name}"), None, handler.inputs().clone(), handler.outputs().clone())
        }
        None => {
            let handler = registry.resource_of(&provider_of(type_name), type_name).await?;
            let schema = handler.schema().clone();
            (format!("resource {type_name}"), Some(schema.version), schema.inputs, schema.outputs)
        }
    };
    if args.json.json {
        let told = json!({ "version": 1, "kind": "schema", "type": type_name, "schema_version": version, "inputs": block_json(&inputs), "outputs": block_json(&outputs) });
        session.ui.json(&told);
        return Ok(Exit::Done);
    }
    let look = session.ui.out();
    session.ui.data(&look.paint(Meaning::Strong, &title));
    if !inputs.doc.is_empty() {
        prose(&inputs.doc, look.columns).iter().for_each(|line| session.ui.data(line));
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
        let unloadable = |failure: Failure| {
            CommandError::from(describe_attempt(&format!("load the provider {}", provider.name()), failure))
        };
        types.extend(provider.resource_types().await.map_err(unloadable)?.iter().map(ToString::to_string));
        let data = provider.data_source_types().await.map_err(unloadable)?;
        types.extend(data.iter().map(|name| format!("data.{name}")));
    }
    types.sort_by(|left, right| natural::compare(left, right));
    match args.json.json {
        true => session.ui.json(&json!({ "version": 1, "kind": "types", "types": types })),
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
        lines.push(format!("{space}{}  {}", padded(name, column), nesting(nested)));
        lines.extend(block_lines(&nested.block, indent + 4, look));
    }
    lines
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
                "default": attribute.default.as_ref().map(one_line),
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
