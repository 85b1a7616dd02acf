//! What there is in the cloud, and the rules it has of its own: names are unique within a kind, what is in use stays.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use trueup_core::Address;
use trueup_provider::GenerationNumber;

/// The region of what nobody configured.
pub(crate) const HOME: u64 = 0;

/// What tells an object from all others.
pub(crate) type ObjectId = String;

/// The kinds of objects, each with its own way of being found again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Found by its name, which the engine chooses.
    Box,
    /// Not found, but made only once for one token.
    Ticket,
    /// Neither found nor made only once.
    Stone,
    /// Found by its name, by the convergent contract; several may have the same.
    Jar,
    /// Found by its name, which the program chooses.
    Page,
    /// Not found, but made only once for one token, by the convergent contract.
    Hub,
    /// Found by its name, which the engine chooses; it bears no mark of its owner, and nothing can update it. Local
    /// commands manage it.
    Sack,
    /// Like a sack, but neither found nor made only once.
    Pebble,
    /// Found by its name, which the program chooses and can spell in several ways.
    Leaf,
    /// Not found. Whoever makes one where there is one gets that one, so that several resources may hold it.
    Pool,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 10] = [
        Kind::Box,
        Kind::Ticket,
        Kind::Stone,
        Kind::Jar,
        Kind::Page,
        Kind::Hub,
        Kind::Sack,
        Kind::Pebble,
        Kind::Leaf,
        Kind::Pool,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Box => "box",
            Kind::Ticket => "ticket",
            Kind::Stone => "stone",
            Kind::Jar => "jar",
            Kind::Page => "page",
            Kind::Hub => "hub",
            Kind::Sack => "sack",
            Kind::Pebble => "pebble",
            Kind::Leaf => "leaf",
            Kind::Pool => "pool",
        }
    }
}

impl Kind {
    /// Whether an object of it is found by its name.
    pub(crate) fn is_found(self) -> bool {
        matches!(self, Kind::Box | Kind::Jar | Kind::Page | Kind::Sack | Kind::Leaf)
    }

    /// Whether no two objects of it have one name.
    pub(crate) fn is_unique(self) -> bool {
        matches!(self, Kind::Box | Kind::Page | Kind::Leaf)
    }

    /// Whether the program chooses its name.
    pub(crate) fn is_named_by_program(self) -> bool {
        matches!(self, Kind::Page | Kind::Leaf | Kind::Pool)
    }

    /// Whether nobody finds out what came of a create.
    pub(crate) fn is_blind(self) -> bool {
        matches!(self, Kind::Stone | Kind::Pebble)
    }

    /// Whether local commands manage it, which go on for a while when the process that started them is killed.
    pub(crate) fn is_managed_by_commands(self) -> bool {
        matches!(self, Kind::Sack | Kind::Pebble)
    }

    /// Whether an object of it may have to go before another one is made in its place.
    pub(crate) fn is_deleted_first(self) -> bool {
        matches!(self, Kind::Page | Kind::Leaf) || self.is_managed_by_commands()
    }

    /// Whether others can attach something to an object of it.
    pub(crate) fn is_bindable(self) -> bool {
        matches!(self, Kind::Jar | Kind::Page | Kind::Hub)
    }

    /// Whether a stub of it can be made.
    pub(crate) const fn has_stubs(self) -> bool {
        matches!(self, Kind::Jar | Kind::Hub)
    }

    /// Whether an object of this id is of it.
    pub(crate) fn is_of(self, id: &str) -> bool {
        id.split_once('-').is_some_and(|(word, _)| word == self.word())
    }
}

/// How many ways there are to spell the name of a leaf.
pub(crate) const SPELLINGS: u64 = 4;

/// A name in one of its spellings.
pub(crate) fn spelled(name: &str, spelling: u64) -> String {
    match spelling % SPELLINGS {
        0 => name.to_owned(),
        1 => format!("./{name}"),
        2 => format!("{name}/"),
        _ => name.to_uppercase(),
    }
}

/// The name that a spelling stands for. Leaves alone have several.
pub(crate) fn canonical(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Leaf => name.trim_start_matches("./").trim_end_matches('/').to_lowercase(),
        _ => name.to_owned(),
    }
}

/// What an object is like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) size: u64,
    pub(crate) colour: String,
    /// An object that it cannot be without, and that can be another one later.
    pub(crate) needs: Option<ObjectId>,
    /// An object that it cannot be without, for good.
    pub(crate) host: Option<ObjectId>,
    /// What it says of another.
    pub(crate) note: Option<String>,
    /// What another has attached to it.
    pub(crate) bound: Option<String>,
    pub(crate) secret: Option<String>,
}

impl Spec {
    /// The objects that it cannot be without.
    pub(crate) fn uses(&self) -> impl Iterator<Item = &ObjectId> {
        self.needs.iter().chain(&self.host)
    }
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) name: Option<String>,
    /// Where it is: nobody sees it from elsewhere.
    pub(crate) region: u64,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) spec: Spec,
    /// Whether all of it was made.
    pub(crate) complete: bool,
    /// What it was like before, and until when it may still look like that.
    pub(crate) before: Option<(Duration, Spec)>,
    /// From when on it can be seen.
    pub(crate) visible_from: Duration,
}

/// An object that was deleted and can still be seen for a while.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    pub(crate) object: Object,
    pub(crate) until: Duration,
}

/// For whom something is asked of the cloud: what the engine says of the call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// The process.
    pub(crate) process: u64,
    /// The address that the resource has now.
    pub(crate) address: Address,
    /// The address under which it was first created.
    pub(crate) origin: Address,
    /// The generation.
    pub(crate) generation: GenerationNumber,
    /// Where it is asked.
    pub(crate) region: u64,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} for {} generation {}", self.process, self.address, self.generation)
    }
}

/// Who changed something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// The engine.
    Engine(Caller),
    /// Someone else.
    Hand,
}

impl Who {
    /// Where they look; a person looks everywhere.
    pub(crate) fn region(&self) -> Option<u64> {
        match self {
            Who::Engine(caller) => Some(caller.region),
            Who::Hand => None,
        }
    }
}

/// What became of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// It was made, and uses these.
    Created {
        /// What it is called.
        name: Option<String>,
        /// The objects that it cannot be without.
        uses: Vec<ObjectId>,
        /// What it looks like, for people.
        shown: String,
    },
    /// It was changed, and uses these.
    Changed {
        /// The objects that it cannot be without.
        uses: Vec<ObjectId>,
        /// What it looks like, for people.
        shown: String,
    },
    /// It was deleted.
    Deleted,
}
