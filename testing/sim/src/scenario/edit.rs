//! Changes of a program.

use super::sketch::{COLOURS, Item, Sketch};
use crate::cloud::{HOME, Kind};

/// A change of a program. Numbers count through what is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// One more resource, linked to others by what numbers stand for.
    Add(Box<Item>),
    /// One less, with all that refers to it rewired.
    Remove(u64),
    /// Another size.
    Resize(u64, u64),
    /// Another colour.
    Recolour(u64, u64),
    /// It needs another, or none.
    Need(u64, Option<u64>),
    /// It stands on another, or none.
    Host(u64, Option<u64>),
    /// It says something of another, or of none.
    Note(u64, Option<u64>),
    /// Another attaches something to it, or none.
    Bind(u64, Option<u64>),
    /// Another secret.
    Reveal(u64, u64),
    /// It is protected from now on, or no longer.
    Protect(u64),
    /// It gets another address.
    Rename(u64),
    /// The provider block says another region, or there is none any more.
    Configure(Option<u64>),
    /// From now on the provider block follows from a compass.
    Follow,
    /// The name of a leaf is spelled differently.
    Respell(u64, u64),
    /// A leaf is called as another one is, which is a mistake, or by its own name again.
    Collide(u64),
}

impl Sketch {
    /// Changes the program.
    pub(crate) fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Add(item) => self.add(item),
            Edit::Remove(at) => {
                if let Some(number) = self.pick(*at) {
                    self.remove(number);
                }
            }
            Edit::Resize(at, size) => self.change(*at, |item| item.size = *size),
            Edit::Recolour(at, by) => {
                self.change(*at, |item| item.colour = (item.colour + *by as usize) % COLOURS.len());
            }
            Edit::Need(at, to) => self.connect(*at, *to, |item, to| item.needs = to),
            Edit::Host(at, to) => self.connect(*at, *to, |item, to| item.host = to),
            Edit::Note(at, to) => self.connect(*at, *to, |item, to| item.note = to),
            Edit::Bind(at, to) => {
                let to = to.and_then(|to| self.pick(to));
                self.change(*at, |item| item.bound = to);
            }
            Edit::Reveal(at, secret) => self.change(*at, |item| item.secret = Some(*secret)),
            Edit::Protect(at) => self.change(*at, |item| item.protect = !item.protect),
            Edit::Rename(at) => {
                if let Some(number) = self.pick(*at) {
                    self.rename(number);
                }
            }
            Edit::Configure(region) if !self.pinned => self.configure(*region),
            Edit::Configure(_) => {}
            Edit::Follow => self.follows = true,
            Edit::Respell(at, spelling) => {
                if let Some(leaf) = self.leaf(*at).and_then(|number| self.items.get_mut(&number)) {
                    leaf.spelling = *spelling;
                }
            }
            Edit::Collide(at) => self.collide(*at),
        }
        self.stiffen();
    }

    /// Puts another block in place of the one there is. Two different blocks lead to one place only if objects never leave
    /// it: nobody could tell an older generation there from what was found on the way back.
    fn configure(&mut self, region: Option<u64>) {
        match region {
            Some(HOME) if self.strayed => self.region = None,
            Some(HOME) => (self.region, self.home_is_named) = (region, true),
            Some(_) if self.home_is_named => {}
            Some(_) => (self.region, self.strayed) = (region, true),
            None => self.region = None,
        }
    }

    /// A number that is free, or one that never was used: what is let go must not be what another left, with what that
    /// used.
    fn free_number(&self, never_used: bool) -> u64 {
        let taken = |number: &u64| self.items.contains_key(number) || self.retired.contains(number);
        let first = if never_used { self.used } else { 0 };
        (first..).find(|number| !taken(number)).unwrap_or_default()
    }

    fn add(&mut self, item: &Item) {
        let number = self.free_number(item.retain);
        self.used = self.used.max(number + 1);
        // What is declared again is another resource than the one that moved away.
        self.moves.retain(|(_, from, _)| *from != number);
        // No two pages have one name.
        let is_taken = |path: &u64| self.items.values().any(|it| it.path == *path);
        let path = (number..).step_by(1_000).find(|path| !is_taken(path)).unwrap_or(number);
        let linked = |to: Option<u64>| to.and_then(|at| self.pick(at));
        let item = Item {
            needs: linked(item.needs),
            host: linked(item.host),
            note: linked(item.note),
            after: linked(item.after),
            bound: linked(item.bound),
            // All pools are one object.
            path: if item.kind == Kind::Pool { 0 } else { path },
            // What is let go keeps its name: a page cannot have another, and nothing tells a sack from the next.
            retain: item.retain && !item.kind.is_named_by_program() && item.kind != Kind::Sack,
            ..item.clone()
        };
        self.items.insert(number, item);
    }

    pub(super) fn remove(&mut self, number: u64) {
        let Some(removed) = self.items.remove(&number) else { return };
        if removed.retain {
            self.retired.insert(number);
        }
        let borrowers = self.items.iter().filter(|(_, item)| item.borrowed == Some(removed.path));
        for borrower in borrowers.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.separate(borrower);
        }
        self.relink(number, None);
    }

    fn rename(&mut self, from: u64) {
        let Some(item) = self.items.remove(&from) else { return };
        // What is let go keeps its name, and so does a page, whatever its address.
        if item.retain || item.kind.is_named_by_program() {
            self.retired.insert(from);
        }
        // One that was never used: where something was removed and is still recorded, nothing can move to.
        let to = 100 + self.renamed;
        self.renamed += 1;
        self.moves.push((item.kind, from, to));
        if self.stiff.contains(&from) {
            self.stiff.insert(to);
        }
        self.items.insert(to, item);
        self.relink(from, Some(to));
    }

    /// Lets all that refers to a resource refer to another.
    fn relink(&mut self, from: u64, to: Option<u64>) {
        for item in self.items.values_mut() {
            let links = [&mut item.needs, &mut item.host, &mut item.note, &mut item.after, &mut item.bound];
            for link in links {
                if *link == Some(from) {
                    *link = to;
                }
            }
        }
    }

    /// The leaf that a number stands for that counts through leaves.
    fn leaf(&self, at: u64) -> Option<u64> {
        let leaves = self.items.iter().filter(|(_, item)| item.kind == Kind::Leaf);
        let leaves: Vec<u64> = leaves.map(|(number, _)| *number).collect();
        leaves.get(at as usize % leaves.len().max(1)).copied()
    }

    fn collide(&mut self, at: u64) {
        let (Some(leaf), Some(other)) = (self.leaf(at), self.leaf(at + 1)) else { return };
        if leaf == other || self.items[&leaf].borrowed.is_some() {
            return self.separate(leaf);
        }
        // Names do not go round: whoever lends one has it.
        let lends = self.items.values().any(|it| it.borrowed == Some(self.items[&leaf].path));
        let Item { path, borrowed, .. } = self.items[&other];
        if let Some(leaf) = self.items.get_mut(&leaf).filter(|_| borrowed.is_none() && !lends) {
            leaf.borrowed = Some(path);
        }
    }

    /// Gives a leaf that has the name of another one a name of its own, and the other one too: which of them has an object
    /// there by now, nobody knows.
    pub(super) fn separate(&mut self, leaf: u64) {
        let Some(path) = self.items.get(&leaf).and_then(|leaf| leaf.borrowed) else { return };
        let involved = self.items.values_mut().filter(|it| it.kind == Kind::Leaf);
        for item in involved.filter(|it| it.path == path || it.borrowed == Some(path)) {
            self.separated += 1;
            (item.path, item.borrowed) = (10_000 + self.separated, None);
        }
    }

    fn change(&mut self, at: u64, change: impl FnOnce(&mut Item)) {
        if let Some(item) = self.pick(at).and_then(|number| self.items.get_mut(&number)) {
            change(item);
        }
    }

    /// Makes a link, unless it would close a circle.
    fn connect(&mut self, at: u64, to: Option<u64>, link: impl FnOnce(&mut Item, Option<u64>)) {
        let Some(number) = self.pick(at) else { return };
        let to = to.and_then(|to| self.pick(to));
        if to.is_some_and(|to| self.reaches(to, number)) {
            return;
        }
        if let Some(item) = self.items.get_mut(&number) {
            link(item, to);
        }
    }
}
