//! What several documents have in common.

use super::shape::Shape::{Count, List, Object, OneOf, OrNull, Shared, Text, Truth, Value};
use super::shape::{Definition, field, optional};

/// The classes of failures.
const CLASSES: &[&str] = &[
    "retryable",
    "throttled",
    "pending",
    "not-found",
    "already-exists",
    "conflict",
    "denied",
    "invalid",
    "fatal",
    "indeterminate",
];

/// Something that is wrong, or worth knowing.
pub(super) const DIAGNOSTIC: Definition = Definition {
    name: "diagnostic",
    about: "Something that is wrong, or worth knowing. Lines and columns count from 1, columns in characters",
    shape: Object(&[
        field("severity", OneOf(&["error", "warning"]), "How bad it is"),
        field("summary", Text, "What is wrong, in a sentence"),
        optional("subject", Text, "The address of the declaration that it is about"),
        optional("path", Text, "The attribute within the subject"),
        optional("file", Text, "The file where it stands"),
        optional("line", Count, "The line where it begins"),
        optional("column", Count, "The column where it begins"),
        optional("end_line", Count, "The line where it ends"),
        optional("end_column", Count, "The column after its last character"),
        optional("first", Text, "The place of what it repeats: file, line and column"),
        optional("label", Text, "A few words about the place"),
        optional("detail", Text, "Further explanation"),
        optional("hints", List(&Text), "What to do next"),
        optional("class", OneOf(CLASSES), "The class of the failure behind it"),
    ]),
};

/// A failed operation.
pub(super) const FAILURE: Definition = Definition {
    name: "failure",
    about: "A failed operation",
    shape: Object(&[
        field("class", OneOf(CLASSES), "What kind of failure"),
        field("message", Text, "What the provider says"),
        field("hints", List(&Text), "What to do next"),
        field("path", OrNull(&Text), "The input at fault"),
    ]),
};

/// A position at which two values differ.
pub(super) const CHANGE: Definition = Definition {
    name: "change",
    about: "A position at which two values differ",
    shape: Object(&[
        field("path", Text, "Where"),
        field("before", Value, "The earlier value; null if there was none"),
        field("after", Value, "The later value; null if there is none"),
        field("certain", Truth, "Whether it differs for certain, or perhaps once an unknown is settled"),
    ]),
};

/// What happens to a resource.
pub(super) const ACTION: Definition = Definition {
    name: "action",
    about: "What happens to a resource or data source",
    shape: Object(&[
        field("address", Text, "The resource"),
        field("type", Text, "Its type"),
        field("action", OneOf(ACTIONS), "What happens"),
        field("decision", Text, "The same as in events"),
        field("reasons", List(&Text), "Why"),
        field("changes", List(&Shared(&CHANGE)), "Inputs that change"),
        field(
            "drift",
            List(&Shared(&CHANGE)),
            "Outputs that changed outside: recorded before, observed after",
        ),
        field("drifted_inputs", List(&Shared(&CHANGE)), "The inputs behind a drift, where the type can tell"),
        field(
            "bindings",
            List(&Shared(&CHANGE)),
            "Bindings of other resources that change, below their keys",
        ),
        field("drift_checked", Truth, "Whether the object could be read"),
        field("replace_paths", List(&Text), "Inputs that force a replacement"),
        field(
            "replace_order",
            OrNull(&OneOf(&["create-first", "delete-first"])),
            "The order of a replacement",
        ),
        field("inputs", Value, "The inputs to come"),
        field("outputs", Value, "The outputs to expect"),
        field("dependencies", List(&Text), "Addresses that it waits for"),
        field("deposed", List(&Count), "Older generations that are to be deleted"),
    ]),
};

/// What can happen to a resource.
pub(super) const ACTIONS: &[&str] =
    &["no-op", "read", "may-update", "update", "may-replace", "replace", "create", "delete", "forget"];

/// Who holds a lease.
pub(super) const HOLDER: Definition = Definition {
    name: "holder",
    about: "Who holds the lease of a stage",
    shape: Object(&[
        field("run", Text, "The run"),
        field("user", Text, "Who started it"),
        field("host", Text, "Where it runs"),
        field("reason", Text, "What for"),
    ]),
};

/// The job of a CI service.
pub(super) const CI: Definition = Definition {
    name: "ci",
    about: "The CI job that started a run",
    shape: Object(&[
        field("service", Text, "The service"),
        field("job", Text, "The job, usually its address"),
        optional("actor", Text, "Who started the job"),
    ]),
};
