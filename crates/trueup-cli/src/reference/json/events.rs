//! The schema of events: what all have in common, and the data of each.

use serde_json::{Value as Json, json};

use super::parts::{CI, FAILURE, HOLDER};
use super::shape::Shape::{ByName, Count, Exactly, List, Object, OneOf, OrNull, Shared, Text, Truth, Value};
use super::shape::{Definition, Definitions, Field, field, members, optional};
use trueup_engine::EVENT_VERSION;

const COMMON: &[Field] = &[
    field("version", Exactly(EVENT_VERSION), "The version of this form"),
    field("sequence", OrNull(&Count), "Counts from 0 within a run; null for what is no part of its history"),
    field("time_ms", Count, "Milliseconds since 1970"),
    field("stack", Text, ""),
    field("stage", Text, ""),
    field("run", Text, "The id of the run"),
    field("resource", OrNull(&Shared(&RESOURCE)), "What it is about; null for the run as a whole"),
    field("event", Text, "What happened"),
    field("data", ByName(&Value), "What there is to say of it"),
];

const RESOURCE: Definition = Definition {
    name: "resource",
    about: "A resource or data source",
    shape: Object(&[field("address", Text, ""), field("type", Text, "")]),
};

const DIFFERENCE: Definition = Definition {
    name: "difference",
    about: "A position at which two values differ",
    shape: Object(&[
        field("path", Text, "Where"),
        field("before", Value, "The earlier value; null if there was none"),
        field("after", Value, "The later value; null if there is none"),
    ]),
};

/// The data of each event.
const EVENTS: &[(&[&str], &[Field])] = &[
    (
        &["reconciler.run.started"],
        &[
            field("reason", Text, "What for, such as `deploy`"),
            optional("user", Text, "Who started it"),
            optional("host", Text, "Where"),
            optional("command", Text, "How, without values of variables"),
            optional("ci", Shared(&CI), "By which CI job"),
        ],
    ),
    (
        &["reconciler.run.waiting"],
        &[
            field("holder", Shared(&HOLDER), "Who holds the lease"),
            field("since_ms", Count, "Since when, in milliseconds since 1970"),
        ],
    ),
    (
        &["reconciler.deploy.decision"],
        &[
            field("decision", Text, "What happens to the resource"),
            field("diff", List(&Shared(&DIFFERENCE)), "Where it changes"),
            field("params", Value, "Its inputs"),
        ],
    ),
    (
        &["reconciler.drift.detected"],
        &[
            field("diff", List(&Shared(&DIFFERENCE)), "What changed outside"),
            field("gone", Truth, "Whether the object is gone"),
        ],
    ),
    (
        &[
            "reconciler.create.started",
            "reconciler.update.started",
            "reconciler.delete.started",
            "reconciler.read.started",
        ],
        &[
            field("diff", List(&Shared(&DIFFERENCE)), "Where the inputs change, for an update"),
            field("params", Value, "The inputs"),
        ],
    ),
    (
        &[
            "reconciler.create.completed",
            "reconciler.update.completed",
            "reconciler.delete.completed",
            "reconciler.read.completed",
            "reconciler.adopt.completed",
        ],
        &[field("outputs", Value, "The outputs; null after a delete")],
    ),
    (&["reconciler.operation.unchanged"], &[]),
    (&["reconciler.operation.progress"], &[field("doing", Text, "What is going on")]),
    (
        &["reconciler.operation.retry"],
        &[
            field("operation", OPERATION, ""),
            field("attempts", Count, "How many have failed"),
            field("wait_ms", Count, "How long until the next one"),
            field("error", Shared(&FAILURE), "Why the last one failed"),
        ],
    ),
    (
        &["reconciler.operation.failed"],
        &[field("operation", OPERATION, ""), field("error", Shared(&FAILURE), "Why")],
    ),
    (&["reconciler.operation.skipped"], &[field("cause", Text, "The address of what failed")]),
    (&["reconciler.run.finished"], &[field("succeeded", Truth, "")]),
];

const OPERATION: super::shape::Shape = OneOf(&["create", "update", "delete", "read"]);

/// The schema of an event.
pub(super) fn schema(definitions: &mut Definitions) -> Json {
    let mut schema = members(COMMON, definitions);
    let of_each = EVENTS.iter().map(|(names, fields)| {
        json!({ "properties": { "event": { "enum": names }, "data": members(fields, definitions) } })
    });
    schema["oneOf"] = of_each.collect();
    schema
}
