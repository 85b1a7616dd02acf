//! The types of the provider: together they have every form that a schema can have.

use std::collections::BTreeMap;

use prost::Message;
use trueup_terraform::Version;
use trueup_terraform::protocol::tfplugin6::nested_block::Nesting;
use trueup_terraform::protocol::tfplugin6::object::Nesting as ObjectNesting;
use trueup_terraform::protocol::tfplugin6::{Attribute, Block, NestedBlock, Object, Schema};
use trueup_terraform::protocol::{Function, IdentitySchema, function, identity_schema, tfplugin5};

/// Who sets an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Required,
    Optional,
    Either,
    Provider,
}

fn attribute(name: &str, ty: &str, by: By) -> Attribute {
    Attribute {
        name: name.to_owned(),
        r#type: ty.as_bytes().to_vec(),
        required: by == By::Required,
        optional: matches!(by, By::Optional | By::Either),
        computed: matches!(by, By::Either | By::Provider),
        ..Attribute::default()
    }
}

fn object(name: &str, nesting: ObjectNesting, by: By, attributes: Vec<Attribute>) -> Attribute {
    Attribute {
        nested_type: Some(Object { attributes, nesting: nesting.into() }),
        r#type: Vec::new(),
        ..attribute(name, "", by)
    }
}

fn block(
    name: &str,
    nesting: Nesting,
    attributes: Vec<Attribute>,
    block_types: Vec<NestedBlock>,
) -> NestedBlock {
    let block = Some(Block { attributes, block_types, ..Block::default() });
    NestedBlock { type_name: name.to_owned(), block, nesting: nesting.into(), min_items: 0, max_items: 0 }
}

fn schema(version: i64, attributes: Vec<Attribute>, block_types: Vec<NestedBlock>) -> Schema {
    Schema { version, block: Some(Block { attributes, block_types, ..Block::default() }) }
}

const STRING: &str = r#""string""#;
const NUMBER: &str = r#""number""#;
const BOOL: &str = r#""bool""#;
const DYNAMIC: &str = r#""dynamic""#;

/// What every resource has: its name, which replaces it when it changes; its id; how often it was changed; and what
/// should go wrong with it.
fn common() -> Vec<Attribute> {
    vec![
        attribute("name", STRING, By::Required),
        attribute("id", STRING, By::Provider),
        attribute("serial", NUMBER, By::Provider),
        attribute("trouble", STRING, By::Optional),
    ]
}

/// What the elements of every nested structure have.
fn element() -> Vec<Attribute> {
    vec![
        attribute("key", STRING, By::Required),
        attribute("value", STRING, By::Optional),
        attribute("decided", STRING, By::Either),
    ]
}

/// The same, all of which the provider may decide.
fn decided() -> Vec<Attribute> {
    ["key", "value", "decided"].map(|name| attribute(name, STRING, By::Either)).into()
}

/// The configuration of the provider.
pub(crate) fn provider() -> Schema {
    let token = Attribute { sensitive: true, ..attribute("token", STRING, By::Optional) };
    let limits = block("limits", Nesting::List, vec![attribute("size_max", NUMBER, By::Optional)], vec![]);
    let attributes = vec![
        attribute("folder", STRING, By::Required),
        attribute("prefix", STRING, By::Optional),
        attribute("trouble", STRING, By::Optional),
        token,
    ];
    schema(0, attributes, vec![NestedBlock { max_items: 1, ..limits }])
}

/// What modules may tell of themselves.
pub(crate) fn meta() -> Schema {
    schema(0, vec![attribute("module_name", STRING, By::Optional)], vec![])
}

