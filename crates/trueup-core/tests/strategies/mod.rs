//! Random values, types, paths and addresses.
#![allow(dead_code, reason = "each test file uses its part")]

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use trueup_core::{
    Address, InstanceKey, ModulePath, ModuleStep, Number, ObjectType, Path, SourceMap, Step, Type, Value,
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
