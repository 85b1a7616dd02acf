//! The case that found each planted bug when all were last searched for.
//!
//! Only speed depends on this table: a bug that its case no longer shows is searched for. In its long form,
//! `every_planted_bug_is_found` prints the arms to write here.

use trueup_engine::Mutation;
use trueup_sim::Source;

#[allow(clippy::match_same_arms, reason = "a table")]
pub(crate) fn found_by(planted: Mutation) -> Source {
    match planted {
        Mutation::SkipCreateIntent => Source::Row(0),
        Mutation::SkipUpdateIntent => Source::Large(0),
        Mutation::ConfirmDeleteBeforeCall => Source::Large(0),
        Mutation::ForgetDeposed => Source::Large(2),
        Mutation::TreatDeniedAsGone => Source::Large(22),
        Mutation::DeleteBeforeDependents => Source::Large(4),
        Mutation::ForgeFencingToken => Source::Large(11),
        Mutation::RepeatWithFreshToken => Source::Row(1),
        Mutation::RepeatBlindCreate => Source::Large(8),
        Mutation::IgnoreProtection => Source::Large(14),
        Mutation::ApplyStalePlan => Source::Large(10),
        Mutation::RetryIndeterminate => Source::Large(78),
        Mutation::AbandonIndeterminate => Source::Large(7),
        Mutation::CleanUpEarly => Source::Large(293),
        Mutation::RetireLeftOut => Source::Large(39),
        Mutation::IgnoreCancellation => Source::Large(4),
        Mutation::AdoptUnowned => Source::Large(7),
        Mutation::TellSecrets => Source::Row(0),
        Mutation::IgnoreGrant => Source::Large(9),
        Mutation::TrustEarlyAbsence => Source::Large(123),
        Mutation::ForgetLease => Source::Large(3),
        Mutation::TrustOldAbsence => Source::Row(3),
        Mutation::TrustAttempt => Source::Row(84),
        Mutation::ForgetOldDependencies => Source::Large(1055),
        Mutation::IgnoreFoundIdentity => Source::Row(44),
        Mutation::ShareNames => Source::Large(740),
        Mutation::ForgetConfiguration => Source::Large(20),
        Mutation::TrustOtherPlace => Source::Large(20),
        Mutation::TrustLateBlock => Source::Large(246),
        Mutation::FinishApart => Source::Large(73_101_215),
        Mutation::RepeatUnseen => Source::Large(516),
        Mutation::RemakeStub => Source::Small(121),
        Mutation::CutInputs => Source::Large(15),
        Mutation::RevealAnswers => Source::Row(0),
        Mutation::RevealIntents => Source::Row(0),
        Mutation::UpdateNothing => Source::Large(3),
        Mutation::TrustFirstName => Source::Large(1430),
        Mutation::IgnoreSpelling => Source::Large(42),
        Mutation::ForgetPartial => Source::Large(22),
        Mutation::TrustNotFound => Source::Large(462),
        Mutation::TrustAcceptedDelete => Source::Large(112),
        Mutation::IgnoreOrphans => Source::Large(240),
        Mutation::LeaveToEachOther => Source::Large(195),
        Mutation::TrustClock => Source::Large(1019),
        Mutation::TrustSharedAnswer => Source::Large(42115),
        Mutation::LeaveToTheGone => Source::Large(29116),
    }
}
