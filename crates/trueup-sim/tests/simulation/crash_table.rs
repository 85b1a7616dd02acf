//! The crash table: every kind of work × recovery class × order of replacement × what became of the program, killed at
//! every await and every write in turn.

use trueup_sim::scenario::ROWS;
use trueup_sim::{Case, Ingredient, Source};

use crate::{explore_all, portion};

/// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6, CRASH-7, INV-5: each ends as if it had not been killed, and what
/// can be recovered without asking anyone after one rerun.
#[test]
fn every_row_killed_at_every_point_ends_as_if_it_had_not_been() {
    let effort = explore_all((0..ROWS).step_by(portion()).map(|row| Case::of(Source::Row(row))));
    println!("{effort}");
    assert!(effort.tally.of(Ingredient::Kill) > 20_000 / portion() as u64);
}
