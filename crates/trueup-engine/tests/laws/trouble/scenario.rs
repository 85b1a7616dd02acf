//! Scenarios: a program, then steps of edits, trouble and a run. Each law says which trouble it is about.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;
use trueup_core::FailureClass;

use super::cloud::{FaultEffect, HOME, Kind, Operation};
use super::sketch::{COLOURS, Edit, Said, Seed, Sketch};

/// A program, and what happens to it step by step.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) seeds: Vec<Seed>,
    pub(crate) steps: Vec<Step>,
    pub(crate) last: LastProgram,
}

/// The program by which everything is destroyed in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastProgram {
    /// One that declares nothing, not even a provider.
    Empty,
    Same,
    /// The same with a provider block that sees none of the objects.
    Elsewhere,
}

/// Edits, then a run.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) edits: Vec<Edit>,
    pub(crate) loses_state: bool,
    /// Whether objects of somebody else bear the names of new resources. The run takes them over.
    pub(crate) squatters: bool,
    /// The resources whose stable output changes with an update all the same.
    pub(crate) restamped: Vec<usize>,
    pub(crate) faults: Vec<FaultSeed>,
    pub(crate) run: Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Deploy,
    /// A deploy that is cut off after so many waits.
    CutOff(usize),
    Destroy,
}

/// A request that goes wrong. The number counts through what is declared or recorded.
#[derive(Clone, Debug)]
pub(crate) struct FaultSeed {
    pub(crate) at: usize,
    pub(crate) operation: Operation,
    pub(crate) effect: FaultEffect,
    pub(crate) class: FailureClass,
    pub(crate) lasts: bool,
}

/// A kind of trouble that scenarios can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    LostState,
    Squatters,
    Faults,
    Cuts,
    Moves,
    Places,
    Bindings,
    /// Stable outputs that change.
    Seals,
    Destroys,
}

/// Programs of at most this many resources, and steps with this trouble.
pub(crate) fn scenario(
    resources_max: usize,
    troubles: &[Trouble],
) -> impl Strategy<Value = Scenario> + use<> {
    let seeds = vec(seed(troubles), 1..=resources_max);
    let steps = vec(step(troubles), 1..=4);
    let mut last = vec![LastProgram::Empty, LastProgram::Same];
    last.extend(troubles.contains(&Trouble::Places).then_some(LastProgram::Elsewhere));
    let last = prop::sample::select(last);
    (seeds, steps, last).prop_map(|(seeds, steps, last)| Scenario { seeds, steps, last })
}

fn step(troubles: &[Trouble]) -> impl Strategy<Value = Step> + use<> {
    let has = |trouble: Trouble| troubles.contains(&trouble);
    let sometimes =
        |trouble: Trouble, chance: f64| prop::bool::weighted(if has(trouble) { chance } else { 0.0 });
    let faults = if has(Trouble::Faults) { 0..=3usize } else { 0..=0 };
    let restamped = if has(Trouble::Seals) { 0..=2usize } else { 0..=0 };
    let mut runs = vec![(8, Just(Run::Deploy).boxed())];
    if has(Trouble::Cuts) {
        runs.push((4, (0..80usize).prop_map(Run::CutOff).boxed()));
    }
    if has(Trouble::Destroys) {
        runs.push((1, Just(Run::Destroy).boxed()));
    }
    let parts = (
        vec(edit(troubles), 0..=3),
        sometimes(Trouble::LostState, 0.5),
        sometimes(Trouble::Squatters, 0.3),
        vec(any_one(), restamped),
        vec(fault(), faults),
        Union::new_weighted(runs),
    );
    parts.prop_map(|(edits, loses_state, squatters, restamped, faults, run)| Step {
        edits,
        loses_state,
        squatters,
        restamped,
        faults,
        run,
    })
}

/// Any of the resources declared: numbers are counted through.
fn any_one() -> impl Strategy<Value = usize> + Clone {
    0..24usize
}

/// Something or nothing; unlike `prop::option::weighted`, the chance may be none.
fn perhaps<T: fmt::Debug>(chance: f64, some: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    (prop::bool::weighted(chance), some).prop_map(|(is_some, some)| is_some.then_some(some))
}

fn link(chance: f64) -> impl Strategy<Value = Option<usize>> {
    perhaps(chance, any_one())
}

fn said(troubles: &[Trouble], chance: f64) -> impl Strategy<Value = Option<(usize, Said)>> + use<> {
    let seals = if troubles.contains(&Trouble::Seals) { 0.6 } else { 0.0 };
    let said = prop::bool::weighted(seals).prop_map(|seal| if seal { Said::Seal } else { Said::Url });
    perhaps(chance, (any_one(), said))
}

