//! The crash table: every kind of work × recovery class × order of replacement × what became of the program, killed at
//! every await and every write in turn.

use trueup_sim::scenario::ROWS;
use trueup_sim::{Case, Ingredient, Source};

use crate::{explore_all, within_budget};

/// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6, CRASH-7, INV-5: each ends as if it had not been killed, and what
/// can be recovered without asking anyone after one rerun.
#[test]
fn every_row_killed_at_every_point_ends_as_if_it_had_not_been() {
    let rows = within_budget(ROWS);
    let effort = explore_all((0..rows).map(|row| Case::of(Source::Row(row * ROWS / rows))));
    println!("{effort}");
    assert!(effort.tally.of(Ingredient::Kill) > rows as u64 * 50);
}
