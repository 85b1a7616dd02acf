//! Values: what programs declare, providers answer and state keeps.
//!
//! A [`Value`] is immutable and shares its contents, so a clone is O(1) whatever its size. Any position can be
//! *unknown* (a stand-in of some type until apply) and any position can be *secret*; a value may be both. One that is
//! *ephemeral* is secret, and belongs to one run: it is never recorded. A value also remembers where in the source it came from, for diagnostics only: origin takes no part in equality.
//!
//! There are two equalities. `==` is strict: it tells a map from an object, an absent attribute from a null one, a
//! secret from the same text in the open. Neither tells a list from a tuple, which is a list whose elements have types of
//! their own: only the language does, and wherever values are kept, schemas say which is meant. [`Value::same`] is the canonical one that planning uses (PLAN-6).

mod access;
mod compare;
mod diff;
mod entries;
mod json;
mod macros;
mod marks;
mod number;
mod reading;
mod refinement;
mod size;
mod text;
mod tuple;
mod written;

use std::sync::Arc;

use smol_str::SmolStr;

pub use diff::{Change, diff};
pub use entries::Entries;
pub use json::{JsonError, JsonForm, Notation, Origins, Secrets, read_json, recorded};
pub use marks::Marks;
pub use number::{Number, NumberError};
use refinement::Refined;
pub use refinement::Refinement;
pub use size::Excess;

use crate::source::Origin;
use crate::types::Type;

/// A value: its content, its marks, and where it came from.
#[derive(Clone)]
pub struct Value {
    content: Content,
    origin: Option<Origin>,
    marks: Marks,
    /// The marks of all positions inside this one, and whether one of them is unknown. Kept, because calls, plans and
    /// records ask for it far more often than values are built.
    inside: Marks,
    /// Of a list: whether each element has a type of its own.
    is_tuple: bool,
}

/// A content, and what is known of it while it is unknown.
#[derive(Clone)]
enum Content {
    Plain(Kind),
    Refined(Arc<Refined>),
}

/// What a value consists of.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Set to nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An exact decimal number.
    Number(Number),
    /// Text.
    String(SmolStr),
    /// Values in order.
    List(Arc<[Value]>),
    /// Values without order or repetition, held in canonical order.
    Set(Arc<[Value]>),
    /// Values of one type under free keys.
    Map(Entries),
    /// Values under the names of a structure.
    Object(Entries),
    /// Not known until apply; will be of this type.
    Unknown(Type),
}

impl Value {
    /// The null value.
    pub const NULL: Value = Value::plain(Kind::Null);

    /// The deepest nesting that programs and records may hold; deeper ones are refused where they come in.
    pub const DEPTH_MAX: usize = 100;

    /// A value without others inside.
    const fn plain(kind: Kind) -> Self {
        Value {
            content: Content::Plain(kind),
            origin: None,
            marks: Marks::NONE,
            inside: Marks::NONE,
            is_tuple: false,
        }
    }

    fn of(kind: Kind) -> Self {
        Value::NULL.with_kind(kind)
    }

    /// A number. Use `From` for integers; this one serves decimals.
    pub fn number(number: Number) -> Self {
        Value::plain(Kind::Number(number))
    }

    /// Text.
    pub fn string(text: impl Into<SmolStr>) -> Self {
        Value::plain(Kind::String(text.into()))
    }

