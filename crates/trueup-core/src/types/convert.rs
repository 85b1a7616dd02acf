//! Turning a value into one of a wanted type, as Terraform does: numbers and bools become text and back where the text
//! says so, lists become sets, objects maps. Marks and origins stay. Every mismatch is reported, not just the first.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{ObjectType, Type};
use crate::path::{Path, Step};
use crate::source::Origin;
use crate::value::{Kind, Marks, Number, Refinement, Value};

/// A position whose value is not of the wanted type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value. What lies inside a secret has the place of the secret, because keys are as secret as values.
    pub path: Path,
    /// Where in the source.
    pub origin: Option<Origin>,
    /// What is wrong, without the value itself: it may be secret.
    pub message: String,
}

/// The value as one of this type, or every position that cannot be.
pub fn convert(value: &Value, wanted: &Type) -> Result<Value, Vec<Mismatch>> {
    let mut conversion = Conversion { path: Path::ROOT, secret_at: None, mismatches: Vec::new() };
    let converted = conversion.value(value, wanted);
    if conversion.mismatches.is_empty() { Ok(converted) } else { Err(conversion.mismatches) }
}

struct Conversion {
    path: Path,
    /// The length of the path to the outermost secret around.
    secret_at: Option<usize>,
    mismatches: Vec<Mismatch>,
}

impl Conversion {
    fn value(&mut self, value: &Value, wanted: &Type) -> Value {
        let around = self.secret_at;
        if value.is_secret() {
            self.secret_at = around.or(Some(self.path.steps().len()));
        }
        let converted = self.converted(value, wanted);
        self.secret_at = around;
        converted
    }

    fn converted(&mut self, value: &Value, wanted: &Type) -> Value {
        if self.path.steps().len() >= Value::DEPTH_MAX {
            return self.mismatch(value, format!("nests deeper than {} levels", Value::DEPTH_MAX));
        }
        let kind = match (value.kind(), wanted) {
            (_, Type::Any) | (Kind::Null, _) | (Kind::Bool(_), Type::Bool) => return self.as_is(value),
            (Kind::Number(_), Type::Number) | (Kind::String(_), Type::String) => return value.clone(),
            (Kind::Unknown(ty), wanted) if may_become(ty, wanted) => return unknown_as(value, ty, wanted),
            (Kind::Bool(truth), Type::String) => Kind::String(if *truth { "true" } else { "false" }.into()),
            (Kind::Number(number), Type::String) => Kind::String(SmolStr::new(number.to_plain_string())),
            (Kind::String(text), Type::Bool) => match text.as_str() {
                "true" | "1" => Kind::Bool(true),
                "false" | "0" => Kind::Bool(false),
                _ => return self.mismatch(value, "expected true or false, found other text".to_owned()),
            },
            (Kind::String(text), Type::Number) => match text.parse::<Number>() {
                Ok(number) => Kind::Number(number),
                Err(error) => {
                    return self.mismatch(value, format!("expected a number, found text that {error}"));
                }
            },
            // Unknown elements of a set may turn out to be the same.
            (Kind::Set(items), Type::List(_)) if !value.is_wholly_known() => {
                let length = Refinement::bounds(items.len().min(1), Some(items.len()));
                return value
                    .with_content_of(&Value::refined(wanted.clone(), length))
                    .with_marks(value.all_marks());
            }
            (Kind::List(items) | Kind::Set(items), Type::List(element)) => {
                Kind::List(self.items(items, |_| element).into())
            }
            (Kind::List(items), Type::Tuple(elements)) if items.len() == elements.len() => {
                let kind = Kind::List(self.items(items, |at| &elements[at]).into());
                return value.with_kind(kind).into_tuple_if(true);
            }
            (Kind::List(items) | Kind::Set(items), Type::Set(element)) => {
                let set = as_set(self.items(items, |_| element));
                return value.with_kind(set.kind().clone()).with_marks(set.marks());
            }
            (Kind::Map(entries) | Kind::Object(entries), Type::Map(element)) => {
                let convert = |(key, item): (&SmolStr, _)| {
                    (key.clone(), self.at(Step::Key(key.clone()), item, element))
                };
                let entries: Vec<_> = entries.iter().map(convert).collect();
                Kind::Map(crate::value::Entries::from_pairs(entries))
            }
            (Kind::Map(_) | Kind::Object(_), Type::Object(object)) => return self.object(value, object),
            _ => {
                return self
                    .mismatch(value, format!("expected {}, found {}", described(wanted), value.kind_name()));
            }
        };
        value.with_kind(kind)
    }

    /// A value that may have any type still has to stay within bounds.
    fn as_is(&mut self, value: &Value) -> Value {
        if self.path.steps().len() + value.depth() > Value::DEPTH_MAX {
            return self.mismatch(value, format!("nests deeper than {} levels", Value::DEPTH_MAX));
        }
        value.clone()
    }

