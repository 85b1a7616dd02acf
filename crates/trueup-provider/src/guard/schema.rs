//! Whether answers match the schema that their provider declares.

use trueup_core::schema::Block;
use trueup_core::{Failure, FailureClass, Kind, Value, convert};

/// What is wrong with outputs that a provider answered, if anything.
pub(super) fn mismatch(block: &Block, outputs: &Value) -> Option<Failure> {
    let wrong = |what: String| {
        let message = format!("the provider's answer does not match its own schema: {what}");
        Some(
            Failure::new(FailureClass::Fatal, message)
                .hint("this is a mistake in the provider: report it there"),
        )
    };
    let (Kind::Object(entries) | Kind::Map(entries)) = outputs.kind() else {
        return wrong(format!("expected an object, found {}", outputs.kind_name()));
    };
    for (name, value) in entries.iter() {
        let ty = match (block.attributes.get(name), block.blocks.get(name)) {
            (Some(attribute), _) => attribute.shape.implied_type(),
            (None, Some(nested)) => nested.shape().implied_type(),
            (None, None) => return wrong(format!("it has no attribute `{name}`")),
        };
        if !value.is_wholly_known() {
            return wrong(format!("`{name}` is still unknown"));
        }
        if !value.is_null()
            && let Err(mismatches) = convert(value, &ty)
        {
            let told: Vec<String> = mismatches.into_iter().map(|it| it.message).collect();
            return wrong(format!("`{name}`: {}", told.join("; ")));
        }
    }
    None
}
