//! What a client of the protocol has to reckon out around the calls: the state to propose to the provider, and whether
//! what it plans and does keeps to what the program wrote.
//!
//! Pure functions of blocks and complete values.

mod consistency;
mod proposal;
mod validity;

pub use consistency::inconsistencies;
pub(crate) use consistency::settled;
pub(crate) use proposal::proposed;
pub use validity::violations;

use trueup_core::schema::{Attribute, Block, Presence, Shape};
use trueup_core::{Entries, Kind, Path, Step, Value};

/// Something a provider did that it may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub path: Path,
    /// What is wrong there. Never holds a secret.
    pub message: String,
}

impl Violation {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Violation { path: path.clone(), message: message.into() }
    }
}

/// Whether the provider may decide the value.
fn is_computed(attribute: &Attribute) -> bool {
    matches!(attribute.presence, Presence::Computed | Presence::OptionalComputed)
}

/// What stands where nothing does.
static NULL: Value = Value::NULL;

fn entry<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.as_entries().and_then(|entries| entries.get(name)).unwrap_or(&NULL)
}

/// Whether a value of one element could have come from what the program wrote: equal but for what the provider decides.
fn fits(block: &Block, written: &Value, value: &Value) -> bool {
    if written.is_unknown() || written.is_null() || value.is_null() {
        return written.is_unknown() || (written.is_null() && value.is_null());
    }
    let attributes = block.attributes.iter().all(|(name, attribute)| {
        let (written, value) = (entry(written, name), entry(value, name));
        if attribute.write_only || (written.is_null() && is_computed(attribute)) {
            return true;
        }
        fits_shape(&attribute.shape, written, value)
    });
    let nested = block
        .blocks
        .iter()
        .all(|(name, nested)| fits_shape(&nested.shape(), entry(written, name), entry(value, name)));
    attributes && nested
}

fn fits_shape(shape: &Shape, written: &Value, value: &Value) -> bool {
    match (shape, written.kind(), value.kind()) {
        (_, Kind::Unknown(_), _) => true,
        (Shape::Object(block), ..) => fits(block, written, value),
        (Shape::List(element), Kind::List(writtens), Kind::List(items)) => {
            writtens.len() == items.len()
                && writtens.iter().zip(items.iter()).all(|(written, item)| fits_shape(element, written, item))
        }
        // Elements have no identity, and one may fit several: Terraform too asks only that each has one that fits.
        (Shape::Set(element), Kind::Set(writtens), Kind::Set(items)) => {
            let fits = |written: &Value, item: &Value| fits_shape(element, written, item);
            writtens.len() == items.len()
                && writtens.iter().all(|written| items.iter().any(|item| fits(written, item)))
                && items.iter().all(|item| writtens.iter().any(|written| fits(written, item)))
        }
        (Shape::Map(element), Kind::Map(writtens), Kind::Map(items)) => {
            writtens.len() == items.len()
                && writtens.iter().all(|(key, written)| {
                    items.get(key).is_some_and(|item| fits_shape(element, written, item))
                })
        }
        _ => written.same(value),
    }
}

fn keys_of(entries: &Entries) -> impl Iterator<Item = Step> {
    entries.keys().map(|key| Step::Key(key.clone()))
}