fn seed(troubles: &[Trouble]) -> impl Strategy<Value = Seed> + use<> {
    let bound = said(troubles, if troubles.contains(&Trouble::Bindings) { 0.5 } else { 0.0 });
    let links = (link(0.3), link(0.25), said(troubles, 0.3), link(0.1), bound);
    let own = (prop::sample::select(&Kind::ALL), 1..5u64, 0..COLOURS.len(), prop::bool::weighted(0.12));
    (own, links).prop_map(|((kind, size, colour, delete_first), (needs, host, note, after, bound))| Seed {
        kind,
        size,
        colour,
        needs,
        host,
        note,
        after,
        bound,
        delete_first,
    })
}

fn edit(troubles: &[Trouble]) -> impl Strategy<Value = Edit> + use<> {
    let mut edits = vec![
        (2, seed(troubles).prop_map(Edit::Add).boxed()),
        (2, any_one().prop_map(Edit::Remove).boxed()),
        (2, (any_one(), 1..5u64).prop_map(|(at, size)| Edit::Resize(at, size)).boxed()),
        (3, (any_one(), 1..COLOURS.len()).prop_map(|(at, by)| Edit::Recolour(at, by)).boxed()),
        (2, (any_one(), link(0.6)).prop_map(|(at, to)| Edit::Need(at, to)).boxed()),
        (2, (any_one(), link(0.6)).prop_map(|(at, to)| Edit::Host(at, to)).boxed()),
        (1, (any_one(), said(troubles, 0.6)).prop_map(|(at, to)| Edit::Note(at, to)).boxed()),
    ];
    let mut also = |trouble: Trouble, weight: u32, strategy: BoxedStrategy<Edit>| {
        if troubles.contains(&trouble) {
            edits.push((weight, strategy));
        }
    };
    also(
        Trouble::Bindings,
        3,
        (any_one(), said(troubles, 0.7)).prop_map(|(at, to)| Edit::Bind(at, to)).boxed(),
    );
    let cycle =
        (seed(troubles), seed(troubles)).prop_map(|(told, teller)| Edit::AddCycle(Box::new([told, teller])));
    also(Trouble::Bindings, 2, cycle.boxed());
    also(Trouble::Moves, 5, any_one().prop_map(Edit::Rename).boxed());
    also(Trouble::Moves, 3, seed(troubles).prop_map(Edit::Add).boxed());
    let region = prop::sample::select(vec![None, Some(HOME), Some(1), Some(2)]);
    also(Trouble::Places, 5, region.prop_map(Edit::Configure).boxed());
    Union::new_weighted(edits)
}

/// A request that goes wrong, in a way that the contract allows: a create that is refused for good has had no effect.
fn fault() -> impl Strategy<Value = FaultSeed> {
    use FailureClass::{Conflict, Denied, Fatal, Indeterminate, Retryable};
    let operation = prop::sample::select(vec![
        Operation::Stub,
        Operation::Create,
        Operation::Update,
        Operation::Update,
        Operation::Update,
        Operation::Delete,
    ]);
    let how = prop_oneof![
        3 => (Just(FaultEffect::None), prop::sample::select(vec![Fatal, Denied, Conflict, Retryable, Indeterminate])),
        2 => (Just(FaultEffect::Half), prop::sample::select(vec![Fatal, Retryable, Indeterminate])),
        2 => (Just(FaultEffect::Whole), prop::sample::select(vec![Retryable, Indeterminate])),
    ];
    (any_one(), operation, how, any::<bool>()).prop_map(|(at, operation, (effect, class), lasts)| FaultSeed {
        at,
        operation,
        effect,
        class,
        lasts,
    })
}

/// The programs one after another, a line per resource, and the trouble of each step.
impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sketch = Sketch::new(&self.seeds);
        write!(f, "Deploy{sketch:?}")?;
        for step in &self.steps {
            step.edits.iter().for_each(|edit| sketch.edit(edit));
            write!(f, "\n{:?}{sketch:?}", step.run)?;
            if step.loses_state {
                write!(f, "\n  after the state was lost")?;
            }
            if step.squatters {
                write!(f, "\n  taking over objects of somebody else")?;
            }
            for at in &step.restamped {
                write!(f, "\n  resized by ten, with another seal: {:?}", sketch.pick(*at))?;
            }
            for fault in &step.faults {
                write!(f, "\n  {fault:?}")?;
            }
        }
        write!(f, "\nDestroy, program: {:?}", self.last)
    }
}
