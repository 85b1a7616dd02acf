//! Journal entries: the only things that happen to records.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use trueup_core::{Address, Value};
use trueup_provider::{GenerationNumber, Slot, State};

use crate::configurations::ConfigurationNumber;
use crate::record::{Attempt, Metadata, Record, RecordId};

/// Something that happened to one record, as the journal keeps it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The record.
    pub id: RecordId,
    /// What happened.
    pub step: Step,
    /// When, by the clock of whoever wrote it. Entries of earlier releases and of changes by hand don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<UnixMillis>,
    /// The configuration of the provider by which it happened to an object, where the record should say so from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationNumber>,
}

impl Entry {
    /// An entry that does not say when.
    pub fn new(id: RecordId, step: Step) -> Self {
        Entry { id, step, at: None, configuration: None }
    }

    /// The same, written at this time.
    #[must_use]
    pub fn at(self, time: SystemTime) -> Self {
        Entry { at: Some(time.into()), ..self }
    }

    /// The same, by a provider of this configuration.
    #[must_use]
    pub fn by(self, configuration: Option<ConfigurationNumber>) -> Self {
        Entry { configuration, ..self }
    }
}

/// A time in milliseconds since the beginning of 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

impl From<SystemTime> for UnixMillis {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        UnixMillis(since.as_millis().try_into().unwrap_or(u64::MAX))
    }
}

impl UnixMillis {
    /// How long ago this was; `None` if it is yet to come, by a clock that differs from the one it was told by.
    pub fn elapsed(self, now: SystemTime) -> Option<Duration> {
        UnixMillis::from(now).0.checked_sub(self.0).map(Duration::from_millis)
    }
}

/// What happened to a record. Steps that name a generation happen to that one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// A create is about to be called. On a record with a current generation of another number this is a replacement:
    /// that one is deposed. Of the same number, its object is gone or never came to be. On no record it makes one.
    CreateBegun {
        /// The address.
        address: Address,
        /// The address it was first created under.
        origin: Address,
        /// What the program says besides inputs.
        meta: Metadata,
        /// The new generation.
        number: GenerationNumber,
        /// The name it bears.
        slot: Slot,
        /// What is attempted.
        attempt: Attempt,
    },
    /// An object that was found becomes ours, as it is (ADOPT-2). On no record it makes one.
    Adopted {
        /// The address.
        address: Address,
        /// The address it was first created under.
        origin: Address,
        /// What the program says besides inputs.
        meta: Metadata,
        /// Which generation it is.
        number: GenerationNumber,
        /// The name it bears.
        slot: Slot,
        /// The object.
        object: State,
    },
    /// An update in place is about to be called.
    UpdateBegun {
        /// What the program says besides inputs.
        meta: Metadata,
        /// What is attempted.
        attempt: Attempt,
    },
    /// The provider answered, perhaps with half an object; the operation is not over.
    Answered {
        /// The generation.
        number: GenerationNumber,
        /// The object as far as it is known.
        object: State,
    },
    /// The operation goes on and must be asked again.
    Pending {
        /// The generation.
        number: GenerationNumber,
        /// What the next call needs.
        #[serde(with = "trueup_core::recorded")]
        context: Value,
    },
    /// The create or update is over: the object is as its attempt wanted it.
    Settled {
        /// The generation.
        number: GenerationNumber,
        /// The object.
        object: State,
    },
    /// The create, update or delete is known not to have happened; nothing is under way any more. A half-made object that
    /// was there before stays one, to be finished or deleted (CRASH-2).
    Abandoned {
        /// The generation.
        number: GenerationNumber,
    },
    /// The object was seen with other outputs, which are no drift (DRIFT-3).
    Refreshed {
        /// The generation.
        number: GenerationNumber,
        /// The object.
        object: State,
    },
    /// The object was brought to another version of its schema (CRUD-10), or became one of another type (PLAN-20). What is
    /// under way goes on.
    Migrated {
        /// The generation.
        number: GenerationNumber,
        /// The object.
        object: State,
    },
    /// The program says other things besides inputs (APPLY-10).
    MetaChanged {
        /// What it says.
        meta: Metadata,
    },
    /// A delete is about to be called.
    DeleteBegun {
        /// The generation.
        number: GenerationNumber,
    },
    /// The object is gone.
    Deleted {
        /// The generation.
        number: GenerationNumber,
    },
    /// The object is left alone and no longer kept track of (REPLACE-8, `state rm`).
    Dropped {
        /// The generation.
        number: GenerationNumber,
    },
    /// The resource has another address (MOVE-1).
    Moved {
        /// The new address.
        to: Address,
    },
    /// Resources that it depends on have other addresses (MOVE-1).
    Relinked {
        /// From which address to which.
        moved: Vec<(Address, Address)>,
    },
    /// The secrets of the record were sealed anew, or given up (SECRET-4). It says the same otherwise. A journal may begin
    /// with this, when all before it was forgotten.
    Resealed {
        /// The record.
        record: Box<Record>,
    },
    /// The record came from another store as it is. Its journal begins with this; what came before is in that store.
    Copied {
        /// The record.
        record: Box<Record>,
    },
}
