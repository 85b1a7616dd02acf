//! Addresses, ranges of them, paths and numbers: whatever reads is written in a form that reads as the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use trueup_core::{Address, AddressRange, Number, Path};
use trueup_state::RecordId;

use crate::text;

pub(crate) const SEEDS: &[&str] = &[
    "aws_instance.web",
    "data.std_file.x",
    "module.a.module.b[\"k\"].t.n[3]",
    "module.m[0].terraform_data.each[\"quote \\\" and ${x}\"]",
    "module.a",
    "tags[\"a b\"].list[0].*.name",
    "-12345678901234567890.125e-3",
    "0102030405060708090a0b0c0d0e0f10",
];

pub(crate) fn check(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    reads_as_it_is_written::<Address>(text);
    reads_as_it_is_written::<AddressRange>(text);
    reads_as_it_is_written::<Path>(text);
    reads_as_it_is_written::<Number>(text);
    reads_as_it_is_written::<RecordId>(text);
}

fn reads_as_it_is_written<T: FromStr + Display + Debug + PartialEq>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        let written = read.to_string();
        assert_eq!(written.parse::<T>().ok(), Some(read), "{text:?} is written as {written:?}");
    }
}
