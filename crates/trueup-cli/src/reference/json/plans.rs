//! Plans and runs.

use super::parts::{ACTION, ACTIONS, CHANGE, DIAGNOSTIC, FAILURE};
use super::shape::Shape::{ByName, Count, List, Object, OneOf, OrNull, Shared, Text, Truth, Value};
use super::shape::{Shape, field, optional};
use super::{Document, Form};

pub(super) const DOCUMENTS: &[Document] = &[
    PLAN,
    Document {
        kind: "run",
        form: Form::Kind(
            2,
            &[
                field("run", Text, "The id of the run"),
                field("stack", Text, ""),
                field("stage", Text, ""),
                field("succeeded", Truth, "Whether all was done"),
                field("interrupted", Truth, "Whether someone stopped it"),
                field("took_ms", Count, "How long it took, in milliseconds"),
                field("counts", ByName(&Count), "How often each thing was done, such as `created`"),
                field("outcomes", List(&OUTCOME), "What became of each resource"),
                field("outputs", Value, "The outputs of the stack; null if they were not evaluated"),
                field(
                    "diagnostics",
                    List(&Shared(&DIAGNOSTIC)),
                    "All that failed, with its place in the program",
                ),
                field(
                    "unresolved",
                    List(&Shared(&DIAGNOSTIC)),
                    "Creates of which only a person can find out what came of them",
                ),
                field("store_failure", OrNull(&Text), "Why the state could not be written"),
                field("warnings", List(&Text), "What else to know"),
            ],
        ),
        about: "How a run ended",
    },
    Document {
        kind: "why",
        form: Form::Kind(
            2,
            &[
                field("action", Shared(&ACTION), "What happens to the resource"),
                field("dependents", List(&Text), "Addresses that wait for it"),
            ],
        ),
        about: "What happens to a resource, and why",
    },
    Document {
        kind: "refresh",
        form: Form::Kind(1, &[field("steps", List(&STEP), "What changes in the records")]),
        about: "What is recorded anew after looking at all objects",
    },
];

/// A plan.
pub(super) const PLAN: Document = Document {
    kind: "plan",
    form: Form::Kind(
        2,
        &[
            field("stack", Text, ""),
            field("stage", Text, ""),
            field("changes", Truth, "Whether there is anything to do"),
            field("summary", Text, "The counts in a sentence"),
            field("counts", ByName(&Count), "How often each thing would be done, such as `create`"),
            field("actions", List(&Shared(&ACTION)), "What happens to each resource"),
            field(
                "moves",
                List(&Object(&[field("from", Text, ""), field("to", Text, "")])),
                "Records that get another address",
            ),
            field("left_out", List(&Text), "Addresses that --target and --exclude leave out"),
            field("outputs", Value, "The outputs of the stack, as far as they are known"),
            field("output_changes", List(&Shared(&CHANGE)), "Which of them change"),
            field("warnings", List(&Shared(&DIAGNOSTIC)), ""),
            optional("policies", List(&POLICY), "What policies say, if there are any"),
        ],
    ),
    about: "What a run would do",
};

const POLICY: Shape = Object(&[
    field("effect", OneOf(&["deny", "warn", "undecided"]), ""),
    field("address", OrNull(&Text), "The resource"),
    field("message", Text, ""),
]);

const OUTCOME: Shape = Object(&[
    field("address", Text, "The resource"),
    field("outcome", OneOf(&["done", "failed", "skipped", "not-started", "in-flight"]), ""),
    optional("action", OneOf(ACTIONS), "What was done"),
    optional("error", Shared(&FAILURE), "Why it failed"),
    optional("cause", Text, "The address of what failed, for which it was skipped"),
]);

/// A step on a resource.
pub(super) const STEP: Shape =
    Object(&[field("address", Text, "The resource"), field("step", Text, "What is done")]);
