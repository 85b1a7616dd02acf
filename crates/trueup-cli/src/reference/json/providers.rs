//! Providers of Terraform.

use super::shape::Shape::{Count, List, Object, OneOf, OrNull, Text, Truth};
use super::shape::{Shape, field, optional};
use super::{Document, Form};

pub(super) const DOCUMENTS: &[Document] = &[
    Document {
        kind: "init",
        form: Form::Kind(
            1,
            &[
                field("providers", List(&INSTALLED), ""),
                field("lock_changed", Truth, "Whether the lock file was written"),
                optional("files", List(&Text), "Files of a new stack that were written"),
            ],
        ),
        about: "Providers that were installed, or a stack that was begun",
    },
    Document {
        kind: "providers",
        form: Form::Kind(
            1,
            &[
                field("providers", List(&NEEDED), "Those that the program needs"),
                field("builtin", List(&Text), "Those that are part of this program"),
            ],
        ),
        about: "Where the providers of a program are",
    },
    Document {
        kind: "providers-lock",
        form: Form::Kind(1, &[field("providers", List(&LOCKED), "")]),
        about: "Checksums that were added to the lock file",
    },
    Document {
        kind: "providers-mirror",
        form: Form::Kind(1, &[field("packages", List(&PACKAGE), "")]),
        about: "Packages that were put into a mirror",
    },
];

const PLACE: Shape = OneOf(&["dev_overrides", "folder", "cache", "mirror"]);

const INSTALLED: Shape = Object(&[
    field("address", Text, ""),
    field("version", OrNull(&Text), "Null while it is developed"),
    field("program", Text, "Its file"),
    field("place", PLACE, ""),
    field("fetched", Truth, "Whether it was downloaded now"),
    field("vouched_by", OneOf(&["lock", "signature", "mirror", "nobody"]), "Who says that it is genuine"),
    optional("key", Text, "The key of the signature"),
]);

const NEEDED: Shape = Object(&[
    field("address", Text, ""),
    optional("version", OrNull(&Text), "Null while it is developed"),
    optional("program", Text, "Its file"),
    optional("place", PLACE, ""),
    optional("problem", Text, "Why it is not available"),
    optional("hints", List(&Text), "What to do about it"),
    field("constraints", Text, "All constraints together"),
    field("required_by", List(&REQUIREMENT), ""),
]);

const REQUIREMENT: Shape = Object(&[
    field("at", OrNull(&Text), "File and line; null where a type alone requires it"),
    field("constraints", Text, ""),
]);

const LOCKED: Shape = Object(&[
    field("address", Text, ""),
    field("version", Text, ""),
    field("checksums_added", Count, "How many"),
]);

const PACKAGE: Shape = Object(&[
    field("address", Text, ""),
    field("version", Text, ""),
    field("platform", Text, ""),
    field("path", Text, "Its file in the mirror"),
]);
