//! Addresses: the names by which people know resources, such as `module.net.std_file.readme["k"]`.
//!
//! An address is a shared pointer to its parts and their hash: the engine keeps many copies of each, and looks things up
//! by them all the time.

mod parse;
mod range;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

pub use parse::AddressError;
pub use range::AddressRange;

use crate::text::{Quoted, is_identifier};
use crate::value::Marks;

/// The address of one resource or data source instance.
#[derive(Clone)]
pub struct Address(Arc<Hashed>);

struct Hashed {
    hash: u64,
    parts: Parts,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Parts {
    module: ModulePath,
    mode: Mode,
    type_name: SmolStr,
    name: SmolStr,
    /// Boxed, as modules are shared, because most addresses have none and a stack has many addresses.
    key: Option<Box<InstanceKey>>,
}

/// What an address stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Something we manage.
    Resource,
    /// Something we only read: written `data.TYPE.NAME`.
    Data,
    /// Something that is opened for a run and closed at its end: written `ephemeral.TYPE.NAME`.
    Ephemeral,
}

impl Mode {
    /// What addresses of this mode begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Mode::Resource => "",
            Mode::Data => "data.",
            Mode::Ephemeral => "ephemeral.",
        }
    }

    /// The marks of all that things of this mode give.
    pub fn marks(self) -> Marks {
        match self {
            Mode::Resource | Mode::Data => Marks::NONE,
            Mode::Ephemeral => Marks::EPHEMERAL,
        }
    }
}

/// Which instance of several: by `count` or by `for_each`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InstanceKey {
    /// `[0]`
    Index(u64),
    /// `["key"]`
    Key(SmolStr),
}

/// The modules around a resource, outermost first; empty in the root module. A clone shares the contents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ModulePath(
    /// `None` in the root module, and there alone, so that paths compare as their steps do.
    Option<Arc<Vec<ModuleStep>>>,
);

/// One module call, or one instance of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleStep {
    /// The name of the call.
    pub name: SmolStr,
    /// The instance, if there are several.
    pub key: Option<InstanceKey>,
}

impl Address {
    /// The address of a resource in the root module. Fails if either part is not a name.
    pub fn resource(type_name: &str, name: &str) -> Result<Self, AddressError> {
        Self::new(ModulePath::ROOT, Mode::Resource, type_name, name, None)
    }

    /// The address of a data source in the root module. Fails if either part is not a name.
    pub fn data(type_name: &str, name: &str) -> Result<Self, AddressError> {
        Self::new(ModulePath::ROOT, Mode::Data, type_name, name, None)
    }

    /// The address of an ephemeral resource in the root module. Fails if either part is not a name.
    pub fn ephemeral(type_name: &str, name: &str) -> Result<Self, AddressError> {
        Self::new(ModulePath::ROOT, Mode::Ephemeral, type_name, name, None)
    }

    fn new(
        module: ModulePath,
        mode: Mode,
        type_name: &str,
        name: &str,
        key: Option<InstanceKey>,
    ) -> Result<Self, AddressError> {
        for part in [type_name, name] {
            if !is_identifier(part) {
                return Err(AddressError::not_a_name(part));
            }
        }
        Self::of_identifiers(module, mode, type_name, name, key)
    }

    /// The address with a type and a name that are known to be identifiers.
    fn of_identifiers(
        module: ModulePath,
        mode: Mode,
        type_name: &str,
        name: &str,
        key: Option<InstanceKey>,
    ) -> Result<Self, AddressError> {
        // `module.x.y`, `data.x.y` and `ephemeral.x.y` would read back as something else.
        if matches!(type_name, "module" | "data" | "ephemeral") {
            return Err(AddressError::not_a_name(type_name));
        }
        Ok(Self::of(Parts {
            module,
            mode,
            type_name: type_name.into(),
            name: name.into(),
            key: key.map(Box::new),
        }))
    }

    fn of(parts: Parts) -> Self {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        Address(Arc::new(Hashed { hash: hasher.finish(), parts }))
    }

    /// The same address inside a module.
    #[must_use]
    pub fn in_module(&self, module: ModulePath) -> Self {
        Self::of(Parts { module, ..self.0.parts.clone() })
    }

    /// The same address, of one instance or of all (`None`).
    #[must_use]
    pub fn with_key(&self, key: Option<InstanceKey>) -> Self {
        Self::of(Parts { key: key.map(Box::new), ..self.0.parts.clone() })
    }

    /// The modules around it.
    pub fn module(&self) -> &ModulePath {
        &self.0.parts.module
    }

    /// Whether it is managed, only read or opened for a run.
    pub fn mode(&self) -> Mode {
        self.0.parts.mode
    }

    /// The type, such as `std_file`.
    pub fn type_name(&self) -> &str {
        &self.0.parts.type_name
    }

    /// The name within its module.
    pub fn name(&self) -> &str {
        &self.0.parts.name
    }

    /// The instance, if there are several.
    pub fn key(&self) -> Option<&InstanceKey> {
        self.0.parts.key.as_deref()
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.parts == other.0.parts)
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.parts.cmp(&other.0.parts)
    }
}

impl ModulePath {
    /// The root module.
    pub const ROOT: ModulePath = ModulePath(None);

    /// A path from its steps, outermost first. Fails if one is not a name.
    pub fn new(steps: impl IntoIterator<Item = ModuleStep>) -> Result<Self, AddressError> {
        let steps: Vec<ModuleStep> = steps.into_iter().collect();
        match steps.iter().find(|step| !is_identifier(&step.name)) {
            Some(step) => Err(AddressError::not_a_name(&step.name)),
            None => Ok(Self::of(steps)),
        }
    }

    /// The path of steps that are names.
    fn of(steps: Vec<ModuleStep>) -> Self {
        ModulePath((!steps.is_empty()).then(|| Arc::new(steps)))
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[ModuleStep] {
        self.0.as_ref().map_or(&[], |steps| steps.as_slice())
    }

    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }

    /// Whether `other` is this module or lies inside it.
    pub fn contains(&self, other: &ModulePath) -> bool {
        other.steps().starts_with(self.steps())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { module, mode, type_name, name, key } = &self.0.parts;
        if !module.is_root() {
            write!(f, "{module}.")?;
        }
        // Piece by piece: each record, entry and event writes some.
        for piece in [mode.prefix(), type_name, ".", name] {
            f.write_str(piece)?;
        }
        key.as_ref().map_or(Ok(()), |key| key.fmt(f))
    }
}

impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, ModuleStep { name, key }) in self.steps().iter().enumerate() {
            let separator = if at == 0 { "" } else { "." };
            write!(f, "{separator}module.{name}")?;
            key.as_ref().map_or(Ok(()), |key| key.fmt(f))?;
        }
        Ok(())
    }
}

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceKey::Index(index) => write!(f, "[{index}]"),
            InstanceKey::Key(key) => write!(f, "[{}]", Quoted(key)),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

/// The text of an address, read where it stands.
struct Text;

impl Visitor<'_> for Text {
    type Value = Address;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an address")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Address, E> {
        text.parse().map_err(E::custom)
    }
}
