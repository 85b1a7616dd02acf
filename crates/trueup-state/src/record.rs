//! Records: what is kept of each resource.
//!
//! A record holds the newest generation of a resource and the deposed ones that wait to be deleted. An operation that
//! has begun and not ended is part of the generation's status, so that whoever loads the record knows what may have
//! happened. Records change only through [`transition`](crate::transition).

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::{Address, Value};
use trueup_provider::{Binding, GenerationNumber, IdempotencyToken, InputValues, Slot, State};

use crate::configurations::ConfigurationNumber;
use crate::entry::UnixMillis;

/// What names a record for good: moves change the address, not this.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(IdempotencyToken);

impl RecordId {
    /// The id made of these random bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        RecordId(IdempotencyToken::from_bytes(bytes))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for RecordId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(RecordId)
    }
}

/// What is kept of one resource.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// What names it for good.
    pub id: RecordId,
    /// Its address now.
    pub address: Address,
    /// Its address when it was first created, from which its physical names follow (RECONCILE-4).
    pub origin: Address,
    /// What the program last said of it besides its inputs.
    pub meta: Metadata,
    /// The newest generation; `None` while only deposed ones are left.
    pub current: Option<Generation>,
    /// Older generations that wait to be deleted, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deposed: Vec<Generation>,
    /// The slots of objects that were left alone and are no longer kept track of: their names stay taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_slots: Vec<Slot>,
}

/// What the program last said of a resource besides its inputs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Metadata {
    /// The provider that manages it, with its alias if it has one: `aws`, `aws.west`.
    pub provider: SmolStr,
    /// The resources it depends on, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Address>,
    /// The dependencies that are part of a cycle through bindings alone, sorted. Deletes may break the cycle here (DELETE-1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circular: Vec<Address>,
    /// Neither replaced nor deleted (REPLACE-9).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// Left in the cloud when it is removed (REPLACE-8).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain: bool,
    /// The secrets that its secret inputs were made of: a token of which only `Bearer …` is an input. A list, and secret;
    /// providers may repeat them to a run that no longer has the program or its variables (SECRET-11). Records of earlier
    /// releases have none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "trueup_core::recorded")]
    pub secret_sources: Option<Value>,
}

/// One physical incarnation of a resource.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Generation {
    /// Counts up from 0.
    pub number: GenerationNumber,
    /// Which of its possible names it bears.
    pub slot: Slot,
    /// What is known of the object; `None` while its create is under way and nothing was answered.
    pub object: Option<State>,
    /// What others had attached when it was last brought up to date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// The resources that its object may still depend on, where that is not what the record says: an update has begun and
    /// not succeeded, or it was replaced (DELETE-1). Sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<Address>>,
    /// What is under way.
    pub status: Status,
    /// When its create or update last began or was last answered: until the type's consistency window after that is
    /// over, reads may miss it. Records of earlier releases don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_at: Option<UnixMillis>,
    /// The configuration of the provider that it was made or last seen with. Records of earlier releases don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationNumber>,
}

/// What is under way with a generation. Attempts are boxed because most records have none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Status {
    /// Nothing.
    Ready,
    /// It is being created; with an object, as far as that came.
    Creating(Box<Attempt>),
    /// It is being brought to other inputs in place.
    Updating(Box<Attempt>),
    /// It is being deleted.
    Deleting,
}

/// An operation that has begun: all that is needed to repeat or resolve it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// The inputs it brings the object to.
    pub inputs: InputValues,
    /// What others attach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// The token of this intent.
    pub token: IdempotencyToken,
    /// What a pending operation needs to go on (RETRY-4).
    #[serde(default, skip_serializing_if = "Option::is_none", with = "trueup_core::recorded")]
    pub pending: Option<Value>,
    /// Whether it creates a stub, from inputs that may be unknown (BIND-4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stub: bool,
}

impl Metadata {
    /// Whether two say the same of everything but secrets.
    pub fn is_like(&self, other: &Metadata) -> bool {
        let Metadata { provider, dependencies, circular, protect, retain, secret_sources: _ } = self;
        *provider == other.provider
            && *dependencies == other.dependencies
            && *circular == other.circular
            && (*protect, *retain) == (other.protect, other.retain)
    }

    /// The dependencies that deletes always follow: all that are not part of a cycle through bindings alone.
    pub fn firm_dependencies(&self) -> impl Iterator<Item = &Address> {
        self.dependencies.iter().filter(|address| !self.circular.contains(address))
    }
}

impl Record {
    /// All generations, deposed ones first.
    pub fn generations(&self) -> impl Iterator<Item = &Generation> {
        self.deposed.iter().chain(&self.current)
    }

    /// The generation of this number.
    pub fn generation(&self, number: GenerationNumber) -> Option<&Generation> {
        self.generations().find(|generation| generation.number == number)
    }

    /// All resources that it depends on: as the program last said, and what its objects may still use. One may come twice.
    pub fn dependencies(&self) -> impl Iterator<Item = &Address> {
        let of_objects = self.generations().filter_map(|generation| generation.dependencies.as_ref());
        self.meta.dependencies.iter().chain(of_objects.flatten())
    }

    /// The same addresses, to be written anew.
    pub fn dependencies_mut(&mut self) -> impl Iterator<Item = &mut Vec<Address>> {
        let generations = self.deposed.iter_mut().chain(&mut self.current);
        let of_objects = generations.filter_map(|generation| generation.dependencies.as_mut());
        [&mut self.meta.dependencies, &mut self.meta.circular].into_iter().chain(of_objects)
    }

    /// The number that the next generation gets.
    pub fn next_number(&self) -> GenerationNumber {
        let last = self.generations().map(|generation| generation.number).max();
        last.map_or(GenerationNumber::FIRST, GenerationNumber::next)
    }

    /// The lowest slot that no undeleted generation uses, kept track of or not (RECONCILE-4).
    pub fn free_slot(&self) -> Slot {
        let used = |slot: &Slot| {
            self.left_slots.contains(slot) || self.generations().any(|generation| generation.slot == *slot)
        };
        (0..).map(Slot).find(|slot| !used(slot)).unwrap_or(Slot::FIRST)
    }
}

impl Generation {
    /// Whether it is a create of which nobody knows what came of it.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.status, Status::Creating(_)) && self.object.is_none()
    }

    /// The inputs of the object, or those that the last attempt was for.
    pub fn inputs(&self) -> Option<&InputValues> {
        let recorded = self.object.as_ref().and_then(|object| object.inputs.as_ref());
        recorded.or(match &self.status {
            Status::Creating(attempt) | Status::Updating(attempt) => Some(&attempt.inputs),
            Status::Ready | Status::Deleting => None,
        })
    }

    /// The operation that is under way, unless it is a delete.
    pub fn attempt(&self) -> Option<&Attempt> {
        match &self.status {
            Status::Creating(attempt) | Status::Updating(attempt) => Some(attempt),
            Status::Ready | Status::Deleting => None,
        }
    }
}
