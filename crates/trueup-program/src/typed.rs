//! Expressions with a Rust type.

// Hash collections are welcome in a user's structs: here they only have names.
#![allow(clippy::disallowed_types)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use smol_str::SmolStr;
use trueup_core::{FieldError, FieldType, Marked, Number, Secret, Step, Value};

use crate::expression::{Expression, Function, Node};

/// An expression whose value is a `T`: an output of another resource, or something made of such outputs.
pub struct Expr<T> {
    expression: Expression,
    of: PhantomData<fn() -> T>,
}

impl<T> Expr<T> {
    /// Takes an expression for one of this type; the caller knows that it is.
    pub fn assume(expression: Expression) -> Self {
        Expr { expression, of: PhantomData }
    }

    /// The expression without its type.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Takes the type away.
    pub fn into_expression(self) -> Expression {
        self.expression
    }

    /// A part of the value, by name.
    pub fn field<U: Referable>(&self, name: &str) -> U::Refs {
        Expr::assume(self.expression.part(Step::key(name))).into()
    }

    /// What a function makes of the value. The function runs when the value is known, and must be pure: it may run
    /// more than once.
    ///
    /// ```
    /// use trueup_program::Expr;
    /// # use trueup_core::value;
    /// # let url: Expr<String> = Expr::assume(value!("q/jobs").into());
    /// let name: Expr<String> = url.map(|url| url.rsplit('/').next().unwrap_or_default().to_owned());
    /// # assert_eq!(name.into_expression().evaluate(&()).value, value!("jobs"));
    /// ```
    pub fn map<U: FieldType>(self, function: impl Fn(T) -> U + Send + Sync + 'static) -> Expr<U>
    where
        T: FieldType,
    {
        let result = U::field_schema().shape.implied_type();
        let function = Function::new(result, move |arguments: &[Value]| match arguments {
            [argument] => function(T::decode(argument)?).encode(),
            _ => Err(FieldError::new("is a function of one argument")),
        });
        Expr::assume(Expression::new(Node::Apply(function, vec![self.expression])))
    }

    /// This value and another, as a pair.
    pub fn zip<U>(self, other: Expr<U>) -> Expr<(T, U)> {
        Expr::assume(Expression::new(Node::List(vec![self.expression, other.expression])))
    }
}

impl<T> fmt::Debug for Expr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(f)
    }
}

impl<T> Clone for Expr<T> {
    fn clone(&self) -> Self {
        Expr::assume(self.expression.clone())
    }
}

impl<T: Referable> Expr<Vec<T>> {
    /// One element.
    pub fn at(&self, index: u64) -> T::Refs {
        Expr::assume(self.expression.part(Step::Index(index))).into()
    }
}

/// A type whose values in other resources can be referred to, part by part.
pub trait Referable: Sized {
    /// What a reference to such a value is: an expression, or for a structure something with a method per field.
    type Refs: From<Expr<Self>>;
}

macro_rules! refer_as_a_whole {
    ($([$($parameter:ident),*] $of:ty;)*) => {$(
        impl<$($parameter),*> Referable for $of {
            type Refs = Expr<Self>;
        }
    )*};
}
refer_as_a_whole! {
    [] bool; [] i8; [] i16; [] i32; [] i64; [] u8; [] u16; [] u32; [] u64; [] f64; [] Number;
    [] String; [] SmolStr; [] PathBuf; [] Value; [A, B] (A, B); [A, B, C] (A, B, C);
    [T] Option<T>; [T] Box<T>; [T] Secret<T>; [T] Marked<T>; [T] Vec<T>; [T] BTreeSet<T>; [T] BTreeMap<String, T>;
    [T, S] HashSet<T, S>; [T, S] HashMap<String, T, S>;
}

/// What a program may give for a field of type `T`: a value, or an expression of that type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value, reference or expression of type `{T}`",
    label = "expected `{T}`, or an `Expr<{T}>`",
    note = "a reference of another type can be turned into one with `.map(…)`"
)]
pub trait IntoExpr<T> {
    /// The expression.
    fn into_expr(self) -> Expr<T>;
}

