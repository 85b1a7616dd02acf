//! Programs and edits as small data that proptest can shrink, and the programs they stand for.
//!
//! A resource is a number, which gives its address. Links that would close a circle are left out, so that every sketch
//! is a sound program whatever was generated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use trueup_program::{Expression, Node, Program, ResourceDeclaration};

use crate::lifecycle::world::{self, lit, output};

/// A program: what is declared, by number.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Sketch {
    pub(crate) items: BTreeMap<usize, Item>,
    /// Numbers that are not used again, since retained objects bear their names.
    retired: BTreeSet<usize>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) size: u64,
    pub(crate) colour: Colour,
    /// Whose url it reads.
    pub(crate) from: Option<usize>,
    /// What else it comes after.
    pub(crate) after: BTreeSet<usize>,
    pub(crate) options: Options,
}

/// The field that forces a replacement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Colour {
    Plain(usize),
    /// The url of another, which may not be known before apply.
    UrlOf(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) retain: bool,
    pub(crate) protect: bool,
    pub(crate) delete_first: Option<bool>,
}

/// A resource before its links are settled: they count through whatever is declared.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    size: u64,
    colour: usize,
    painted_by: Option<usize>,
    from: Option<usize>,
    after: Vec<usize>,
    options: Options,
}

/// A change of the program, or of the cloud behind its back. Numbers count through what is declared.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(Seed),
    Remove(usize),
    Resize(usize, u64),
    Recolour(usize, usize),
    Repaint(usize, usize),
    Rewire(usize, Option<usize>),
    Depend(usize, usize),
    /// What it read from reads from it.
    Turn(usize),
    Tamper(usize, Tampering),
    Vanish(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Tampering {
    Size,
    Colour,
}

/// A program, and edits that are deployed group by group.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) seeds: Vec<Seed>,
    pub(crate) rounds: Vec<Vec<Edit>>,
}

const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// The name of a resource.
pub(crate) fn name(number: usize) -> String {
    format!("r{number}")
}

/// The address of a resource: its type follows from its number.
pub(crate) fn address(number: usize) -> String {
    let kind = if number % 3 == 2 { "w_token" } else { "w_thing" };
    format!("{kind}.{}", name(number))
}

impl Sketch {
    pub(crate) fn new(seeds: &[Seed]) -> Self {
        let mut sketch = Sketch::default();
        for seed in seeds {
            sketch.add(seed);
        }
        for (number, seed) in seeds.iter().enumerate() {
            sketch.link(number, seed);
        }
        sketch
    }

    /// What a resource depends on.
    pub(crate) fn dependencies(&self, number: usize) -> BTreeSet<usize> {
        let item = &self.items[&number];
        let painter = match item.colour {
            Colour::UrlOf(other) => Some(other),
            Colour::Plain(_) => None,
        };
        item.after.iter().copied().chain(item.from).chain(painter).collect()
    }

    /// The program it stands for.
    pub(crate) fn program(&self) -> Program {
        let mut program = world::program([]);
        program.resources = self.items.iter().map(|(number, item)| declaration(*number, item)).collect();
        program
    }

    /// The same with nothing that could have a plan refused.
    pub(crate) fn unguarded(mut self) -> Self {
        for item in self.items.values_mut() {
            item.options.protect = false;
            item.options.delete_first.take_if(|delete_first| !*delete_first);
        }
        self
    }

