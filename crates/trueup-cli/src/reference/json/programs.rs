//! What a program says and is made of, and the program `trueup` itself.

use super::parts::DIAGNOSTIC;
use super::shape::Shape::{
    ByName, Count, Itself, List, Object, OneOf, OrNull, Shared, Text, Truth, Type, Value,
};
use super::shape::{Definition, Shape, field, optional};
use super::{Document, Form};

pub(super) const DOCUMENTS: &[Document] = &[
    Document {
        kind: "validation",
        form: Form::Kind(
            1,
            &[
                field("valid", Truth, ""),
                optional("stack", Text, "Where it is valid"),
                optional("resources", Count, "How many are declared, where it is valid"),
                field("diagnostics", List(&Shared(&DIAGNOSTIC)), "All that is wrong"),
            ],
        ),
        about: "Whether a program is sound",
    },
    Document {
        kind: "error",
        form: Form::Kind(
            1,
            &[
                field("error", Text, "What is wrong, in a sentence"),
                field("diagnostics", List(&Shared(&DIAGNOSTIC)), "All that is wrong"),
                optional("reason", OneOf(REASONS), "Which trouble of the state or a lease it is"),
            ],
        ),
        about: "Why a command did not do what it was asked",
    },
    Document {
        kind: "outputs",
        form: Form::Bare(ByName(&Value)),
        about: "The outputs of a stack by name, as `output --json` writes them",
    },
    Document {
        kind: "outputs-terraform",
        form: Form::Bare(ByName(&OUTPUT)),
        about: "The outputs of a stack in Terraform's form, as `output -json` writes them",
    },
    Document {
        kind: "value",
        form: Form::Kind(2, &[field("value", Value, "")]),
        about: "What an expression comes to",
    },
    Document {
        kind: "graph",
        form: Form::Kind(
            1,
            &[field("nodes", List(&Text), "Addresses"), field("edges", List(&EDGE), "Who depends on whom")],
        ),
        about: "The dependencies of a program",
    },
    Document {
        kind: "types",
        form: Form::Kind(1, &[field("types", List(&Text), "")]),
        about: "The names of all types",
    },
    Document {
        kind: "schema",
        form: Form::Kind(
            1,
            &[
                field("type", Text, ""),
                field("schema_version", OrNull(&Count), "Null for a data source"),
                field("inputs", Shared(&BLOCK), ""),
                field("outputs", Shared(&BLOCK), ""),
            ],
        ),
        about: "The inputs and outputs of a type",
    },
    Document {
        kind: "config",
        form: Form::Kind(1, &[field("settings", ByName(&SETTING), "By name")]),
        about: "What is set, and where",
    },
    Document {
        kind: "version",
        form: Form::Kind(1, &[field("name", Text, "The program"), field("release", Text, "Its version")]),
        about: "Which program this is",
    },
];

const REASONS: &[&str] = &[
    "held",
    "state-moved",
    "superseded",
    "conflict",
    "state-unavailable",
    "state-damaged",
    "state-taken-away",
    "state-format",
    "key",
    "key-unavailable",
    "interrupted",
];

const OUTPUT: Shape = Object(&[
    field("sensitive", Truth, "Whether it is secret, as a whole or in part"),
    field("type", Type, "`dynamic` for a secret that is not shown"),
    optional("value", Value, "Left out for a secret, unless --show-secrets is given"),
]);

const EDGE: Shape = Object(&[field("from", Text, "The dependent"), field("to", Text, "What it depends on")]);

const SETTING: Shape = Object(&[field("value", Text, ""), field("from", Text, "Where it is set")]);

const BLOCK: Definition = Definition {
    name: "block",
    about: "Attributes and blocks of a type",
    shape: Object(&[
        field("doc", Text, ""),
        field("attributes", ByName(&ATTRIBUTE), "By name"),
        field("blocks", ByName(&Itself("block")), "By name"),
    ]),
};

const ATTRIBUTE: Shape = Object(&[
    field("type", Text, "In words"),
    field("required", Truth, ""),
    field("computed", Truth, "Whether the provider sets it"),
    field("doc", Text, ""),
    field("default", OrNull(&Text), "As it would be written"),
    field("facts", List(&Text), "What else to know, in words"),
    field("conditions", List(&Text), "What it must be, in words"),
]);
