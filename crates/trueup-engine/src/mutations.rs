//! Bugs that can be planted in the engine, one at a time, to show that the simulator finds them.
//!
//! Behind the feature `mutations`, which nothing that users build has. Without it [`planted!`] is `false` and none of this
//! is compiled.

#[cfg(feature = "mutations")]
use std::cell::Cell;

/// A bug that can be planted.
#[cfg(feature = "mutations")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mutation {
    /// A create is called before its intent is durable.
    SkipCreateIntent,
    /// An update is called before its intent is durable.
    SkipUpdateIntent,
    /// A delete is recorded as done before it is called.
    ConfirmDeleteBeforeCall,
    /// What a replacement has replaced is dropped from its record instead of deleted.
    ForgetDeposed,
    /// An object that may not be read counts as gone.
    TreatDeniedAsGone,
    /// What others use is deleted before them.
    DeleteBeforeDependents,
    /// A writer whose lease was taken over writes with the successor's token.
    ForgeFencingToken,
    /// An interrupted create is repeated with another token.
    RepeatWithFreshToken,
    /// A create of a blind type whose outcome is unknown is begun again.
    RepeatBlindCreate,
    /// What is protected is deleted all the same.
    IgnoreProtection,
    /// A plan is carried out although the state has changed since.
    ApplyStalePlan,
    /// An operation whose outcome is unknown is just repeated.
    RetryIndeterminate,
    /// The intent of a create whose outcome is unknown is dropped.
    AbandonIndeterminate,
    /// Older generations are deleted though what uses them has not moved over.
    CleanUpEarly,
    /// What a run leaves out is deleted if it is no longer declared.
    RetireLeftOut,
    /// Ctrl-C stops nothing.
    IgnoreCancellation,
    /// Objects of someone else are taken over without being asked to.
    AdoptUnowned,
    /// The inputs of a create are told as they are, secrets included.
    TellSecrets,
    /// Decisions at apply are not held against what was granted.
    IgnoreGrant,
    /// Absence is taken for certain however soon it is seen.
    TrustEarlyAbsence,
    /// The lease is not renewed, and its end not noticed.
    ForgetLease,
    /// What was absent when the plan looked is taken for absent when it is carried out.
    TrustOldAbsence,
    /// What came of an interrupted create is taken to have all its inputs.
    TrustAttempt,
    /// A record depends only on what the last attempt was for.
    ForgetOldDependencies,
    /// What was found is replaced as if it had another identity than what replaces it.
    IgnoreFoundIdentity,
    /// A resource at an address that another moved away from takes the other's names.
    ShareNames,
    /// It is not recorded which configuration of its provider an object was made with.
    ForgetConfiguration,
    /// What is not found by the configuration in use is taken for gone.
    TrustOtherPlace,
    /// What a block leads to that became known at apply is taken for where the object was made.
    TrustLateBlock,
    /// What a create that was interrupted in another place may have made goes before what uses it.
    FinishApart,
    /// A create that failed is repeated without looking whether it made something.
    RepeatUnseen,
    /// A stub that may have been made is made again, without looking for it and with another token.
    RemakeStub,
    /// Where deletes go in circles, inputs give way instead of bindings.
    CutInputs,
    /// What a provider answers is recorded without the marks on what repeats a secret.
    RevealAnswers,
    /// The intent of a create or update is recorded without the marks on the secrets among its inputs.
    RevealIntents,
    /// An object that was found or half made counts as updated, though its type cannot update it and nothing is called.
    UpdateNothing,
    /// Of two objects without marks, the one under the first name counts as the live one.
    TrustFirstName,
    /// Two spellings of a name denote two objects.
    IgnoreSpelling,
    /// The object that a failed create returns is not recorded.
    ForgetPartial,
    /// A delete that finds nothing is believed at once.
    TrustNotFound,
    /// An object counts as gone when its delete is accepted.
    TrustAcceptedDelete,
    /// A run does not wait for commands of a killed run.
    IgnoreOrphans,
    /// Records that hold one object leave its deletion to each other.
    LeaveToEachOther,
    /// The wall clock tells how long ago an operation was interrupted.
    TrustClock,
    /// An object that a create was answered with counts as made, though this run deletes it for another resource.
    TrustSharedAnswer,
    /// An object is left to another resource whose own is gone.
    LeaveToTheGone,
}

#[cfg(feature = "mutations")]
impl Mutation {
    /// All of them.
    pub const ALL: [Mutation; 46] = [
        Mutation::SkipCreateIntent,
        Mutation::SkipUpdateIntent,
        Mutation::ConfirmDeleteBeforeCall,
        Mutation::ForgetDeposed,
        Mutation::TreatDeniedAsGone,
        Mutation::DeleteBeforeDependents,
        Mutation::ForgeFencingToken,
        Mutation::RepeatWithFreshToken,
        Mutation::RepeatBlindCreate,
        Mutation::IgnoreProtection,
        Mutation::ApplyStalePlan,
        Mutation::RetryIndeterminate,
        Mutation::AbandonIndeterminate,
        Mutation::CleanUpEarly,
        Mutation::RetireLeftOut,
        Mutation::IgnoreCancellation,
        Mutation::AdoptUnowned,
        Mutation::TellSecrets,
        Mutation::IgnoreGrant,
        Mutation::TrustEarlyAbsence,
        Mutation::ForgetLease,
        Mutation::TrustOldAbsence,
        Mutation::TrustAttempt,
        Mutation::ForgetOldDependencies,
        Mutation::IgnoreFoundIdentity,
        Mutation::ShareNames,
        Mutation::ForgetConfiguration,
        Mutation::TrustOtherPlace,
        Mutation::TrustLateBlock,
        Mutation::FinishApart,
        Mutation::RepeatUnseen,
        Mutation::RemakeStub,
        Mutation::CutInputs,
        Mutation::RevealAnswers,
        Mutation::RevealIntents,
        Mutation::UpdateNothing,
        Mutation::TrustFirstName,
        Mutation::IgnoreSpelling,
        Mutation::ForgetPartial,
        Mutation::TrustNotFound,
        Mutation::TrustAcceptedDelete,
        Mutation::IgnoreOrphans,
        Mutation::LeaveToEachOther,
        Mutation::TrustClock,
        Mutation::TrustSharedAnswer,
        Mutation::LeaveToTheGone,
    ];
}

#[cfg(feature = "mutations")]
thread_local! {
    static PLANTED: Cell<Option<Mutation>> = const { Cell::new(None) };
}

/// Plants a bug in all engines of this thread, or takes it out again.
#[cfg(feature = "mutations")]
pub fn plant(mutation: Option<Mutation>) {
    PLANTED.set(mutation);
}

/// Whether a bug is planted.
#[cfg(feature = "mutations")]
pub(crate) fn is_planted(mutation: Mutation) -> bool {
    PLANTED.get() == Some(mutation)
}

/// Whether a bug is planted, or what happens then; never without the feature.
macro_rules! planted {
    ($mutation:ident => $statement:stmt) => {
        #[cfg(feature = "mutations")]
        if $crate::mutations::is_planted($crate::mutations::Mutation::$mutation) {
            $statement
        }
    };
    ($mutation:ident) => {{
        #[cfg(feature = "mutations")]
        let planted = $crate::mutations::is_planted($crate::mutations::Mutation::$mutation);
        #[cfg(not(feature = "mutations"))]
        let planted = false;
        planted
    }};
}

pub(crate) use planted;