    fn items<'t>(&mut self, items: &[Value], wanted: impl Fn(usize) -> &'t Type) -> Vec<Value> {
        let convert = |(at, item)| self.at(Step::Index(at as u64), item, wanted(at));
        items.iter().enumerate().map(convert).collect()
    }

    fn object(&mut self, value: &Value, wanted: &Arc<ObjectType>) -> Value {
        let mut attributes = Vec::with_capacity(wanted.attributes.len());
        for (name, ty) in &wanted.attributes {
            let given = value.as_entries().and_then(|entries| entries.get(name));
            let converted = match given {
                Some(given) => self.at(Step::Key(name.clone()), given, ty),
                None if wanted.optional.contains(name) => Value::NULL,
                None => self.mismatch(value, format!("attribute `{name}` is missing")),
            };
            attributes.push((name.clone(), converted));
        }
        value.with_kind(Value::object(attributes).kind().clone())
    }

    fn at(&mut self, step: Step, value: &Value, wanted: &Type) -> Value {
        self.path.push(step);
        let converted = self.value(value, wanted);
        self.path.pop();
        converted
    }

    fn mismatch(&mut self, value: &Value, message: String) -> Value {
        let steps = self.path.steps();
        let path = steps.iter().take(self.secret_at.unwrap_or(steps.len())).cloned().collect();
        self.mismatches.push(Mismatch { path, origin: value.origin(), message });
        Value::NULL
    }
}

/// An unknown value as one of another type, of which as much is known as the conversion keeps.
fn unknown_as(value: &Value, from: &Type, wanted: &Type) -> Value {
    if wanted == from {
        return value.clone();
    }
    let known = value.refinement();
    let (least, most) = known.map_or((0, None), |known| (known.least.unwrap_or(0), known.most));
    let length = match (from, wanted) {
        (Type::Object(object), Type::Map(_)) => {
            Some((object.attributes.len(), Some(object.attributes.len())))
        }
        (Type::Tuple(elements), Type::List(_)) => Some((elements.len(), Some(elements.len()))),
        (Type::Tuple(elements), Type::Set(_)) => Some((elements.len().min(1), Some(elements.len()))),
        (Type::List(_), Type::Set(_)) => Some((least.min(1), most)),
        (Type::List(_) | Type::Set(_), Type::List(_) | Type::Set(_)) | (Type::Map(_), Type::Map(_)) => {
            Some((least, most))
        }
        _ => None,
    };
    let converted = match (known.is_some(), length) {
        (true, Some((least, most))) => Value::refined(wanted.clone(), Refinement::bounds(least, most)),
        (true, None) => Value::unknown(wanted.clone()).never_null(),
        (false, _) => Value::unknown(wanted.clone()),
    };
    value.with_content_of(&converted)
}

/// A set of these elements. One with a secret in it is secret as a whole: how many elements there are and in which order they
/// are shown tells of each of them.
fn as_set(items: Vec<Value>) -> Value {
    let marks = items.iter().fold(Marks::NONE, |marks, item| marks | item.all_marks());
    // What is sealed cannot be told apart, and comes from records.
    if marks == Marks::NONE || marks.less(Marks::SEALED) != marks {
        return Value::set(items);
    }
    Value::set(items.iter().map(Value::without_marks)).with_marks(marks)
}

/// Whether some value of type `from` converts to `to`.
pub(crate) fn may_become(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Any, _) | (_, Type::Any) => true,
        (Type::Bool | Type::Number | Type::String, Type::String)
        | (Type::Bool | Type::String, Type::Bool)
        | (Type::Number | Type::String, Type::Number) => true,
        (Type::List(from) | Type::Set(from), Type::List(to) | Type::Set(to))
        | (Type::Map(from), Type::Map(to)) => may_become(from, to),
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => from.iter().all(|from| may_become(from, to)),
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| may_become(from, to))
        }
        (Type::Object(from), Type::Map(to)) => from.attributes.values().all(|from| may_become(from, to)),
        // A map need not have what is optional.
        (Type::Map(from), Type::Object(object)) => {
            let mut attributes = object.attributes.iter();
            attributes.all(|(name, to)| may_become(from, to) || object.optional.contains(name))
        }
        (Type::Object(from), Type::Object(to)) => to.attributes.iter().all(|(name, to_type)| {
            let given = from.attributes.get(name);
            given.map_or_else(|| to.optional.contains(name), |from| may_become(from, to_type))
        }),
        _ => false,
    }
}

