//! Programs and their edits as small data, for the cloud that keeps books.
//!
//! A resource is a number, which gives its name. Links that would close a circle of inputs are left out, and so is what
//! no cloud could grant, so that every sketch is a sound program whatever was generated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use trueup_core::Address;
use trueup_program::{
    BindingDeclaration, Expression, MoveDeclaration, Node, Program, ProviderDeclaration, ResourceDeclaration,
};

use super::cloud::Kind;
use crate::lifecycle::world::{self, lit, output};

pub(crate) const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// A program: the resources it declares, by number.
#[derive(Clone, Default)]
pub(crate) struct Sketch {
    pub(crate) items: BTreeMap<usize, Item>,
    /// The region that the provider block names; `None` without a block.
    pub(crate) region: Option<u64>,
    /// Addresses that a resource had after another moved away from them.
    pub(crate) reused: BTreeSet<Address>,
    moves: Vec<Move>,
    moved_from: BTreeSet<Address>,
    added: usize,
    renamed: usize,
    /// The resources whose replacement deletes first, or once did: by themselves, or because of their dependencies.
    stiff: BTreeSet<Serial>,
    /// All that each resource ever referred to: its object may still use it when that is replaced.
    linked: BTreeMap<Serial, BTreeSet<Serial>>,
}

/// A `moved` block.
#[derive(Clone)]
struct Move {
    from: Address,
    to: Address,
    /// Whether a run has recorded it.
    done: bool,
}

/// Tells a resource from all others, whatever its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Serial(usize);

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) serial: Serial,
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) colour: usize,
    pub(crate) needs: Option<usize>,
    pub(crate) host: Option<usize>,
    pub(crate) note: Option<(usize, Said)>,
    pub(crate) after: Option<usize>,
    pub(crate) bound: Option<(usize, Said)>,
    pub(crate) delete_first: bool,
}

/// An output that others copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Url,
    /// Declared stable, so that plans rely on it.
    Seal,
}

impl Said {
    fn output(self) -> &'static str {
        match self {
            Said::Url => "url",
            Said::Seal => "seal",
        }
    }
}

/// A resource before its links are settled: they count through whatever is declared.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) colour: usize,
    pub(crate) needs: Option<usize>,
    pub(crate) host: Option<usize>,
    pub(crate) note: Option<(usize, Said)>,
    pub(crate) after: Option<usize>,
    pub(crate) bound: Option<(usize, Said)>,
    pub(crate) delete_first: bool,
}

/// A change of the program. Numbers count through what is declared.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(Seed),
    /// Adds two that form a cycle: the second uses the first, and attaches something to it.
    AddCycle(Box<[Seed; 2]>),
    Remove(usize),
    Resize(usize, u64),
    Recolour(usize, usize),
    Need(usize, Option<usize>),
    Host(usize, Option<usize>),
    Note(usize, Option<(usize, Said)>),
    Bind(usize, Option<(usize, Said)>),
    /// Gives it another address, by a `moved` block.
    Rename(usize),
    Configure(Option<u64>),
}

impl Item {
    /// The name that the program gives a page, which it keeps when it moves.
    pub(crate) fn path(&self) -> String {
        format!("page-{}", self.serial.0)
    }

    /// The resources that its inputs and `depends_on` name.
    fn links(&self) -> impl Iterator<Item = usize> {
        [self.needs, self.host, self.note.map(|(of, _)| of), self.after].into_iter().flatten()
    }
}

/// The name of a resource.
pub(crate) fn name(number: usize) -> String {
    format!("r{number}")
}

fn address(kind: Kind, number: usize) -> Address {
    world::address(&format!("{}.{}", kind.type_name(), name(number)))
}

impl Sketch {
    pub(crate) fn new(seeds: &[Seed]) -> Self {
        let mut sketch = Sketch::default();
        for seed in seeds {
            sketch.edit(&Edit::Add(seed.clone()));
        }
        // Bindings may go in circles, so they can lead to later resources too.
        for (at, seed) in seeds.iter().enumerate() {
            sketch.edit(&Edit::Bind(at, seed.bound));
        }
        sketch
    }

    pub(crate) fn address(&self, number: usize) -> Address {
        address(self.items[&number].kind, number)
    }

    /// The resource that a number counts up to.
    pub(crate) fn pick(&self, at: usize) -> Option<usize> {
        self.items.keys().nth(at % self.items.len().max(1)).copied()
    }

    /// The addresses that declared resources have and had, as far as `moved` blocks tell.
    pub(crate) fn origins(&self) -> BTreeSet<Address> {
        let mut origins = self.addresses();
        for _ in &self.moves {
            let earlier = self.moves.iter().filter(|moved| origins.contains(&moved.to));
            let earlier: Vec<Address> = earlier.map(|moved| moved.from.clone()).collect();
            origins.extend(earlier);
        }
        origins
    }

    /// Whether a resource came to this address from another, or moved away from it.
    pub(crate) fn has_history(&self, address: &Address) -> bool {
        self.moved_from.contains(address) || self.moves.iter().any(|moved| moved.to == *address)
    }

