//! How a resource type behaves, apart from its schema.

use std::time::Duration;

use trueup_program::RetrySettings;

use crate::identity::NameRules;

/// How a create whose outcome is unknown is resolved (CRASH-1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// By looking the object up.
    Lookup,
    /// By repeating the create with the same token and inputs.
    Token,
    /// Nothing can find it: a person has to say.
    Blind,
}

/// What becomes of an object whose create failed half-way (CRASH-2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailedCreate {
    /// The next run goes on with it.
    #[default]
    Resume,
    /// The next run replaces it.
    Replace,
}

/// When a delete is over that the provider accepted (DELETE-12).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeleteEnd {
    /// At once: nothing is left to wait for, or nothing was removed.
    Answered,
    /// When a read finds the object gone. If it is still there at the end of the consistency window, the delete fails, and
    /// the next run repeats it.
    #[default]
    Gone,
    /// When a read finds the object gone, or else at the end of the consistency window, with a warning: the read may be
    /// unable to tell.
    GoneOrAnswered,
}

/// How a resource type behaves. The default suits most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traits {
    /// What becomes of an object whose create failed half-way.
    pub failed_create: FailedCreate,
    /// Whether a replacement deletes the old object before it creates the new one (REPLACE-2).
    pub delete_first: bool,
    /// Whether objects are read back after they were created or updated (APPLY-8).
    pub read_back: bool,
    /// Whether an object is nothing but what is recorded of it, such as a random value. There is nothing to look at then,
    /// and nobody to spare: such objects are never read, and do not count where operations at a time are limited.
    pub in_records: bool,
    /// Whether the type implements `place`, which otherwise is never called. Objects are then told apart by their places,
    /// not by how their inputs spell them.
    pub tells_place: bool,
    /// Whether a person can name an object by its id: whether the type implements `import`.
    pub importable: bool,
    /// How long an object that was just created or updated may stay invisible, unless the type decides by its inputs.
    pub consistency_window: Duration,
    /// How failed operations are repeated, where nobody who uses the type says.
    pub retry: RetrySettings,
    /// What names objects may have.
    pub name_rules: NameRules,
}

impl Default for Traits {
    fn default() -> Self {
        Traits {
            failed_create: FailedCreate::Resume,
            delete_first: false,
            read_back: true,
            in_records: false,
            tells_place: false,
            importable: true,
            consistency_window: Duration::ZERO,
            retry: RetrySettings::default(),
            name_rules: NameRules::default(),
        }
    }
}