    /// Changes the program; edits of the cloud leave it as it is.
    pub(crate) fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Add(seed) => {
                let number = self.add(seed);
                self.link(number, seed);
            }
            Edit::Remove(at) => {
                if let Some(number) = self.pick(*at) {
                    self.remove(number);
                }
            }
            Edit::Resize(at, size) => self.change(*at, |item| item.size = *size),
            Edit::Recolour(at, colour) => self.change(*at, |item| item.colour = Colour::Plain(*colour)),
            Edit::Repaint(at, to) => self.connect(*at, *to, |item, to| item.colour = Colour::UrlOf(to)),
            Edit::Rewire(at, None) => self.change(*at, |item| item.from = None),
            Edit::Rewire(at, Some(to)) => {
                self.change(*at, |item| item.from = None);
                self.connect(*at, *to, |item, to| item.from = Some(to));
            }
            Edit::Depend(at, to) => self.connect(*at, *to, |item, to| {
                item.after.insert(to);
            }),
            Edit::Turn(at) => self.turn(*at),
            Edit::Tamper(..) | Edit::Vanish(_) => {}
        }
    }

    /// Which resource an edit is about.
    pub(crate) fn pick(&self, at: usize) -> Option<usize> {
        self.items.keys().nth(at % self.items.len().max(1)).copied()
    }

    fn add(&mut self, seed: &Seed) -> usize {
        let taken = |number: &usize| self.items.contains_key(number) || self.retired.contains(number);
        let number = (0..).find(|number| !taken(number)).unwrap();
        let Seed { size, colour, options, .. } = *seed;
        let colour = Colour::Plain(colour);
        self.items.insert(number, Item { size, colour, from: None, after: BTreeSet::new(), options });
        number
    }

    fn remove(&mut self, number: usize) {
        let removed = self.items.remove(&number).unwrap();
        if removed.options.retain {
            self.retired.insert(number);
        }
        for item in self.items.values_mut() {
            item.after.remove(&number);
            item.from.take_if(|from| *from == number);
            if item.colour == Colour::UrlOf(number) {
                item.colour = Colour::Plain(0);
            }
        }
    }

    fn link(&mut self, number: usize, seed: &Seed) {
        let at = self.items.keys().position(|own| *own == number).unwrap();
        if let Some(to) = seed.painted_by {
            self.connect(at, to, |item, to| item.colour = Colour::UrlOf(to));
        }
        if let Some(to) = seed.from {
            self.connect(at, to, |item, to| item.from = Some(to));
        }
        for &to in &seed.after {
            self.connect(at, to, |item, to| {
                item.after.insert(to);
            });
        }
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Item)) {
        if let Some(number) = self.pick(at) {
            change(self.items.get_mut(&number).unwrap());
        }
    }

    /// Makes a link, unless it would close a circle.
    fn connect(&mut self, at: usize, to: usize, link: impl FnOnce(&mut Item, usize)) {
        let (Some(number), Some(to)) = (self.pick(at), self.pick(to)) else { return };
        if !self.reaches(to, number) {
            link(self.items.get_mut(&number).unwrap(), to);
        }
    }

    fn turn(&mut self, at: usize) {
        let Some(number) = self.pick(at) else { return };
        let mut turned = self.clone();
        let item = turned.items.get_mut(&number).unwrap();
        let Some(source) = item.from.take() else { return };
        item.after.remove(&source);
        if item.colour == Colour::UrlOf(source) {
            item.colour = Colour::Plain(0);
        }
        if !turned.reaches(number, source) {
            turned.items.get_mut(&source).unwrap().from = Some(number);
            *self = turned;
        }
    }

    /// Whether a resource is another, or depends on it by any way.
    pub(crate) fn reaches(&self, number: usize, other: usize) -> bool {
        number == other || self.dependencies(number).iter().any(|next| self.reaches(*next, other))
    }
}

fn declaration(number: usize, item: &Item) -> ResourceDeclaration {
    let url = |of: usize| output(&address(of), "url");
    let colour = match item.colour {
        Colour::Plain(colour) => lit(COLOURS[colour]),
        Colour::UrlOf(other) => url(other),
    };
    let mut inputs = vec![("size".into(), lit(item.size)), ("colour".into(), colour)];
    inputs.extend(item.from.map(|from| ("from".into(), url(from))));
    let inputs = Expression::new(Node::Object(inputs));
    let mut declared = ResourceDeclaration::new(world::address(&address(number)), inputs);
    declared.depends_on = item.after.iter().map(|other| world::address(&address(*other))).collect();
    declared.options.retain = item.options.retain;
    declared.options.protect = item.options.protect;
    declared.options.delete_first = item.options.delete_first;
    declared
}

/// The colour as the cloud has it, given the urls of others.
pub(crate) fn shown(colour: &Colour, url: impl Fn(usize) -> String) -> String {
    match colour {
        Colour::Plain(colour) => COLOURS[*colour].to_owned(),
        Colour::UrlOf(other) => url(*other),
    }
}

