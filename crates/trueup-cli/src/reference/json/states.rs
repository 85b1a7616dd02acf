//! What is recorded: resources, stages, runs, keys.

use super::parts::{CI, HOLDER};
use super::plans::{PLAN, STEP};
use super::shape::Shape::{Count, List, Object, OneOf, OrNull, Shared, Text, Truth, Value, Whole};
use super::shape::{Definition, Shape, field, optional};
use super::{Document, Form};

pub(super) const DOCUMENTS: &[Document] = &[
    Document {
        kind: "records",
        form: Form::Kind(2, &[field("records", List(&RECORD), "")]),
        about: "Records of resources",
    },
    Document {
        kind: "list",
        form: Form::Kind(1, &[field("records", List(&LISTED), "")]),
        about: "What is recorded, in short",
    },
    Document {
        kind: "change",
        form: Form::Kind(
            1,
            &[field("change", Text, "What kind of change"), field("steps", List(&STEP), "What it came to")],
        ),
        about: "A change of the records by hand",
    },
    Document {
        kind: "migrated",
        form: Form::Kind(
            1,
            &[
                field("from", Text, "The old store"),
                field("to", Text, "The new one"),
                field("stages", List(&MOVED), "What was moved"),
            ],
        ),
        about: "State that was moved to another store",
    },
    Document {
        kind: "rekeyed",
        form: Form::Kind(
            1,
            &[
                field("key", OrNull(&Text), "The kind of the new key; null if no secrets are recorded"),
                field("records", Count, "How many records were sealed anew"),
                field("old_keys_kept", Truth, "Whether the journal still needs the old keys"),
            ],
        ),
        about: "Secrets that were sealed by a new key",
    },
    Document { kind: "forgotten", form: FORGOTTEN, about: "Secrets that were given up" },
    Document {
        kind: "stages",
        form: Form::Kind(1, &[field("stack", Text, ""), field("stages", List(&STAGE), "")]),
        about: "The stages of a stack",
    },
    Document {
        kind: "stage-deleted",
        form: Form::Kind(
            1,
            &[
                field("stack", Text, ""),
                field("stage", Text, ""),
                field("runs", Count, "How many runs of its history are gone"),
            ],
        ),
        about: "A stage that was deleted",
    },
    Document {
        kind: "key-made",
        form: Form::Kind(1, &[field("file", Text, "Where it is")]),
        about: "A new key file",
    },
    Document {
        kind: "history",
        form: Form::Kind(1, &[field("runs", List(&RUN), "The newest first")]),
        about: "The runs of a stage",
    },
    Document {
        kind: "unlocked",
        form: Form::Kind(1, &[field("holder", Shared(&HOLDER), "Who had it")]),
        about: "A lease that was taken away",
    },
    Document { kind: "import-state", form: IMPORTED, about: "A state of Terraform that was recorded" },
];

const RECORD: Shape = Object(&[
    field("id", Text, "Stays the same for the life of the record"),
    field("address", Text, ""),
    field("type", Text, ""),
    field("origin", Text, "The address under which it was created first"),
    field("provider", Text, "The configuration of its provider"),
    field("dependencies", List(&Text), "What it depends on"),
    field("protect", Truth, "Whether it is protected from deletion"),
    field("retain", Truth, "Whether its object stays when it is deleted"),
    field("current", OrNull(&Shared(&GENERATION)), "Its object; null if only older generations are left"),
    field("deposed", List(&Shared(&GENERATION)), "Older generations that are to be deleted"),
    optional("journal", List(&Text), "The steps that led to it, with `state show`"),
]);

const GENERATION: Definition = Definition {
    name: "generation",
    about: "One object of a resource",
    shape: Object(&[
        field("number", Count, "Counts replacements from 0"),
        field("status", OneOf(&["ready", "creating", "updating", "deleting"]), "What is known of it"),
        field("inputs", Value, "Null if they are not known"),
        field("outputs", Value, "Null before it was created"),
    ]),
};

const LISTED: Shape = Object(&[
    field("address", Text, ""),
    field("type", Text, ""),
    field("status", Text, "`ready`, or what is not finished"),
]);

const MOVED: Shape = Object(&[
    field("stage", Text, ""),
    field("records", Count, "How many resources"),
    field("runs", Count, "How many runs of the history"),
]);

const FORGOTTEN: Form = Form::Kind(
    1,
    &[
        field("stage", Text, ""),
        field(
            "resources",
            List(&Object(&[field("address", Text, ""), field("fields", List(&Text), "")])),
            "Fields of resources",
        ),
        field("outputs", List(&Text), "Outputs of the stack"),
        field("configurations", List(&Text), "Configurations of providers"),
        field("keyring", Truth, "Whether no key opened the keyring"),
    ],
);

const STAGE: Shape = Object(&[
    field("stage", Text, ""),
    field("current", Truth, "Whether commands mean it unless told otherwise"),
    field("records", Count, "How many resources"),
    field("last_run", OrNull(&LAST_RUN), "Null before the first"),
    field("holder", OrNull(&Shared(&HOLDER)), "Null if nobody holds it"),
    field("moved_to", OrNull(&Text), "The store to which it was moved"),
]);

/// How a run ended; one that is in flight or was killed is unfinished.
const OUTCOME: Shape = OneOf(&["succeeded", "failed", "unfinished"]);

const LAST_RUN: Shape = Object(&[
    field("run", Text, ""),
    field("started", Text, ""),
    field("started_ms", Count, "Milliseconds since 1970"),
    field("reason", Text, "What for, such as `deploy`"),
    field("outcome", OUTCOME, "How it ended"),
    field("ended", Text, "The same in words, with the number of operations"),
]);

const RUN: Shape = Object(&[
    field("run", Text, "The id of the run"),
    field("started", Text, "When"),
    field("started_ms", Count, "Milliseconds since 1970"),
    field("reason", Text, "What for, such as `deploy`"),
    field("outcome", OUTCOME, "How it ended"),
    field("ended", Text, "The same in words, with the number of operations"),
    field("operations", Count, "How many it completed"),
    field("user", OrNull(&Text), "Who started it"),
    field("host", OrNull(&Text), "Where"),
    field("command", OrNull(&Text), "How, without values of variables"),
    field("ci", OrNull(&Shared(&CI)), "By which CI job"),
]);

const IMPORTED: Form = Form::Kind(
    2,
    &[
        field(
            "resources",
            List(&Object(&[
                field("address", Text, ""),
                field("present", Truth, "Whether the state has its object"),
                field("tainted", Truth, "Whether it is to be replaced"),
                field("deposed", Count, "How many older objects it has"),
            ])),
            "",
        ),
        field("outputs", List(&Text), "Their names"),
        field("data_sources", Count, "How many are left out, because they are read anew"),
        optional("plan", Whole(&PLAN), "A plan on top of it, unless --no-plan was given"),
    ],
);
