//! Types as a program writes them: `list(object({ name = string, size = optional(number, 1) }))`.

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::{Diagnostic, Diagnostics, FileId, Mismatch, ObjectType, Origin, Type, Value, nearest};

use super::defaults::Defaults;
use super::unify::convert_unified;
use crate::eval::{Constants, evaluate};
use crate::syntax::{Call, Expr, ExprKind, Literal, ObjectKey, parse_expression, parse_expression_at};

/// A type, and what takes the place of optional attributes that are not given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeConstraint {
    /// The type.
    pub ty: Type,
    /// The defaults.
    pub defaults: Defaults,
}

impl TypeConstraint {
    /// Any type.
    pub fn any() -> Self {
        TypeConstraint { ty: Type::Any, defaults: Defaults::default() }
    }

    /// The value with defaults filled in, as one of this type.
    pub fn convert(&self, value: &Value) -> Result<Value, Vec<Mismatch>> {
        convert_unified(&self.defaults.apply(value), &self.ty)
    }
}

/// Reads a type from text.
pub fn parse_type_expression(text: &str, file: FileId) -> Result<TypeConstraint, Diagnostics> {
    parse_type(&parse_expression(text, file)?)
}

/// Reads the type that an expression stands for. A literal string is read too, because JSON has no other way to write a
/// type, and old programs quote theirs.
pub fn parse_type(expression: &Expr) -> Result<TypeConstraint, Diagnostics> {
    if let ExprKind::Literal(Literal::String(text)) = &expression.kind {
        return parse_type(&parse_expression_at(text, expression.origin)?);
    }
    let mut reader = Reader { diagnostics: Diagnostics::new(), depth: 0 };
    match reader.constraint(expression) {
        Some(constraint) if reader.diagnostics.is_empty() => Ok(constraint),
        _ => Err(reader.diagnostics),
    }
}

const PLAIN: [&str; 4] = ["any", "bool", "number", "string"];
const CONSTRUCTORS: [&str; 5] = ["list", "map", "object", "set", "tuple"];

struct Reader {
    diagnostics: Diagnostics,
    /// How many types are around the one at hand.
    depth: usize,
}

impl Reader {
    fn constraint(&mut self, expression: &Expr) -> Option<TypeConstraint> {
        if self.depth == Value::DEPTH_MAX {
            let summary = format!("this type nests deeper than {} levels", Value::DEPTH_MAX);
            return self.mistake(expression.origin, &summary, "no value is as deep; use `any`");
        }
        self.depth += 1;
        let constraint = self.constraint_of(expression);
        self.depth -= 1;
        constraint
    }

    fn constraint_of(&mut self, expression: &Expr) -> Option<TypeConstraint> {
        match &expression.kind {
            ExprKind::Call(call) => self.constructed(call),
            _ => match expression.as_keyword() {
                Some(name) => self.named(name, expression.origin),
                None => {
                    self.mistake(expression.origin, "this is no type", "a type is written as in list(string)")
                }
            },
        }
    }

    fn named(&mut self, name: &str, origin: Origin) -> Option<TypeConstraint> {
        let ty = match name {
            "any" => Type::Any,
            "bool" => Type::Bool,
            "number" => Type::Number,
            "string" => Type::String,
            // From before element types could be said.
            "list" => Type::list(Type::Any),
            "map" => Type::map(Type::Any),
            "set" => {
                return self.mistake(
                    origin,
                    "`set` needs the type of its elements",
                    "for example set(string)",
                );
            }
            "object" => {
                return self.mistake(
                    origin,
                    "`object` needs its attributes",
                    "for example object({ name = string })",
                );
            }
            "tuple" => {
                return self.mistake(
                    origin,
                    "`tuple` needs the types of its elements",
                    "for example tuple([string])",
                );
            }
            other => {
                let hint = nearest(other, PLAIN.into_iter().chain(CONSTRUCTORS)).map_or_else(
                    || "known are any, bool, number, string, list, map, object, set and tuple".to_owned(),
                    |name| format!("did you mean `{name}`?"),
                );
                return self.mistake(origin, &format!("there is no type `{other}`"), &hint);
            }
        };
        Some(TypeConstraint { ty, defaults: Defaults::default() })
    }

