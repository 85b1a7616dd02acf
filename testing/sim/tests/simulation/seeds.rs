//! Seeds: large scenarios with all that can go wrong, and small ones killed at every point.

use trueup_sim::{Case, Ingredient};

use crate::{explore_all, within_budget};

/// DELETE-1, DELETE-11: scenarios that once lost an object, made one twice, or deleted one in use.
#[test]
fn what_once_failed_holds() {
    let small = [11_963, 29_416, 34_937, 35_856, 38_226, 51_409, 66_295];
    let large = [81_500_427, 81_508_208, 81_515_202, 81_518_071];
    explore_all(small.into_iter().chain(large).map(Case::of_seed));
}

/// INV-1, INV-2, INV-3, INV-4, INV-5, INV-6, INV-7, INV-8, INV-9, INV-10, INV-11, INV-12, INV-13, INV-14, INV-15, INV-16:
/// nothing is ever violated, and there is nothing that never happens.
#[test]
fn all_invariants_hold_whatever_goes_wrong() {
    let seeds = within_budget(6_000);
    let effort = explore_all((0..seeds as u64).map(Case::of_seed));
    println!("{effort}");
    if seeds < 6_000 {
        return;
    }
    let never: Vec<_> = Ingredient::ALL.iter().filter(|it| effort.tally.of(**it) == 0).collect();
    assert!(never.is_empty(), "these never happened: {never:?}");
}
