//! What an args builder has gathered so far.

use std::panic::Location;

use smol_str::SmolStr;

use crate::expression::{Expression, Node, Place};
use crate::typed::IntoExpr;

/// The fields of an args builder that were set, each with the place in the code that set it.
#[derive(Clone, Debug)]
pub struct Arguments {
    entries: Vec<(SmolStr, Expression)>,
    place: Place,
}

impl Arguments {
    /// Nothing set yet.
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "the place of a default would be inside the library")]
    pub fn new() -> Self {
        Arguments { entries: Vec::new(), place: Place::Code(Location::caller()) }
    }

    /// Sets a field; set again, the last counts.
    #[track_caller]
    pub fn set<T>(&mut self, name: &'static str, value: impl IntoExpr<T>) {
        self.insert(name, value.into_expr().into_expression());
    }

    /// Sets a field that is secret.
    #[track_caller]
    pub fn set_secret<T>(&mut self, name: &'static str, value: impl IntoExpr<T>) {
        self.insert(name, value.into_expr().into_expression().into_secret());
    }

    #[track_caller]
    fn insert(&mut self, name: &'static str, expression: Expression) {
        // An expression that knows a finer place keeps it.
        let expression = match expression.place() {
            Some(_) => expression,
            None => expression.at(Place::Code(Location::caller())),
        };
        self.entries.retain(|(own, _)| own != name);
        self.entries.push((SmolStr::new_static(name), expression));
    }

    /// The object that the fields make up.
    pub fn into_expression(self) -> Expression {
        Expression::new(Node::Object(self.entries)).at(self.place)
    }
}
