//! Journal entries and records, a line each: what reads is written so that it reads as the same, and no sequence of
//! steps that reads makes `transition` panic.

use serde::Serialize;
use serde::de::DeserializeOwned;
use trueup_core::read_json;
use trueup_state::{Entry, Record, transition};

use crate::text;

pub(crate) const SEEDS: &[&str] =
    &[include_str!("../seeds/journal/life.jsonl"), include_str!("../seeds/journal/record.jsonl")];

pub(crate) fn check(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let mut record = None;
    for line in text.lines() {
        if let Some(read) = reads_as_it_is_written::<Record>(line) {
            let (next, free) = (read.next_number(), read.free_slot());
            assert!(read.generation(next).is_none() || next == next.next(), "{line}");
            assert!(read.generations().all(|generation| generation.slot != free), "{line}");
            record = Some(read);
        }
        if let Some(entry) = reads_as_it_is_written::<Entry>(line)
            && let Ok(after) = transition(record.clone(), &entry)
        {
            record = after;
        }
    }
}

fn reads_as_it_is_written<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    line: &str,
) -> Option<T> {
    let read: T = read_json(line).ok()?;
    let written = serde_json::to_string(&read).expect("what was read can be written");
    assert_eq!(read_json::<T>(&written).ok().as_ref(), Some(&read), "{line}\nis written as {written}");
    Some(read)
}
