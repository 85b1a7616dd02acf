//! Programs as small data: what is declared, by number, and the program that it stands for.
//!
//! Links that would close a circle are left out, and so is what no cloud could grant (see [`Sketch::program`]), so that
//! every sketch is a sound program whatever was drawn.

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::{Address, Path, Type, Value};
use trueup_program::{
    BindingDeclaration, Expression, Function, MoveDeclaration, Node, Program, ProviderDeclaration, Reference,
    ResourceDeclaration,
};

use crate::cloud::{Kind, spelled};
use crate::invariants::CANARY;

/// The stack that all programs are of.
pub(crate) const STACK: &str = "sim";

/// The stage that they are deployed to.
pub(crate) const STAGE: &str = "test";

/// What programs put before a secret.
pub(crate) const BEARER: &str = "Bearer ";

/// Characters that some encodings escape.
const SIGNS: &str = "\"&/+";

pub(crate) const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// A program: what is declared, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The resources.
    pub items: BTreeMap<u64, Item>,
    /// Which number became which.
    pub moves: Vec<(Kind, u64, u64)>,
    /// How many were renamed.
    pub renamed: u64,
    /// Numbers that are not used again: their addresses moved, or their objects were let go.
    pub retired: BTreeSet<u64>,
    /// No number of what was added was as great.
    pub used: u64,
    /// How many names were given to tell resources apart that had one.
    pub separated: u64,
    /// What its provider block says, if it has one: where objects are.
    pub region: Option<u64>,
    /// Whether a block ever led somewhere else than no block does.
    pub strayed: bool,
    /// Whether a block ever led where no block does.
    pub home_is_named: bool,
    /// Whether the block follows from a compass, so that a run learns late where it leads.
    pub follows: bool,
    /// Whether objects are where they are for good: whoever has lost the state looks in one place alone.
    pub pinned: bool,
    /// Numbers whose replacement deletes first, or once did: of itself, or because of what it depends on.
    pub stiff: BTreeSet<u64>,
    /// What each number ever referred to: its object may still use it when that is replaced.
    pub linked: BTreeMap<u64, BTreeSet<u64>>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Can be changed.
    pub size: u64,
    /// Takes a new object to change.
    pub colour: usize,
    /// Another that it cannot be without.
    pub needs: Option<u64>,
    /// Another that it stands on, for good.
    pub host: Option<u64>,
    /// Another of which it says something.
    pub note: Option<u64>,
    /// Another that it comes after.
    pub after: Option<u64>,
    /// Another that attaches something to it.
    pub bound: Option<u64>,
    /// Which secret it has, if it has one.
    pub secret: Option<u64>,
    /// What it is called, if the program chooses that.
    pub path: u64,
    /// In which of its spellings.
    pub spelling: u64,
    /// The name of another that it is called by instead, which nobody may deploy while that one is there.
    pub borrowed: Option<u64>,
    /// Left in the cloud when it is removed or replaced.
    pub retain: bool,
    /// Neither replaced nor deleted.
    pub protect: bool,
    /// Deleted before it is made anew.
    pub delete_first: bool,
}

impl Item {
    /// All that it refers to. What others attach to it is another matter: that may go in circles.
    pub(crate) fn links(&self) -> impl Iterator<Item = u64> {
        [self.needs, self.host, self.note, self.after].into_iter().flatten()
    }

    /// What the program calls it.
    pub(crate) fn name(&self) -> String {
        spelled(&page_name(self.borrowed.unwrap_or(self.path)), self.spelling)
    }
}

impl Sketch {
    /// The address of a resource.
    pub(crate) fn address(&self, number: u64) -> Address {
        address(self.items[&number].kind, number)
    }

    /// The addresses that a resource has and had, as far as the program tells.
    pub(crate) fn origins(&self, number: u64) -> Vec<Address> {
        let kind = self.items[&number].kind;
        let mut numbers = vec![number];
        while let Some((_, from, _)) = self.moves.iter().find(|(_, _, to)| numbers.last() == Some(to)) {
            numbers.push(*from);
        }
        numbers.into_iter().map(|number| address(kind, number)).collect()
    }