/// A plain thing: defaults by plan, sensitive and write-only attributes, maps, collections, numbers.
fn thing() -> Schema {
    let mut attributes = common();
    attributes.extend([
        attribute("size", NUMBER, By::Either),
        attribute("note", STRING, By::Optional),
        attribute("enabled", BOOL, By::Optional),
        attribute("tags", r#"["map","string"]"#, By::Optional),
        attribute("labels", r#"["set","string"]"#, By::Optional),
        attribute("steps", r#"["list","number"]"#, By::Optional),
        attribute("place", r#"["object",{"city":"string","floor":"number"}]"#, By::Optional),
        attribute("pair", r#"["tuple",["string","bool"]]"#, By::Optional),
        Attribute { sensitive: true, ..attribute("secret", STRING, By::Optional) },
        Attribute { write_only: true, ..attribute("password_wo", STRING, By::Optional) },
        attribute("password_version", NUMBER, By::Optional),
        attribute("password_length", NUMBER, By::Provider),
        Attribute { deprecated: true, ..attribute("old", STRING, By::Optional) },
    ]);
    schema(1, attributes, vec![])
}

/// The old type system of providers: its plans break the rules, and that is let pass. Programs may write `rules` as blocks,
/// since there is no type beside it that this system does not have.
fn legacy() -> Schema {
    let mut attributes = common();
    attributes.extend([
        attribute("size", NUMBER, By::Either),
        attribute("note", STRING, By::Optional),
        attribute("rules", r#"["set",["object",{"note":"string","port":"number"}]]"#, By::Either),
    ]);
    schema(1, attributes, vec![])
}

/// Blocks of every nesting, with blocks inside.
fn nest() -> Schema {
    let inner = || vec![block("inner", Nesting::List, element(), vec![])];
    let several = block("several", Nesting::List, element(), inner());
    schema(
        0,
        common(),
        vec![
            block("single", Nesting::Single, element(), inner()),
            block("group", Nesting::Group, vec![attribute("value", STRING, By::Either)], vec![]),
            NestedBlock { max_items: 5, ..several },
            block("unordered", Nesting::Set, element(), vec![]),
            block("labelled", Nesting::Map, element(), inner()),
        ],
    )
}

/// Nested attribute types of every nesting, which version 5 does not have.
fn tree() -> Schema {
    let mut attributes = common();
    let deep = || {
        let mut attributes = element();
        attributes.push(object("leaf", ObjectNesting::Single, By::Optional, element()));
        attributes
    };
    attributes.extend([
        object("one", ObjectNesting::Single, By::Optional, deep()),
        object("maybe", ObjectNesting::Single, By::Either, decided()),
        object("many", ObjectNesting::List, By::Optional, deep()),
        object("some", ObjectNesting::Set, By::Optional, element()),
        object("named", ObjectNesting::Map, By::Optional, deep()),
    ]);
    schema(0, attributes, vec![])
}

/// Values of any type, in attributes and in blocks.
fn open() -> Schema {
    let mut attributes = common();
    attributes.push(attribute("value", DYNAMIC, By::Optional));
    attributes.push(attribute("echo", DYNAMIC, By::Provider));
    let entry = || vec![attribute("key", STRING, By::Required), attribute("value", DYNAMIC, By::Optional)];
    schema(
        0,
        attributes,
        vec![block("entry", Nesting::List, entry(), vec![]), block("field", Nesting::Map, entry(), vec![])],
    )
}

/// The name of a type.
pub(crate) fn type_name(version: Version, kind: &str) -> String {
    match version {
        Version::V5 => format!("fixture5_{kind}"),
        Version::V6 => format!("fixture6_{kind}"),
    }
}

/// All resource types.
pub(crate) fn resources(version: Version) -> BTreeMap<String, Schema> {
    let mut kinds = vec![("thing", thing()), ("nest", nest()), ("open", open()), ("renamed", thing())];
    kinds.push(("legacy", legacy()));
    if version == Version::V6 {
        kinds.push(("tree", tree()));
    }
    kinds.into_iter().map(|(kind, schema)| (type_name(version, kind), schema)).collect()
}

/// All data sources: one that finds a thing by its name.
pub(crate) fn data(version: Version) -> BTreeMap<String, Schema> {
    let attributes = vec![
        attribute("name", STRING, By::Required),
        attribute("id", STRING, By::Provider),
        attribute("size", NUMBER, By::Provider),
        attribute("trouble", STRING, By::Optional),
    ];
    BTreeMap::from([(type_name(version, "thing"), schema(0, attributes, vec![]))])
}

/// All ephemeral resources: one that gives a ticket.
pub(crate) fn ephemeral(version: Version) -> BTreeMap<String, Schema> {
    let ticket = Attribute { sensitive: true, ..attribute("ticket", STRING, By::Provider) };
    let attributes = vec![
        attribute("purpose", STRING, By::Required),
        attribute("renew_in", NUMBER, By::Optional),
        attribute("trouble", STRING, By::Optional),
        attribute("serial", STRING, By::Provider),
        ticket,
    ];
    BTreeMap::from([(type_name(version, "ticket"), schema(0, attributes, vec![]))])
}

/// What identifies things: their name.
pub(crate) fn identities(version: Version) -> BTreeMap<String, IdentitySchema> {
    let name = identity_schema::Attribute {
        name: "name".to_owned(),
        r#type: STRING.as_bytes().to_vec().into(),
        required_for_import: true,
        ..identity_schema::Attribute::default()
    };
    let schema = IdentitySchema { version: 0, attributes: vec![name] };
    BTreeMap::from([(type_name(version, "thing"), schema)])
}

/// All functions.
pub(crate) fn functions() -> BTreeMap<String, Function> {
    let parameter = |name: &str, ty: &str| function::Parameter {
        name: name.to_owned(),
        r#type: ty.as_bytes().to_vec().into(),
        ..function::Parameter::default()
    };
    let gives = |ty: &str| Some(function::Return { r#type: ty.as_bytes().to_vec().into() });
    let reverse = Function {
        parameters: vec![parameter("text", STRING)],
        r#return: gives(STRING),
        ..Function::default()
    };
    let sum = Function {
        variadic_parameter: Some(parameter("numbers", NUMBER)),
        r#return: gives(NUMBER),
        ..Function::default()
    };
    let hang = Function {
        parameters: vec![parameter("pipe", STRING)],
        r#return: gives(STRING),
        ..Function::default()
    };
    BTreeMap::from([("hang".to_owned(), hang), ("reverse".to_owned(), reverse), ("sum".to_owned(), sum)])
}

/// A schema as the version sends it.
pub(crate) fn message(version: Version, schema: &Schema) -> Vec<u8> {
    match version {
        Version::V6 => schema.encode_to_vec(),
        Version::V5 => {
            let block = schema.block.clone().map(older_block);
            tfplugin5::Schema { version: schema.version, block }.encode_to_vec()
        }
    }
}

fn older_block(block: Block) -> tfplugin5::Block {
    let attributes = block.attributes.into_iter().map(|it| tfplugin5::Attribute {
        name: it.name,
        r#type: it.r#type,
        description: it.description,
        required: it.required,
        optional: it.optional,
        computed: it.computed,
        sensitive: it.sensitive,
        description_kind: it.description_kind,
        deprecated: it.deprecated,
        write_only: it.write_only,
    });
    let block_types = block.block_types.into_iter().map(|it| tfplugin5::NestedBlock {
        type_name: it.type_name,
        block: it.block.map(older_block),
        nesting: it.nesting,
        min_items: it.min_items,
        max_items: it.max_items,
    });
    tfplugin5::Block {
        attributes: attributes.collect(),
        block_types: block_types.collect(),
        ..tfplugin5::Block::default()
    }
}
