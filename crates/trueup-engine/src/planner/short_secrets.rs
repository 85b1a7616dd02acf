//! Warning of secrets that are too short to be searched for: what providers say may show them (SECRET-8).

use trueup_core::{Diagnostic, Diagnostics, Kind, Path, SECRET_LENGTH_MIN, Step, Value};

use crate::draft::Draft;
use crate::failures::located;

/// A warning for each resource that is given such a secret, at the first place where it is.
pub(super) fn short_secrets(draft: &Draft<'_>) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    for node in &draft.nodes {
        let Some(desired) = node.desired.as_ref().filter(|it| it.written.contains_secret()) else { continue };
        if let Some(path) = first_short(&desired.written, &Path::ROOT) {
            let summary = format!(
                "this secret is shorter than {SECRET_LENGTH_MIN} characters, too short to be scrubbed"
            );
            let warning = Diagnostic::warning(summary)
                .at(path, None)
                .hint("use a longer one: messages of the provider may show it");
            warnings.push(located(warning, &desired.written).about(node.address.to_string()));
        }
    }
    warnings
}

/// The first secret position with such a text or number in it.
fn first_short(value: &Value, path: &Path) -> Option<Path> {
    if value.is_secret() {
        return is_short(value).then(|| path.clone());
    }
    match value.kind() {
        Kind::List(items) => {
            let mut items = (0_u64..).zip(items.iter());
            items.find_map(|(at, item)| first_short(item, &path.join(Step::Index(at))))
        }
        Kind::Set(items) => items.iter().find_map(|item| first_short(item, &path.join(Step::Any))),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.iter().find_map(|(key, item)| first_short(item, &path.join(Step::Key(key.clone()))))
        }
        _ => None,
    }
}

/// Booleans and what is empty give nothing away.
fn is_short(secret: &Value) -> bool {
    let short = |length: usize| (1..SECRET_LENGTH_MIN).contains(&length);
    match secret.kind() {
        Kind::String(text) => short(text.trim().len()),
        Kind::Number(number) => short(number.to_string().len()),
        _ => secret.children().any(is_short),
    }
}