    /// Which resource a number stands for that counts through them.
    pub(crate) fn pick(&self, at: u64) -> Option<u64> {
        self.items.keys().nth(at as usize % self.items.len().max(1)).copied()
    }

    /// Whether a resource is another, or depends on it by any way.
    pub(crate) fn reaches(&self, number: u64, other: u64) -> bool {
        let next = self.items.get(&number);
        number == other || next.is_some_and(|it| it.links().any(|next| self.reaches(next, other)))
    }

    /// Notes whose replacement deletes first by now.
    pub(crate) fn stiffen(&mut self) {
        for (number, item) in &self.items {
            self.linked.entry(*number).or_default().extend(item.links().chain(item.bound));
        }
        loop {
            let stiff = |number: &u64, item: &Item| {
                let own = item.kind.is_deleted_first() || item.delete_first;
                let linked = self.linked.get(number).is_some_and(|links| !links.is_disjoint(&self.stiff));
                !self.stiff.contains(number) && (own || linked)
            };
            let found: Vec<u64> =
                self.items.iter().filter(|(number, item)| stiff(number, item)).map(|(it, _)| *it).collect();
            if found.is_empty() {
                return;
            }
            self.stiff.extend(found);
        }
    }

    /// What it needs, as far as any cloud could grant it: what is deleted before it is made anew cannot be in use by
    /// something that only moves over later, and what is let go uses nothing that may have to go.
    pub(crate) fn needed(&self, number: u64) -> Option<u64> {
        let item = &self.items[&number];
        item.needs.filter(|needed| !item.retain && item.kind != Kind::Pool && !self.stiff.contains(needed))
    }

    /// What it stands on, as far as any cloud could grant it.
    pub(crate) fn hosted(&self, number: u64) -> Option<u64> {
        let item = &self.items[&number];
        // What several resources hold uses what the last of them said: no record tells.
        item.host.filter(|_| !item.retain && item.kind != Kind::Pool)
    }

    /// What it says something of. What several resources hold shows nothing but its size and colour: of all else, nobody sees
    /// that another one changed it.
    pub(crate) fn noted(&self, number: u64) -> Option<u64> {
        let item = &self.items[&number];
        item.note.filter(|_| item.kind != Kind::Pool)
    }

    /// Which secret it has, under the same condition.
    pub(crate) fn secret(&self, number: u64) -> Option<u64> {
        let item = &self.items[&number];
        item.secret.filter(|_| item.kind != Kind::Pool)
    }

    /// What attaches something to it, as far as a program can say so: its type must make something of it, and where it
    /// closes a circle, one of the two must have stubs.
    pub(crate) fn bound(&self, number: u64) -> Option<u64> {
        let item = &self.items[&number];
        let possible = |other: &u64| {
            let stubs = item.kind.has_stubs() || self.items[other].kind.has_stubs();
            *other != number && item.kind.is_bindable() && stubs
        };
        item.bound.filter(possible)
    }

    /// Whether something is attached in a circle.
    pub(crate) fn is_circular(&self) -> bool {
        self.items.keys().any(|number| {
            let mut reached: Vec<u64> = self.bound(*number).into_iter().collect();
            let mut seen = BTreeSet::new();
            while let Some(other) = reached.pop().filter(|other| seen.insert(*other)) {
                reached.extend(self.items[&other].links().chain(self.bound(other)));
            }
            seen.contains(number)
        })
    }

    /// The text that the resource is given: made of its secret.
    pub(crate) fn bearer(number: u64, secret: u64) -> String {
        format!("{BEARER}{}", secret_of(number, secret))
    }

    /// The same with nothing that could have a plan refused or leave two resources at odds over one object.
    pub(crate) fn unguarded(mut self) -> Self {
        self.items.values_mut().for_each(|item| item.protect = false);
        for number in self.items.keys().copied().collect::<Vec<_>>() {
            self.separate(number);
        }
        let pools = self.items.iter().filter(|(_, item)| item.kind == Kind::Pool).map(|(number, _)| *number);
        for number in pools.skip(1).collect::<Vec<_>>() {
            self.remove(number);
        }
        self
    }

