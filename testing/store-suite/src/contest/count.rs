//! What contestants write: a number that each commit raises by one, in two records, with who raised it.

use std::sync::Arc;

use trueup_core::{Address, Value};
use trueup_provider::{GenerationNumber, Slot, State};
use trueup_state::{
    Batch, Entry, Metadata, Record, RecordId, Scope, Snapshot, Step, Version, Write, transition,
};

/// The scopes that are contended for.
pub(crate) fn scopes() -> [Scope; 2] {
    [Scope::new("contest", "red"), Scope::new("contest", "blue")]
}

/// The two records. They are always written together, so they always say the same.
pub(crate) fn ids() -> [RecordId; 2] {
    [1, 2].map(|number: u128| RecordId::from_bytes(number.to_be_bytes()))
}

/// A number, and who raised it to that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Count {
    pub(crate) number: u64,
    pub(crate) token: u64,
    pub(crate) contestant: String,
}

/// The records of a scope, as a contestant knows them.
pub(crate) struct Known {
    records: [Option<(Arc<Record>, Version)>; 2],
}

impl Known {
    /// What was loaded; an error if the two records do not say the same.
    pub(crate) fn loaded(snapshot: &Snapshot) -> Result<Known, String> {
        let records = ids().map(|id| snapshot.records.iter().find(|(record, _)| record.id == id).cloned());
        let [first, second] =
            [0, 1].map(|at: usize| records[at].as_ref().and_then(|(record, _)| counted(record)));
        if first != second {
            return Err(format!("half a commit was loaded: {first:?} and {second:?}"));
        }
        Ok(Known { records })
    }

    pub(crate) fn number(&self) -> u64 {
        let count = self.records[0].as_ref().and_then(|(record, _)| counted(record));
        count.map_or(0, |count| count.number)
    }

    /// What raises the number by one.
    pub(crate) fn raise(&self, token: u64, contestant: &str) -> Batch {
        let count = Count { number: self.number() + 1, token, contestant: contestant.to_owned() };
        let write = |id: RecordId, known: &Option<(Arc<Record>, Version)>| {
            let step = match known {
                None => adopted(&count),
                Some(_) => Step::Refreshed { number: GenerationNumber::FIRST, object: object(&count) },
            };
            let entry = Entry::new(id, step);
            let before = known.as_ref().map(|(record, _)| Record::clone(record));
            let record = transition(before, &entry).expect("raising a number is legal").map(Arc::new);
            Write { expected: known.as_ref().map(|(_, version)| *version), entry, record }
        };
        let writes = ids().into_iter().zip(&self.records).map(|(id, known)| write(id, known)).collect();
        Batch { writes, ..Batch::default() }
    }

    /// What is known after a batch was committed.
    pub(crate) fn committed(&mut self, batch: Batch, version: Version) {
        for (known, write) in self.records.iter_mut().zip(batch.writes) {
            *known = write.record.map(|record| (record, version));
        }
    }
}

/// What a record says.
pub(crate) fn counted(record: &Record) -> Option<Count> {
    read(record.current.as_ref()?.object.as_ref()?)
}

/// What an entry of the journal raised the number to.
pub(crate) fn raised(entry: &Entry) -> Option<Count> {
    match &entry.step {
        Step::Adopted { object, .. } | Step::Refreshed { object, .. } => read(object),
        _ => None,
    }
}

fn read(object: &State) -> Option<Count> {
    let text = |name: &str| object.outputs.get(name).and_then(|value| value.as_str().map(str::to_owned));
    let number = |name: &str| text(name).and_then(|text| text.parse().ok());
    Some(Count { number: number("number")?, token: number("token")?, contestant: text("contestant")? })
}

fn adopted(count: &Count) -> Step {
    let address = Address::resource("contest_count", "count").expect("the name is valid");
    Step::Adopted {
        origin: address.clone(),
        address,
        meta: Metadata::default(),
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object: object(count),
    }
}

fn object(count: &Count) -> State {
    let outputs = Value::object([
        ("number", Value::from(count.number.to_string())),
        ("token", Value::from(count.token.to_string())),
        ("contestant", Value::from(count.contestant.clone())),
    ]);
    State { inputs: None, outputs, private: Vec::new(), schema_version: 0, identity: None }
}