    /// Values in order.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Value::of(Kind::List(items.into_iter().collect()))
    }

    /// Values without order. Equal ones are held once; those with unknown parts cannot be told apart yet and stay. Of
    /// those that differ in marks alone, one stays, with the marks of all.
    pub fn set(items: impl IntoIterator<Item = Value>) -> Self {
        let mut items: Vec<Value> = items.into_iter().collect();
        items.sort();
        items.dedup_by(|later, earlier| {
            if later == earlier || !earlier.is_wholly_known() {
                return earlier.is_wholly_known();
            }
            let marks = earlier.all_marks() | later.all_marks();
            let repeats = marks != Marks::NONE && later.without_marks() == earlier.without_marks();
            if repeats {
                earlier.marks |= marks.less(Marks::SEALED);
            }
            repeats
        });
        Value::of(Kind::Set(items.into()))
    }

    /// Values under free keys; of a repeated key the last counts.
    pub fn map<K: Into<SmolStr>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Value::of(Kind::Map(Entries::from_pairs(entries)))
    }

    /// Values under the names of a structure; of a repeated name the last counts.
    pub fn object<K: Into<SmolStr>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Value::of(Kind::Object(Entries::from_pairs(entries)))
    }

    /// A stand-in for a value of this type.
    pub fn unknown(ty: Type) -> Self {
        Value::plain(Kind::Unknown(ty))
    }

    /// A secret that is sealed: all that is known of it is a text, which says nothing without the key. Stores hold
    /// secrets so; whoever uses values has them opened first.
    pub fn sealed(text: impl Into<SmolStr>) -> Self {
        Value { marks: Marks::SEALED, ..Value::string(text) }
    }

    /// The same value, marked secret.
    #[must_use]
    pub fn into_secret(self) -> Self {
        self.into_secret_if(true)
    }

    /// The same value, marked secret if `secret` holds; never unmarks.
    #[must_use]
    pub fn into_secret_if(self, secret: bool) -> Self {
        if secret { self.with_marks(Marks::SECRET) } else { self }
    }

    /// The same value with these marks too. What is sealed is secret as it is.
    #[must_use]
    pub fn with_marks(mut self, marks: Marks) -> Self {
        if !self.is_sealed() {
            self.marks |= marks;
        }
        self
    }

    /// The same value without a mark at this position. For the few who must hand the value on, such as a provider's
    /// request; parts inside keep their own marks.
    #[must_use]
    pub fn reveal(mut self) -> Self {
        self.marks = Marks::NONE;
        self
    }

    /// The same value without any marks, for a computation whose result bears them instead. What is sealed stays so.
    #[must_use]
    pub fn without_marks(&self) -> Self {
        if !self.contains_secret() || self.is_sealed() {
            return self.clone();
        }
        let items = |items: &[Value]| items.iter().map(Value::without_marks).collect::<Vec<_>>();
        let entries = |entries: &Entries| {
            Entries::from_pairs(entries.iter().map(|(key, item)| (key.clone(), item.without_marks())))
        };
        let kind = match self.kind() {
            Kind::Unknown(_) => return self.clone().reveal(),
            Kind::List(inner) => Kind::List(items(inner).into()),
            Kind::Set(inner) => Value::set(items(inner)).kind().clone(),
            Kind::Map(inner) => Kind::Map(entries(inner)),
            Kind::Object(inner) => Kind::Object(entries(inner)),
            plain => plain.clone(),
        };
        self.with_kind(kind).into_tuple_if(self.is_tuple).reveal()
    }

    /// The same value with null wherever something ephemeral stands: what may be kept of it.
    #[must_use]
    pub fn without_ephemeral(&self) -> Self {
        if !self.all_marks().is_ephemeral() {
            return self.clone();
        }
        if self.marks.is_ephemeral() {
            let marks = self.marks.less(Marks::EPHEMERAL);
            return Value { origin: self.origin, marks, ..Value::NULL };
        }
        let items = |items: &[Value]| items.iter().map(Value::without_ephemeral).collect::<Vec<_>>();
        let entries = |entries: &Entries| {
            Entries::from_pairs(entries.iter().map(|(key, item)| (key.clone(), item.without_ephemeral())))
        };
        let kind = match self.kind() {
            Kind::List(inner) => Kind::List(items(inner).into()),
            Kind::Set(inner) => Value::set(items(inner)).kind().clone(),
            Kind::Map(inner) => Kind::Map(entries(inner)),
            Kind::Object(inner) => Kind::Object(entries(inner)),
            plain => plain.clone(),
        };
        self.with_kind(kind).into_tuple_if(self.is_tuple)
    }

    /// The same value, said to come from this place in the source.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Another content in this value's place: marks and origin stay.
    #[must_use]
    pub(crate) fn with_kind(&self, kind: Kind) -> Self {
        let value = Value { origin: self.origin, marks: self.marks, ..Value::plain(kind) };
        let inside = value.children().fold(Marks::NONE, |inside, child| inside | child.summary());
        Value { inside, ..value }
    }

    /// The content of another value in this value's place: marks and origin stay.
    #[must_use]
    pub(crate) fn with_content_of(&self, other: &Value) -> Self {
        Value { origin: self.origin, marks: self.marks, ..other.clone() }
    }

    /// All marks of this position and those inside, and whether one of them is unknown.
    fn summary(&self) -> Marks {
        let unknown = if self.is_unknown() { Marks::UNKNOWN } else { Marks::NONE };
        self.marks | self.inside | unknown
    }

    /// What the value consists of.
    #[inline]
    pub fn kind(&self) -> &Kind {
        match &self.content {
            Content::Plain(kind) => kind,
            Content::Refined(refined) => &refined.kind,
        }
    }

    /// The marks of this position.
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// The marks of all positions in the value.
    pub fn all_marks(&self) -> Marks {
        self.summary().less(Marks::UNKNOWN)
    }

    /// Whether this position must not be shown: it is secret, sealed or not, or ephemeral.
    pub fn is_secret(&self) -> bool {
        self.marks != Marks::NONE
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.marks == Marks::SEALED
    }

    /// The text of a sealed secret.
    pub fn as_sealed(&self) -> Option<&str> {
        self.as_str().filter(|_| self.is_sealed())
    }

    /// Where in the source the value came from.
    pub fn origin(&self) -> Option<Origin> {
        self.origin
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self.kind(), Kind::Null)
    }

    /// Whether this position itself is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self.kind(), Kind::Unknown(_))
    }

    /// Whether no position in the value is unknown.
    pub fn is_wholly_known(&self) -> bool {
        self.summary().less(Marks::ALL) == Marks::NONE
    }

    /// Whether any position in the value is secret.
    pub fn contains_secret(&self) -> bool {
        self.all_marks() != Marks::NONE
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self.kind() {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if this is a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind() {
            Kind::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self.kind() {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The elements of a list or set.
    pub fn as_items(&self) -> Option<&[Value]> {
        match self.kind() {
            Kind::List(items) | Kind::Set(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map or object.
    pub fn as_entries(&self) -> Option<&Entries> {
        match self.kind() {
            Kind::Map(entries) | Kind::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// What kind of value this is, with its article, for messages: "a string".
    pub fn kind_name(&self) -> &'static str {
        self.kind().name()
    }

    /// The texts that stand at secret positions, which no message may hold.
    pub fn secret_texts(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.collect_secret_texts(false, &mut found);
        found
    }

    fn collect_secret_texts<'a>(&'a self, inside_secret: bool, found: &mut Vec<&'a str>) {
        let secret = inside_secret || self.is_secret();
        if let (true, Kind::String(text)) = (secret, self.kind()) {
            found.push(text);
        }
        if let (true, Some(entries)) = (secret, self.as_entries()) {
            found.extend(entries.keys().map(SmolStr::as_str));
        }
        self.children().for_each(|child| child.collect_secret_texts(secret, found));
    }

    /// The values directly inside a list, set, map or object.
    pub fn children(&self) -> impl Iterator<Item = &Value> {
        let (items, entries): (&[Value], &[(SmolStr, Value)]) = match self.kind() {
            Kind::List(items) | Kind::Set(items) => (items, &[]),
            Kind::Map(entries) | Kind::Object(entries) => (&[], entries.as_slice()),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_) => (&[], &[]),
        };
        items.iter().chain(entries.iter().map(|(_, value)| value))
    }

    /// How deeply the value nests: 1 for a plain one.
    pub fn depth(&self) -> usize {
        1 + self.children().map(Value::depth).max().unwrap_or(0)
    }
}

impl Kind {
    /// What kind it is, with its article: "a string".
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool(_) => "a bool",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::List(_) => "a list",
            Kind::Set(_) => "a set",
            Kind::Map(_) => "a map",
            Kind::Object(_) => "an object",
            Kind::Unknown(_) => "an unknown value",
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::plain(Kind::Bool(truth))
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => {$(
        impl From<$int> for Value {
            fn from(int: $int) -> Self {
                Value::number(Number::from(int))
            }
        }
    )*};
}
from_integer!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::string(text)
    }
}

impl From<SmolStr> for Value {
    fn from(text: SmolStr) -> Self {
        Value::string(text)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Value::number(number)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(option: Option<T>) -> Self {
        option.map_or(Value::NULL, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Value::list(items.into_iter().map(Into::into))
    }
}

impl Default for Value {
    fn default() -> Self {
        Value::NULL
    }
}