    /// The program that it stands for.
    pub(crate) fn program(&self) -> Program {
        let moves = self.moves.iter().map(|(kind, from, to)| MoveDeclaration {
            from: address(*kind, *from).into(),
            to: address(*kind, *to).into(),
        });
        let compass = self.compass().map(compass);
        let led = |region: u64| match &compass {
            Some(compass) => output(&compass.address, "region"),
            None => Value::from(region).into(),
        };
        let providers = self.region.map(|region| provider(led(region))).into_iter().collect();
        let items = self.items.keys().map(|number| self.declaration(*number));
        Program {
            stack: STACK.into(),
            resources: items.chain(compass).collect(),
            moves: moves.collect(),
            providers,
            ..Program::default()
        }
    }

    /// What the compass says, if there is one.
    pub(crate) fn compass(&self) -> Option<u64> {
        self.region.filter(|_| self.follows)
    }

    fn declaration(&self, number: u64) -> ResourceDeclaration {
        let item = &self.items[&number];
        let output = |of: u64, name: &str| output(&self.address(of), name);
        let literal = |value: Value| Expression::from(value);
        let mut inputs = vec![
            ("size".into(), literal(item.size.into())),
            ("colour".into(), literal(Value::string(COLOURS[item.colour]))),
        ];
        inputs.extend(self.needed(number).map(|of| ("needs".into(), output(of, "id"))));
        inputs.extend(self.hosted(number).map(|of| ("host".into(), output(of, "id"))));
        inputs.extend(self.noted(number).map(|of| ("note".into(), output(of, "url"))));
        let secret = self.secret(number).map(|secret| Value::string(secret_of(number, secret)).into_secret());
        inputs.extend(secret.map(|secret| ("secret".into(), bearer(literal(secret)))));
        if item.kind.is_named_by_program() {
            inputs.push(("path".into(), literal(Value::string(item.name()))));
        }
        let mut declared =
            ResourceDeclaration::new(self.address(number), Expression::new(Node::Object(inputs)));
        if let Some(of) = self.bound(number) {
            declared.bindings.push(BindingDeclaration { key: "of".into(), payload: output(of, "url") });
        }
        declared.depends_on = item.after.iter().map(|of| self.address(*of)).collect();
        declared.options.retain = item.retain;
        declared.options.protect = item.protect;
        declared.options.delete_first = item.delete_first.then_some(true);
        declared
    }
}

/// A block of the provider that puts objects there.
fn provider(region: Expression) -> ProviderDeclaration {
    // The same key everywhere: two blocks differ in more than secrets, or not at all.
    let key = Value::string(format!("{CANARY}-key{SIGNS}{CANARY}")).into_secret();
    let config = Node::Object(vec![("region".into(), region), ("key".into(), key.into())]);
    ProviderDeclaration { name: "s".into(), config: Expression::new(config) }
}

/// A resource of another provider that tells a region. Some changes of it make a new one.
fn compass(region: u64) -> ResourceDeclaration {
    let address = Address::resource("k_compass", "north").unwrap_or_else(|_| unreachable!("both are names"));
    let literal = |number: u64| Expression::from(Value::from(number));
    let inputs = vec![("region".into(), literal(region)), ("hemisphere".into(), literal(region / 2))];
    ResourceDeclaration::new(address, Expression::new(Node::Object(inputs)))
}

/// The secret of a resource.
pub(crate) fn secret_of(number: u64, secret: u64) -> String {
    format!("{CANARY}-{number}-{secret}{SIGNS}{CANARY}")
}

/// A text that is made of a secret.
fn bearer(secret: Expression) -> Expression {
    let made =
        |given: &[Value]| Ok(Value::string(format!("{BEARER}{}", given[0].as_str().unwrap_or_default())));
    Expression::new(Node::Apply(Function::new(Type::String, made), vec![secret]))
}

fn output(of: &Address, name: &str) -> Expression {
    let reference = Reference { address: of.clone(), path: Path::attribute(name) };
    Expression::new(Node::Reference(reference))
}

/// The address of a resource of a kind and number.
pub(crate) fn address(kind: Kind, number: u64) -> Address {
    let type_name = format!("s_{}", kind.word());
    Address::resource(&type_name, &format!("r{number}")).unwrap_or_else(|_| unreachable!("both are names"))
}

/// What a page is called.
pub(crate) fn page_name(path: u64) -> String {
    format!("page-{path}")
}
