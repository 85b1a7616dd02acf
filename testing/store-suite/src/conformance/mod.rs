//! What every store must do, as a suite that each store's tests run (STATE-10).
//!
//! A store's test implements [`StoreUnderTest`], which says how to make an empty one and open it, and calls [`check`].
//! The cases see a store only through the [`Store`] trait, and restart it by opening the same place again. What a
//! store keeps on disk, and that it survives a power cut, is for its own tests.

mod clock;
mod commits;
mod forgetting;
mod histories;
mod keyrings;
mod leases;
mod moves;
mod records;
mod samples;
pub mod shop;
mod writer;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use trueup_state::Store;

pub use clock::HandClock;

/// A kind of store, as the suite needs it.
pub trait StoreUnderTest {
    /// Where the data of one store is: a path, a database, the store itself.
    type Place;

    /// A place for a store that is empty and shared with nothing else.
    fn place(&self) -> impl Future<Output = Self::Place>;

    /// Opens what is at the place. Opening it again is what a restarted program does.
    fn open(&self, place: &Self::Place) -> impl Future<Output = Arc<dyn Store>>;

    /// Lets this much time pass by the stores' clock; `false` if that cannot be done, which skips what needs it.
    fn let_time_pass(&self, duration: Duration) -> bool;

    /// Whether the store knows who lives: the lease of an open handle then outlasts its term.
    fn knows_who_lives(&self) -> bool {
        false
    }
}

/// Checks that a store does what every store must do.
///
/// # Panics
/// At the first thing that it does otherwise, saying what.
pub async fn check(stores: &impl StoreUnderTest) {
    records::an_empty_scope_loads_as_nothing(stores).await;
    records::records_come_back_exactly_as_they_were(stores).await;
    records::a_reopened_store_holds_all_that_was_committed(stores).await;
    records::names_that_are_prefixes_of_one_another_never_mix(stores).await;
    records::outputs_stay_until_others_are_committed(stores).await;
    records::configurations_stay_until_others_are_committed(stores).await;
    records::scopes_are_listed_once_they_hold_anything(stores).await;

    commits::versions_grow_and_only_what_changed_gets_a_new_one(stores).await;
    commits::several_writes_of_one_record_in_a_batch_leave_the_last(stores).await;
    commits::a_record_may_go_and_come_within_a_batch(stores).await;
    commits::resources_may_swap_addresses_within_a_batch(stores).await;
    commits::a_deleted_record_is_gone(stores).await;
    commits::a_stale_version_is_refused_and_nothing_of_its_batch_is_written(stores).await;
    commits::a_record_that_is_new_to_the_writer_alone_is_refused(stores).await;
    commits::a_vanished_record_is_a_conflict(stores).await;

    leases::a_second_acquire_says_who_holds_the_lease(stores).await;
    leases::a_released_lease_lets_the_next_one_in(stores).await;
    leases::tokens_only_grow(stores).await;
    leases::leases_of_different_scopes_are_independent(stores).await;
    leases::a_lease_is_not_forgotten_with_the_process_that_took_it(stores).await;
    leases::an_expired_lease_is_taken_over_and_its_holder_refused(stores).await;
    leases::an_expired_lease_that_nobody_took_still_writes(stores).await;
    leases::a_lease_outlasts_its_term_where_its_holder_is_known_to_live(stores).await;
    leases::a_renewed_lease_lasts_another_term(stores).await;
    leases::a_commit_without_the_lease_is_refused(stores).await;
    leases::unlock_takes_the_lease_of_the_named_run_only(stores).await;
    leases::loading_needs_no_lease_and_is_not_blocked_by_one(stores).await;

    keyrings::a_keyring_is_replaced_only_by_who_knows_it(stores).await;
    keyrings::keyrings_belong_to_their_scopes_and_outlast_restarts(stores).await;

    histories::the_journal_replays_to_the_record(stores).await;
    histories::what_precedes_a_resealing_is_forgotten_where_that_can_be(stores).await;
    histories::history_lines_come_in_order(stores).await;
    histories::runs_come_newest_first(stores).await;
    histories::pruning_keeps_the_newest_runs_and_the_journal_of_what_exists(stores).await;

    forgetting::a_look_at_a_lease_says_who_holds_it(stores).await;
    forgetting::a_scope_without_records_is_forgotten_as_a_whole(stores).await;
    forgetting::a_scope_with_records_or_held_by_another_is_not_forgotten(stores).await;

    moves::a_move_takes_everything_along_and_closes_the_old_store(stores).await;
    moves::a_move_to_where_something_else_is_changes_nothing(stores).await;
}