    fn constructed(&mut self, call: &Call) -> Option<TypeConstraint> {
        let name = call.name.text.as_str();
        match (name, call.arguments.as_slice()) {
            ("list" | "set" | "map", [element]) => {
                let TypeConstraint { ty, defaults } = self.constraint(element)?;
                let ty = match name {
                    "list" => Type::list(ty),
                    "set" => Type::set(ty),
                    _ => Type::map(ty),
                };
                let elements = (!defaults.is_empty()).then(|| Box::new(defaults));
                Some(TypeConstraint { ty, defaults: Defaults { elements, ..Defaults::default() } })
            }
            ("tuple", [elements]) => self.tuple(elements),
            ("object", [attributes]) => self.object(attributes),
            ("optional", _) => self.mistake(
                call.name.origin,
                "`optional` stands only for an attribute of an object type",
                "for example object({ name = optional(string) })",
            ),
            (name, _) if PLAIN.contains(&name) => self.mistake(
                call.name.origin,
                &format!("the type `{name}` takes no arguments"),
                "leave the parentheses out",
            ),
            (name, _) if CONSTRUCTORS.contains(&name) => self.mistake(
                call.name.origin,
                &format!("the type `{name}` takes one argument"),
                "for example list(string)",
            ),
            (name, _) => self.named(name, call.name.origin),
        }
    }

    fn tuple(&mut self, elements: &Expr) -> Option<TypeConstraint> {
        let Some(items) = elements.as_tuple() else {
            return self.mistake(
                elements.origin,
                "a tuple type lists the types of its elements",
                "for example tuple([string, number])",
            );
        };
        let items: Vec<TypeConstraint> = items.iter().filter_map(|item| self.constraint(item)).collect();
        let positions = items.iter().enumerate().filter(|(_, item)| !item.defaults.is_empty());
        let positions = positions.map(|(at, item)| (at, item.defaults.clone())).collect();
        let ty = Type::tuple(items.into_iter().map(|item| item.ty));
        Some(TypeConstraint { ty, defaults: Defaults { positions, ..Defaults::default() } })
    }

    fn object(&mut self, attributes: &Expr) -> Option<TypeConstraint> {
        let Some(items) = attributes.as_object() else {
            return self.mistake(
                attributes.origin,
                "an object type lists its attributes",
                "for example object({ name = string })",
            );
        };
        let mut object = ObjectType { attributes: BTreeMap::new(), optional: BTreeSet::new() };
        let mut defaults = Defaults::default();
        for item in items {
            let name = match &item.key {
                ObjectKey::Name(name) => name.text.clone(),
                ObjectKey::Expr(Expr { kind: ExprKind::Literal(Literal::String(text)), .. }) => text.clone(),
                ObjectKey::Expr(other) => {
                    self.mistake::<()>(
                        other.origin,
                        "the name of an attribute is written out",
                        "for example object({ name = string })",
                    );
                    continue;
                }
            };
            let optional = item.value.as_call().filter(|call| call.name.text == "optional");
            let inner = match optional {
                Some(call) => {
                    object.optional.insert(name.clone());
                    let (inner, default) = self.optional(call)?;
                    defaults.values.extend(default.map(|value| (name.clone(), value)));
                    inner
                }
                None => self.constraint(&item.value)?,
            };
            if !inner.defaults.is_empty() {
                defaults.attributes.insert(name.clone(), inner.defaults);
            }
            object.attributes.insert(name, inner.ty);
        }
        Some(TypeConstraint { ty: Type::Object(object.into()), defaults })
    }

    /// `optional(type)` or `optional(type, default)`.
    fn optional(&mut self, call: &Call) -> Option<(TypeConstraint, Option<Value>)> {
        let (ty, default) = match call.arguments.as_slice() {
            [ty] => (ty, None),
            [ty, default] => (ty, Some(default)),
            _ => {
                return self.mistake(
                    call.name.origin,
                    "`optional` takes a type and perhaps a default",
                    "for example optional(number, 1)",
                );
            }
        };
        let constraint = self.constraint(ty)?;
        let Some(default) = default else { return Some((constraint, None)) };
        let evaluated = evaluate(default, &Constants::default());
        if evaluated.diagnostics.has_errors() {
            self.diagnostics.extend(evaluated.diagnostics);
            return None;
        }
        // The default may leave out what has a default of its own; that is filled in when it is used.
        match constraint.convert(&evaluated.value) {
            Ok(_) => Some((constraint, Some(evaluated.value))),
            Err(mismatches) => {
                for mismatch in mismatches {
                    let summary = format!("this default does not fit its type: {}", mismatch.message);
                    self.mistake::<()>(
                        mismatch.origin.unwrap_or(default.origin),
                        &summary,
                        "change the default or the type",
                    );
                }
                None
            }
        }
    }

    fn mistake<T>(&mut self, origin: Origin, summary: &str, hint: &str) -> Option<T> {
        let mut diagnostic = Diagnostic::error(summary).hint(hint);
        diagnostic.origin = Some(origin);
        self.diagnostics.push(diagnostic);
        None
    }
}