fn literal<T>(value: &impl FieldType) -> Expr<T> {
    let node = value.encode().map_or_else(Node::Invalid, Node::Literal);
    Expr::assume(Expression::new(node))
}

/// Gives an expression another type of the same values.
fn retyped<T, U>(expr: Expr<T>) -> Expr<U> {
    Expr::assume(expr.expression)
}

impl<T: FieldType> IntoExpr<T> for T {
    fn into_expr(self) -> Expr<T> {
        literal(&self)
    }
}

impl<T: FieldType> IntoExpr<Option<T>> for T {
    fn into_expr(self) -> Expr<Option<T>> {
        literal(&self)
    }
}

impl<T: FieldType> IntoExpr<Secret<T>> for T {
    fn into_expr(self) -> Expr<Secret<T>> {
        literal(&Secret::new(self))
    }
}

impl<T: FieldType> IntoExpr<Option<Secret<T>>> for T {
    fn into_expr(self) -> Expr<Option<Secret<T>>> {
        literal(&Secret::new(self))
    }
}

impl<T: FieldType> IntoExpr<Marked<T>> for T {
    fn into_expr(self) -> Expr<Marked<T>> {
        literal(&self)
    }
}

impl<T: FieldType> IntoExpr<Option<Marked<T>>> for T {
    fn into_expr(self) -> Expr<Option<Marked<T>>> {
        literal(&self)
    }
}

impl<T: FieldType> IntoExpr<Marked<T>> for Secret<T> {
    fn into_expr(self) -> Expr<Marked<T>> {
        literal(&self)
    }
}

impl<T: FieldType> IntoExpr<Option<Marked<T>>> for Secret<T> {
    fn into_expr(self) -> Expr<Option<Marked<T>>> {
        literal(&self)
    }
}

impl<T> IntoExpr<T> for Expr<T> {
    fn into_expr(self) -> Expr<T> {
        self
    }
}

impl<T> IntoExpr<Option<T>> for Expr<T> {
    fn into_expr(self) -> Expr<Option<T>> {
        retyped(self)
    }
}

impl<T> IntoExpr<Secret<T>> for Expr<T> {
    fn into_expr(self) -> Expr<Secret<T>> {
        retyped(self)
    }
}

/// Marks are on the values, so an expression of either type serves for the other.
macro_rules! marked_or_not {
    ($([$from:ty => $to:ty])*) => {$(
        impl<T> IntoExpr<$to> for Expr<$from> {
            fn into_expr(self) -> Expr<$to> {
                retyped(self)
            }
        }
    )*};
}
marked_or_not! {
    [T => Marked<T>] [T => Option<Marked<T>>] [Secret<T> => Marked<T>] [Secret<T> => Option<Marked<T>>]
    [Marked<T> => T]
}

macro_rules! from_str {
    ($($text:ty),*) => {$(
        impl IntoExpr<$text> for &str {
            fn into_expr(self) -> Expr<$text> {
                literal(&self.to_owned())
            }
        }
    )*};
}
from_str!(String, SmolStr, PathBuf, Option<String>, Option<SmolStr>, Option<PathBuf>);
from_str!(Marked<String>, Option<Marked<String>>);

macro_rules! from_secret_str {
    ($($text:ty),*) => {$(
        impl IntoExpr<$text> for &str {
            fn into_expr(self) -> Expr<$text> {
                literal(&Secret::new(self.to_owned()))
            }
        }
    )*};
}
from_secret_str!(Secret<String>, Option<Secret<String>>);

/// A list of values and expressions, in order.
pub fn list<T, E: IntoExpr<T>>(items: impl IntoIterator<Item = E>) -> Expr<Vec<T>> {
    let items = items.into_iter().map(|item| item.into_expr().into_expression());
    Expr::assume(Expression::new(Node::List(items.collect())))
}

/// A map of values and expressions.
pub fn map<T, E: IntoExpr<T>>(
    entries: impl IntoIterator<Item = (impl Into<SmolStr>, E)>,
) -> Expr<BTreeMap<String, T>> {
    let entries = entries.into_iter().map(|(key, item)| (key.into(), item.into_expr().into_expression()));
    Expr::assume(Expression::new(Node::Map(entries.collect())))
}
