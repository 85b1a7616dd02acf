//! Random values, types, paths and addresses.
#![allow(dead_code, reason = "each test file uses its part")]

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use trueup_core::{
    Address, Entries, InstanceKey, Kind, ModulePath, ModuleStep, Number, ObjectType, Path, SourceMap, Step,
    Type, Value,
};

pub(crate) fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", |float| Number::try_from(float).ok()),
        "-?[0-9]{1,40}(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?"
            .prop_filter_map("in bounds", |text| text.parse().ok()),
    ]
}

pub(crate) fn any_type() -> impl Strategy<Value = Type> {
    let plain = prop_oneof![Just(Type::Any), Just(Type::Bool), Just(Type::Number), Just(Type::String)];
    plain.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            vec(inner.clone(), 0..3).prop_map(Type::tuple),
            (btree_map(any_key(), inner, 0..3), any::<bool>()).prop_map(|(attributes, optional)| {
                let attributes: std::collections::BTreeMap<_, _> =
                    attributes.into_iter().map(|(key, ty)| (key.into(), ty)).collect();
                let optional = attributes.keys().take(usize::from(optional)).cloned().collect();
                Type::Object(ObjectType { attributes, optional }.into())
            }),
        ]
    })
}

pub(crate) fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z_][a-z0-9_-]{0,8}", 1 => "\\$[a-z]{0,6}", 1 => ".{0,6}"]
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::NULL),
        any::<bool>().prop_map(Value::from),
        any_number().prop_map(Value::number),
        ".{0,40}".prop_map(Value::from),
        any_type().prop_map(Value::unknown),
        ".{0,20}".prop_map(Value::sealed),
    ];
    let deep = plain.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::list),
            vec(inner.clone(), 0..5).prop_map(Value::set),
            btree_map(any_key(), inner.clone(), 0..5).prop_map(Value::map),
            btree_map(any_key(), inner.clone(), 0..5).prop_map(Value::object),
            inner.prop_map(Value::into_secret),
        ]
    });
    (deep, proptest::option::of((0u32..90, 0u32..90))).prop_map(|(value, origin)| match origin {
        Some((start, end)) => {
            let mut sources = SourceMap::new();
            let file = sources.add("main.tf", "");
            value.with_origin((file, start, end).into())
        }
        None => value,
    })
}

/// A value, and what a few small edits make of it: the two are mostly alike, and often mean the same.
pub(crate) fn edited_pair() -> impl Strategy<Value = (Value, Value)> {
    (any_value(), vec((any::<prop::sample::Index>(), any_edit()), 0..4)).prop_map(|(value, edits)| {
        let edited = edits.into_iter().fold(value.clone(), |value, (position, edit)| {
            let mut position = position.index(positions(&value));
            edited(&value, &mut position, &edit)
        });
        (value, edited)
    })
}

/// A small edit of one position.
#[derive(Clone, Debug)]
enum Edit {
    /// Takes the element or entry at an index out.
    Drop(prop::sample::Index),
    /// Puts an element or entry in.
    Insert(prop::sample::Index, String, Value),
    /// Puts an element in once more, with the other secret mark.
    Repeat(prop::sample::Index),
    /// Puts the elements in the opposite order.
    Reverse,
    /// Puts another value in the place.
    Replace(Value),
    /// Marks it secret, or takes the mark away.
    ToggleSecret,
    /// Makes it unknown.
    Conceal,
    /// Makes a map of an object, an object of a map.
    TurnMapAndObject,
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let at = any::<prop::sample::Index>;
    let plain = prop_oneof![Just(Value::NULL), any::<bool>().prop_map(Value::from), any_value()];
    prop_oneof![
        at().prop_map(Edit::Drop),
        (at(), any_key(), plain.clone()).prop_map(|(at, key, value)| Edit::Insert(at, key, value)),
        (at(), any_key()).prop_map(|(at, key)| Edit::Insert(at, key, Value::NULL)),
        at().prop_map(Edit::Repeat),
        Just(Edit::Reverse),
        plain.prop_map(Edit::Replace),
        Just(Edit::ToggleSecret),
        Just(Edit::Conceal),
        Just(Edit::TurnMapAndObject),
    ]
}

/// How many positions a value has, itself included.
fn positions(value: &Value) -> usize {
    1 + value.children().map(positions).sum::<usize>()
}