/// The programs one after another, a line per resource, and what is done to the cloud in between. A program that is
/// refused is not edited further: the one before it is.
impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sketch = Sketch::new(&self.seeds);
        write!(f, "deploy{sketch:?}")?;
        for edits in &self.rounds {
            let deployed = sketch.clone();
            for edit in edits {
                match edit {
                    Edit::Tamper(at, how) => {
                        write!(f, "\n  {how:?} of {:?} is changed outside", deployed.pick(*at))?;
                    }
                    Edit::Vanish(at) => write!(f, "\n  {:?} is removed outside", deployed.pick(*at))?,
                    _ => sketch.edit(edit),
                }
            }
            write!(f, "\ndeploy{sketch:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, item) in &self.items {
            let Item { size, colour, from, after, options } = item;
            write!(
                f,
                "\n  {} size {size}, colour {}",
                address(*number),
                shown(colour, |of| format!("{}.url", name(of)))
            )?;
            if let Some(from) = from {
                write!(f, ", from {}.url", name(*from))?;
            }
            if !after.is_empty() {
                write!(f, ", after {after:?}")?;
            }
            if *options != Options::default() {
                write!(f, ", {options:?}")?;
            }
        }
        Ok(())
    }
}

/// Programs of at most this many resources, edited in up to three rounds.
pub(crate) fn scenario(resources_max: usize) -> impl Strategy<Value = Scenario> {
    scenario_with(resources_max, options())
}

/// The same where nothing outlives its resource.
pub(crate) fn scenario_without_retain(resources_max: usize) -> impl Strategy<Value = Scenario> {
    scenario_with(resources_max, options().prop_map(|options| Options { retain: false, ..options }))
}

fn scenario_with(
    resources_max: usize,
    options: impl Strategy<Value = Options> + Clone + 'static,
) -> impl Strategy<Value = Scenario> {
    let seeds = vec(seed(options.clone()), 1..=resources_max);
    let rounds = vec(vec(edit(options), 1..=4), 1..=3);
    (seeds, rounds).prop_map(|(seeds, rounds)| Scenario { seeds, rounds })
}

fn options() -> impl Strategy<Value = Options> + Clone {
    let delete_first = prop_oneof![6 => Just(None), 2 => Just(Some(true)), 1 => Just(Some(false))];
    (prop::bool::weighted(0.1), prop::bool::weighted(0.03), delete_first)
        .prop_map(|(retain, protect, delete_first)| Options { retain, protect, delete_first })
}

/// Any of the resources declared: numbers are counted through.
fn any_one() -> impl Strategy<Value = usize> + Clone {
    0..24usize
}

fn seed(options: impl Strategy<Value = Options>) -> impl Strategy<Value = Seed> {
    let painted_by = prop::option::weighted(0.15, any_one());
    let from = prop::option::weighted(0.5, any_one());
    (1..5u64, 0..COLOURS.len(), painted_by, from, vec(any_one(), 0..2), options).prop_map(
        |(size, colour, painted_by, from, after, options)| Seed {
            size,
            colour,
            painted_by,
            from,
            after,
            options,
        },
    )
}

fn edit(options: impl Strategy<Value = Options> + 'static) -> impl Strategy<Value = Edit> {
    let tampering = prop_oneof![Just(Tampering::Size), Just(Tampering::Colour)];
    prop_oneof![
        2 => seed(options).prop_map(Edit::Add),
        2 => any_one().prop_map(Edit::Remove),
        3 => (any_one(), 1..5u64).prop_map(|(at, size)| Edit::Resize(at, size)),
        3 => (any_one(), 0..COLOURS.len()).prop_map(|(at, colour)| Edit::Recolour(at, colour)),
        1 => (any_one(), any_one()).prop_map(|(at, to)| Edit::Repaint(at, to)),
        2 => (any_one(), prop::option::weighted(0.8, any_one())).prop_map(|(at, to)| Edit::Rewire(at, to)),
        1 => (any_one(), any_one()).prop_map(|(at, to)| Edit::Depend(at, to)),
        1 => any_one().prop_map(Edit::Turn),
        1 => (any_one(), tampering).prop_map(|(at, how)| Edit::Tamper(at, how)),
        1 => any_one().prop_map(Edit::Vanish),
    ]
}
