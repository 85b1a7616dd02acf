//! The JSON Schema of each document that commands write with `--json`.
//!
//! The tables here are what the schemas are made from. Commands build their documents by themselves; the tests of the
//! command line hold each document that they see against its schema.

mod events;
mod parts;
mod plans;
mod programs;
mod providers;
mod shape;
mod states;

use serde_json::{Value as Json, json};
use trueup_front_end::GeneratedFile;

use shape::{Definitions, Field, Shape, members};

/// The dialect of the schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A document that a command writes.
struct Document {
    /// Its `kind`, which is also the name of its file.
    kind: &'static str,
    /// Its version, and the members after version and kind.
    form: Form,
    about: &'static str,
}

/// How a document looks from outside.
enum Form {
    /// An object with version and kind.
    Kind(u32, &'static [Field]),
    /// Bare data for scripts, without a version.
    Bare(Shape),
}

impl Document {
    fn schema(&self, definitions: &mut Definitions) -> Json {
        let (version, fields) = match &self.form {
            Form::Bare(shape) => return shape.schema(definitions),
            Form::Kind(version, fields) => (version, fields),
        };
        let mut schema = members(fields, definitions);
        schema["properties"]["version"] = json!({ "const": version });
        schema["properties"]["kind"] = json!({ "const": self.kind });
        let names = schema["required"].as_array().cloned().unwrap_or_default();
        schema["required"] = [json!("version"), json!("kind")].into_iter().chain(names).collect();
        schema
    }
}

/// All schemas, a file each.
pub(crate) fn schemas() -> Vec<GeneratedFile> {
    let documents = [plans::DOCUMENTS, states::DOCUMENTS, programs::DOCUMENTS, providers::DOCUMENTS];
    let schemas = documents.into_iter().flatten().map(|document| {
        let mut definitions = Definitions::new();
        let schema = document.schema(&mut definitions);
        file(document.kind, document.about, schema, &definitions)
    });
    let mut definitions = Definitions::new();
    let event = events::schema(&mut definitions);
    let event = file("event", "A step of a run, as it happens and in the history", event, &definitions);
    schemas.chain([event]).collect()
}

fn file(name: &str, about: &str, mut schema: Json, definitions: &Definitions) -> GeneratedFile {
    schema["$schema"] = DIALECT.into();
    schema["title"] = name.into();
    schema["description"] = about.into();
    if !definitions.is_empty() {
        schema["$defs"] = json!(definitions);
    }
    GeneratedFile { path: format!("json/{name}.json").into(), text: format!("{schema:#}\n") }
}