    /// Whether a replacement of this resource may delete first.
    pub(crate) fn is_stiff(&self, number: usize) -> bool {
        self.stiff.contains(&self.items[&number].serial)
    }

    pub(crate) fn has_stiff(&self) -> bool {
        !self.stiff.is_empty()
    }

    pub(crate) fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Add(seed) => drop(self.add(seed)),
            Edit::AddCycle(seeds) => self.add_cycle(seeds),
            Edit::Remove(at) => {
                if let Some(number) = self.pick(*at) {
                    self.items.remove(&number);
                    self.relink(number, None);
                }
            }
            Edit::Resize(at, size) => self.change(*at, |item| item.size = *size),
            Edit::Recolour(at, by) => {
                self.change(*at, |item| item.colour = (item.colour + by) % COLOURS.len());
            }
            Edit::Need(at, to) => self.connect(*at, *to, |item, to| item.needs = to),
            Edit::Host(at, to) => self.connect(*at, *to, |item, to| item.host = to),
            Edit::Note(at, to) => {
                let said = to.map_or(Said::Url, |(_, said)| said);
                self.connect(*at, to.map(|(of, _)| of), |item, to| item.note = to.map(|to| (to, said)));
            }
            Edit::Bind(at, to) => {
                let bound = to.and_then(|(of, said)| Some((self.pick(of)?, said)));
                self.change(*at, |item| item.bound = bound);
            }
            Edit::Rename(at) => {
                if let Some(number) = self.pick(*at) {
                    self.rename(number);
                }
            }
            Edit::Configure(region) => self.region = *region,
        }
        self.drop_dead_moves();
        self.stiffen();
    }

    /// Notes which moves are recorded, and drops their blocks where a resource has the old address again: another plan
    /// would move that one too.
    pub(crate) fn note_moves(&mut self, recorded: &BTreeSet<Address>) {
        let declared = self.addresses();
        let moves = self.moves.clone();
        for moved in &mut self.moves {
            moved.done |= recorded.contains(&end_of(&moves, &moved.to));
        }
        self.moves.retain(|moved| !(moved.done && declared.contains(&moved.from)));
    }

    /// Drops the `moved` blocks that lead to nothing.
    fn drop_dead_moves(&mut self) {
        let (declared, moves) = (self.addresses(), self.moves.clone());
        self.moves.retain(|moved| declared.contains(&end_of(&moves, &moved.to)));
    }

    fn addresses(&self) -> BTreeSet<Address> {
        self.items.keys().map(|number| self.address(*number)).collect()
    }

    fn add_cycle(&mut self, [told, teller]: &[Seed; 2]) {
        let told = self.add(told);
        let teller = self.add(teller);
        let link = self.items.get_mut(&teller).unwrap();
        // By an input that can be exchanged, or by one that cannot.
        if link.size.is_multiple_of(2) {
            link.host = Some(told);
        } else {
            link.needs = Some(told);
        }
        self.items.get_mut(&told).unwrap().bound = Some((teller, Said::Url));
    }

    fn add(&mut self, seed: &Seed) -> usize {
        let number = (0..).find(|number| !self.items.contains_key(number)).unwrap();
        let serial = Serial(self.added);
        self.added += 1;
        let own = address(seed.kind, number);
        if self.moved_from.contains(&own) {
            self.reused.insert(own);
        }
        let linked = |at: Option<usize>| at.and_then(|at| self.pick(at));
        let said = |to: Option<(usize, Said)>| to.and_then(|(at, said)| Some((self.pick(at)?, said)));
        let item = Item {
            serial,
            kind: seed.kind,
            size: seed.size,
            colour: seed.colour,
            needs: linked(seed.needs),
            host: linked(seed.host),
            note: said(seed.note),
            after: linked(seed.after),
            bound: said(seed.bound),
            delete_first: seed.delete_first,
        };
        self.items.insert(number, item);
        number
    }

    fn rename(&mut self, from: usize) {
        let old = self.address(from);
        // Of two resources that move away from one address, the first must have left before the second does.
        if self.moves.iter().any(|moved| moved.from == old && !moved.done) {
            return;
        }
        self.moves.retain(|moved| moved.from != old);
        let Some(item) = self.items.remove(&from) else { return };
        let to = 100 + self.renamed;
        self.renamed += 1;
        self.moves.push(Move { from: old.clone(), to: address(item.kind, to), done: false });
        self.moved_from.insert(old);
        self.items.insert(to, item);
        self.relink(from, Some(to));
    }

    /// Lets all that refers to a resource refer to another.
    fn relink(&mut self, from: usize, to: Option<usize>) {
        let of = |link: Option<usize>| if link == Some(from) { to } else { link };
        let said = |link: Option<(usize, Said)>| link.and_then(|(link, said)| Some((of(Some(link))?, said)));
        for item in self.items.values_mut() {
            (item.needs, item.host, item.after) = (of(item.needs), of(item.host), of(item.after));
            (item.note, item.bound) = (said(item.note), said(item.bound));
        }
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Item)) {
        if let Some(number) = self.pick(at) {
            change(self.items.get_mut(&number).unwrap());
        }
    }

    /// Makes a link or cuts it, unless it would close a circle.
    fn connect(&mut self, at: usize, to: Option<usize>, link: impl FnOnce(&mut Item, Option<usize>)) {
        let Some(number) = self.pick(at) else { return };
        let to = to.and_then(|to| self.pick(to));
        if to.is_none_or(|to| !self.reaches(to, number)) {
            link(self.items.get_mut(&number).unwrap(), to);
        }
    }

    fn reaches(&self, number: usize, other: usize) -> bool {
        number == other || self.items[&number].links().any(|next| self.reaches(next, other))
    }

    /// Notes whose replacement may delete first by now.
    fn stiffen(&mut self) {
        for item in self.items.values() {
            let links = item.links().chain(item.bound.map(|(of, _)| of));
            let serials = links.map(|of| self.items[&of].serial);
            self.linked.entry(item.serial).or_default().extend(serials);
        }
        loop {
            let before = self.stiff.len();
            for item in self.items.values() {
                let own = item.delete_first || item.kind == Kind::Page;
                if own || !self.linked[&item.serial].is_disjoint(&self.stiff) {
                    self.stiff.insert(item.serial);
                }
            }
            if self.stiff.len() == before {
                return;
            }
        }
    }

    /// The resource that it needs, as far as any cloud could grant it: what is deleted before it is made anew cannot be
    /// in use by something that only moves over later.
    pub(crate) fn needed(&self, number: usize) -> Option<usize> {
        self.items[&number].needs.filter(|needed| !self.is_stiff(*needed))
    }

    /// The resource that attaches something to it, as far as a program can say so: its type must make something of it,
    /// and one of the two must have stubs.
    pub(crate) fn bound(&self, number: usize) -> Option<(usize, Said)> {
        let kind = self.items[&number].kind;
        let possible = |other: usize| kind.has_stubs() || self.items[&other].kind.has_stubs();
        self.items[&number]
            .bound
            .filter(|(other, _)| *other != number && kind.is_convergent() && possible(*other))
    }

    pub(crate) fn program(&self) -> Program {
        let mut program = world::program([]);
        program.resources = self.items.keys().map(|number| self.declaration(*number)).collect();
        program.moves = self
            .moves
            .iter()
            .map(|it| MoveDeclaration { from: it.from.clone().into(), to: it.to.clone().into() })
            .collect();
        program.providers.extend(self.region.map(|region| {
            let config = Expression::new(Node::Object(vec![("region".into(), lit(region))]));
            ProviderDeclaration { name: "l".into(), config }
        }));
        program
    }

    fn declaration(&self, number: usize) -> ResourceDeclaration {
        let item = &self.items[&number];
        let of = |other: usize, path: &str| output(&self.address(other).to_string(), path);
        let mut inputs = vec![("size".into(), lit(item.size)), ("colour".into(), lit(COLOURS[item.colour]))];
        if item.kind == Kind::Page {
            inputs.push(("path".into(), lit(item.path())));
        }
        inputs.extend(self.needed(number).map(|other| ("needs".into(), of(other, "id"))));
        inputs.extend(item.host.map(|other| ("host".into(), of(other, "id"))));
        inputs.extend(item.note.map(|(other, said)| ("note".into(), of(other, said.output()))));
        let mut declared =
            ResourceDeclaration::new(self.address(number), Expression::new(Node::Object(inputs)));
        if let Some((other, said)) = self.bound(number) {
            let payload = of(other, said.output());
            declared.bindings.push(BindingDeclaration { key: "of".into(), payload });
        }
        declared.depends_on = item.after.iter().map(|other| self.address(*other)).collect();
        declared.options.delete_first = item.delete_first.then_some(true);
        declared
    }
}

/// The address that moves lead to.
fn end_of(moves: &[Move], address: &Address) -> Address {
    let mut end = address.clone();
    while let Some(moved) = moves.iter().find(|moved| moved.from == end) {
        end = moved.to.clone();
    }
    end
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(region) = self.region {
            write!(f, "\n  provider l in region {region}")?;
        }
        for Move { from, to, .. } in &self.moves {
            write!(f, "\n  moved {from} to {to}")?;
        }
        for (number, item) in &self.items {
            write!(f, "\n  {} size {}, {}", self.address(*number), item.size, COLOURS[item.colour])?;
            let links = [("needs", self.needed(*number)), ("host", item.host), ("after", item.after)];
            for (link, other) in links.iter().filter_map(|(link, other)| Some((link, other.as_ref()?))) {
                write!(f, ", {link} {}", name(*other))?;
            }
            for (link, said) in [("note", item.note), ("bound", self.bound(*number))] {
                if let Some((other, said)) = said {
                    write!(f, ", {link} {}.{}", name(other), said.output())?;
                }
            }
            if item.delete_first {
                write!(f, ", delete first")?;
            }
        }
        Ok(())
    }
}
