//! Expressions: how an input comes about.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Address, FieldError, Origin, Path, SourceMap, Step, Type, Value};

use crate::evaluate::{Evaluated, Scope};

/// An expression and where it was written. A clone shares the contents.
#[derive(Clone, Debug)]
pub struct Expression {
    node: Arc<Node>,
    place: Option<Place>,
}

/// What an expression consists of.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value as it stands.
    Literal(Value),
    /// An output of another resource.
    Reference(Reference),
    /// A part of another expression's value.
    Part(Expression, Path),
    /// Expressions in order.
    List(Vec<Expression>),
    /// Expressions under names, as an object.
    Object(Vec<(SmolStr, Expression)>),
    /// Expressions under free keys, as a map.
    Map(Vec<(SmolStr, Expression)>),
    /// A function of other expressions.
    Apply(Function, Vec<Expression>),
    /// What a front end computes by rules of its own.
    Computed(Arc<dyn Computed>),
    /// A Rust value that no value stands for.
    Invalid(FieldError),
}

/// An expression in a language of its own: its front end knows what it refers to and how to evaluate it.
pub trait Computed: fmt::Debug + Send + Sync {
    /// All that it refers to, each once. A reference to a whole resource has an empty path.
    fn references(&self) -> &[Reference];

    /// Its value, as far as it is known. Must be pure: equal scopes give equal values.
    fn evaluate(&self, scope: &dyn Scope) -> Evaluated;
}

/// An output of a resource, or a part of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reference {
    /// The resource.
    pub address: Address,
    /// The position within its outputs.
    pub path: Path,
}

/// A pure function of values. Called only when all its arguments are wholly known.
#[derive(Clone)]
pub struct Function {
    /// The type of its results, which stands in while an argument is unknown.
    pub result: Type,
    call: Arc<Call>,
}

type Call = dyn Fn(&[Value]) -> Result<Value, FieldError> + Send + Sync;

/// Where an expression was written.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In a source file.
    Source(Origin),
    /// In Rust code.
    Code(&'static Location<'static>),
}

impl Place {
    /// The place in a source file, if it is in one.
    pub fn source(self) -> Option<Origin> {
        match self {
            Place::Source(origin) => Some(origin),
            Place::Code(_) => None,
        }
    }
}

impl Expression {
    /// An expression whose place is not known.
    pub fn new(node: Node) -> Self {
        Expression { node: Arc::new(node), place: None }
    }

    /// The same expression, said to be written here.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same expression with its literals marked secret. What it refers to brings its own marks.
    #[must_use]
    pub fn into_secret(self) -> Self {
        let node = match self.node() {
            Node::Literal(value) => Node::Literal(value.clone().into_secret()),
            Node::List(items) => Node::List(items.iter().cloned().map(Expression::into_secret).collect()),
            Node::Object(entries) => Node::Object(secret_entries(entries)),
            Node::Map(entries) => Node::Map(secret_entries(entries)),
            Node::Reference(_) | Node::Part(..) | Node::Apply(..) | Node::Computed(_) | Node::Invalid(_) => {
                return self;
            }
        };
        Expression { node: Arc::new(node), place: self.place }
    }

    /// What it consists of.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Where it was written.
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// A part of this expression's value.
    #[must_use]
    pub fn part(&self, step: Step) -> Self {
        let node = match self.node() {
            Node::Reference(Reference { address, path }) => {
                Node::Reference(Reference { address: address.clone(), path: path.join(step) })
            }
            Node::Part(whole, path) => Node::Part(whole.clone(), path.join(step)),
            _ => Node::Part(self.clone(), Path::ROOT.join(step)),
        };
        Expression { node: Arc::new(node), place: self.place }
    }

    /// The same expression with every place in Rust code entered in a source map, so that the values it gives can say
    /// where they came from.
    #[must_use]
    pub fn placed_in(&self, sources: &mut SourceMap) -> Self {
        let mut all =
            |expressions: &[Expression]| expressions.iter().map(|it| it.placed_in(sources)).collect();
        let node = match self.node() {
            Node::Literal(_) | Node::Reference(_) | Node::Computed(_) | Node::Invalid(_) => None,
            Node::Part(whole, path) => Some(Node::Part(whole.placed_in(sources), path.clone())),
            Node::List(items) => Some(Node::List(all(items))),
            Node::Apply(function, arguments) => Some(Node::Apply(function.clone(), all(arguments))),
            Node::Object(entries) => Some(Node::Object(entries_placed_in(entries, sources))),
            Node::Map(entries) => Some(Node::Map(entries_placed_in(entries, sources))),
        };
        let place = self.place.map(|place| match place {
            Place::Code(location) => Place::Source(sources.code(location)),
            source @ Place::Source(_) => source,
        });
        Expression { node: node.map_or_else(|| self.node.clone(), Arc::new), place }
    }

    /// All references in the expression, in the order they stand.
    pub fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        self.collect_references(&mut found);
        found
    }

    fn collect_references<'a>(&'a self, found: &mut Vec<&'a Reference>) {
        match self.node() {
            Node::Reference(reference) => found.push(reference),
            Node::Part(whole, _) => whole.collect_references(found),
            Node::List(items) | Node::Apply(_, items) => {
                items.iter().for_each(|item| item.collect_references(found));
            }
            Node::Object(entries) | Node::Map(entries) => {
                entries.iter().for_each(|(_, item)| item.collect_references(found));
            }
            Node::Computed(computed) => found.extend(computed.references()),
            Node::Literal(_) | Node::Invalid(_) => {}
        }
    }
}

fn secret_entries(entries: &[(SmolStr, Expression)]) -> Vec<(SmolStr, Expression)> {
    entries.iter().map(|(name, item)| (name.clone(), item.clone().into_secret())).collect()
}

fn entries_placed_in(
    entries: &[(SmolStr, Expression)],
    sources: &mut SourceMap,
) -> Vec<(SmolStr, Expression)> {
    entries.iter().map(|(name, item)| (name.clone(), item.placed_in(sources))).collect()
}

impl From<Value> for Expression {
    fn from(value: Value) -> Self {
        Expression::new(Node::Literal(value))
    }
}

impl Function {
    /// A function with results of this type.
    pub fn new(
        result: Type,
        call: impl Fn(&[Value]) -> Result<Value, FieldError> + Send + Sync + 'static,
    ) -> Self {
        Function { result, call: Arc::new(call) }
    }

    pub(crate) fn call(&self, arguments: &[Value]) -> Result<Value, FieldError> {
        (self.call)(arguments)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function -> {}", self.result)
    }
}