/// The wanted type with its article where it is a single word.
fn described(ty: &Type) -> String {
    match ty {
        Type::Any | Type::Bool | Type::Number | Type::String => format!("a {ty}"),
        Type::Object(_) => "an object".to_owned(),
        _ => ty.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[track_caller]
    fn check(value: &Value, ty: &Type, expected: &str) {
        let found = match convert(value, ty) {
            Ok(converted) => converted.to_string(),
            Err(mismatches) => {
                let lines: Vec<_> =
                    mismatches.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
                lines.join("; ")
            }
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn plain_values_convert_where_the_text_says_so() {
        check(&value!("5"), &Type::Number, "5");
        check(&value!(5), &Type::String, "\"5\"");
        check(&value!("true"), &Type::Bool, "true");
        check(&value!("yes"), &Type::Bool, ": expected true or false, found other text");
        check(&value!("five"), &Type::Number, ": expected a number, found text that is not a number");
        check(&value!([1]), &Type::String, ": expected a string, found a list");
        check(&value!(null), &Type::Number, "null");
    }

    #[test]
    fn collections_convert_element_by_element() {
        check(&value!([3, 1, 1]), &Type::set(Type::String), "set[\"1\", \"3\"]");
        check(&value!({ a: 1 }), &Type::map(Type::String), "map{ a = \"1\" }");
        check(
            &value!([1, {}, []]),
            &Type::list(Type::Number),
            "[1]: expected a number, found an object; [2]: expected a number, found a list",
        );
    }

    #[test]
    fn objects_report_what_is_missing_and_drop_what_is_foreign() {
        let ty = Type::object([("a", Type::Number), ("b", Type::String)]);
        check(&value!({ a: 1, b: "x", c: 3 }), &ty, "{ a = 1, b = \"x\" }");
        check(
            &value!({ a: "x" }),
            &ty,
            "a: expected a number, found text that is not a number; : attribute `b` is missing",
        );
    }

    #[test]
    fn unknown_values_take_the_wanted_type_if_they_can_become_it() {
        check(&Value::unknown(Type::Any), &Type::Number, "(unknown number)");
        check(&Value::unknown(Type::Bool), &Type::String, "(unknown string)");
        let optional = ObjectType {
            attributes: [("a", Type::list(Type::String)), ("b", Type::String)]
                .map(|(name, ty)| (name.into(), ty))
                .into(),
            optional: ["b".into()].into(),
        };
        let map = Value::unknown(Type::map(Type::list(Type::String)));
        check(
            &map,
            &Type::Object(optional.into()),
            "(unknown object({ a = list(string), b = optional(string) }))",
        );
        let required = Type::object([("a", Type::list(Type::String)), ("b", Type::String)]);
        check(&map, &required, ": expected an object, found an unknown value");
        check(
            &Value::unknown(Type::list(Type::Any)),
            &Type::Bool,
            ": expected a bool, found an unknown value",
        );
    }

    /// UNKNOWN-16
    #[test]
    fn what_is_known_of_unknown_values_survives_conversion() {
        let list = |known| Value::refined(Type::list(Type::Number), known);
        let bounds = |value: &Value| value.refinement().map(|known| (known.least, known.most));
        let set = convert(&list(Refinement::bounds(2, None)), &Type::set(Type::String)).unwrap();
        assert_eq!(bounds(&set), Some((Some(1), None)), "two of them may be the same");
        check(
            &list(Refinement::bounds(2, Some(2))),
            &Type::list(Type::String),
            "[(unknown string), (unknown string)]",
        );
        let tuple = Value::unknown(Type::tuple([Type::Number, Type::Number]));
        check(&tuple, &Type::list(Type::Number), "(unknown list(number))");
        check(&tuple.never_null(), &Type::list(Type::Number), "[(unknown number), (unknown number)]");
        let open = Value::set([value!(1), Value::unknown(Type::Number)]);
        let list = convert(&open, &Type::list(Type::Number)).unwrap();
        assert_eq!(bounds(&list), Some((Some(1), Some(2))), "which of them are the same is open");
    }

    /// SECRET-1: neither the keys inside a secret nor how deep it is are told.
    #[test]
    fn a_mismatch_names_no_place_inside_a_secret() {
        let secret = value!({ customer: ["x"] }).into_secret();
        let message = "expected a number, found text that is not a number";
        check(&secret, &Type::map(Type::list(Type::Number)), &format!(": {message}"));
        let inside = Value::object([("open", secret), ("other", value!({ a: ["x"] }))]);
        let wanted = Type::map(Type::map(Type::list(Type::Number)));
        check(&inside, &wanted, &format!("open: {message}; other.a[0]: {message}"));
    }

    #[test]
    fn secret_marks_survive_conversion() {
        let converted = convert(&value!([1]).into_secret(), &Type::set(Type::String)).unwrap();
        assert!(converted.is_secret());
    }

    /// SECRET-13: equal elements are one, and the order of a set is that of its elements.
    #[test]
    fn a_set_with_a_secret_is_secret_as_a_whole() {
        let items = Value::list([value!("b"), value!("a").into_secret(), value!("a")]);
        let set = convert(&items, &Type::set(Type::String)).unwrap();
        assert!(set.is_secret());
        assert_eq!(set.reveal(), Value::set([value!("a"), value!("b")]));
    }
}