/// The value with the edit done at a position, counted from the outside in and from the first child to the last.
fn edited(value: &Value, position: &mut usize, edit: &Edit) -> Value {
    if *position == 0 {
        *position = usize::MAX;
        return edit.of(value);
    }
    *position -= 1;
    let mut child =
        |child: &Value| if *position == usize::MAX { child.clone() } else { edited(child, position, edit) };
    let content = match value.kind() {
        Kind::List(items) => Value::list(items.iter().map(child)),
        Kind::Set(items) => Value::set(items.iter().map(child)),
        Kind::Map(entries) => Value::map(entries.iter().map(|(key, value)| (key.clone(), child(value)))),
        Kind::Object(entries) => {
            Value::object(entries.iter().map(|(key, value)| (key.clone(), child(value))))
        }
        _ => value.clone(),
    };
    content.into_secret_if(value.is_secret())
}

impl Edit {
    fn of(&self, value: &Value) -> Value {
        let content = match (self, value.kind()) {
            (Edit::Replace(other), _) => return other.clone(),
            (Edit::ToggleSecret, _) => return toggled(value.clone()),
            (Edit::Conceal, _) => Value::unknown(Type::Any),
            (Edit::TurnMapAndObject, Kind::Map(entries)) => Value::object(pairs(entries)),
            (Edit::TurnMapAndObject, Kind::Object(entries)) => Value::map(pairs(entries)),
            (_, Kind::List(items)) => Value::list(self.of_items(items)),
            (_, Kind::Set(items)) => Value::set(self.of_items(items)),
            (_, Kind::Map(entries)) => Value::map(self.of_pairs(pairs(entries))),
            (_, Kind::Object(entries)) => Value::object(self.of_pairs(pairs(entries))),
            _ => value.clone(),
        };
        content.into_secret_if(value.is_secret())
    }

    fn of_items(&self, items: &[Value]) -> Vec<Value> {
        let mut items = items.to_vec();
        match self {
            Edit::Drop(at) if !items.is_empty() => {
                items.remove(at.index(items.len()));
            }
            Edit::Insert(at, _, value) => items.insert(at.index(items.len() + 1), value.clone()),
            Edit::Repeat(at) if !items.is_empty() => {
                let at = at.index(items.len());
                items.insert(at, toggled(items[at].clone()));
            }
            Edit::Reverse => items.reverse(),
            _ => {}
        }
        items
    }

    fn of_pairs(&self, mut pairs: Vec<(String, Value)>) -> Vec<(String, Value)> {
        match self {
            Edit::Drop(at) if !pairs.is_empty() => {
                pairs.remove(at.index(pairs.len()));
            }
            Edit::Insert(_, key, value) => pairs.push((key.clone(), value.clone())),
            Edit::Reverse => pairs.reverse(),
            _ => {}
        }
        pairs
    }
}

fn toggled(value: Value) -> Value {
    if value.is_secret() { value.reveal() } else { value.into_secret() }
}

fn pairs(entries: &Entries) -> Vec<(String, Value)> {
    entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect()
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![any_key().prop_map(Step::key), any::<u64>().prop_map(Step::Index), Just(Step::Any)]
}

pub(crate) fn any_path() -> impl Strategy<Value = Path> {
    vec(any_step(), 0..6).prop_map(|steps| steps.into_iter().collect())
}

fn any_instance_key() -> impl Strategy<Value = Option<InstanceKey>> {
    prop_oneof![
        Just(None),
        any::<u64>().prop_map(|index| Some(InstanceKey::Index(index))),
        ".{0,8}".prop_map(|key| Some(InstanceKey::Key(key.into()))),
    ]
}

pub(crate) fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z_][a-z0-9_-]{0,8}", 1 => Just("module".to_owned()), 1 => Just("data".to_owned()), 1 => "é[à-ü]{0,3}"]
}

pub(crate) fn any_address() -> impl Strategy<Value = Address> {
    let step = (any_name(), any_instance_key()).prop_map(|(name, key)| ModuleStep { name: name.into(), key });
    let parts = (vec(step, 0..3), any::<bool>(), any_name(), any_name(), any_instance_key());
    parts.prop_filter_map("types are not `module` or `data`", |(modules, data, type_name, name, key)| {
        let address =
            if data { Address::data(&type_name, &name) } else { Address::resource(&type_name, &name) };
        Some(address.ok()?.in_module(ModulePath::new(modules).ok()?).with_key(key))
    })
}
