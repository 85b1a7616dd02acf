//! Where ephemeral values may stand: in attributes that are never recorded, and nowhere else.

use std::fmt;

use super::{Block, Shape};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::path::{Path, Step};
use crate::value::{Kind, Value};

impl Block {
    /// What is wrong with a value of this block that would be recorded: all ephemeral parts that are not write-only.
    pub fn refuse_ephemeral(&self, value: &Value, subject: impl fmt::Display) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        self.walk(value, &Path::ROOT, &mut |path, value| {
            let summary = format!("ephemeral value not allowed: `{path}` in {subject} is recorded");
            let hint = "use it in write-only arguments, provider configurations and ephemeral resources only";
            diagnostics.push(Diagnostic::error(summary).at(path.clone(), value.origin()).hint(hint));
        });
        diagnostics
    }

    fn walk(&self, value: &Value, path: &Path, refuse: &mut dyn FnMut(&Path, &Value)) {
        // Most programs have none, and this is asked of every resource.
        if !value.all_marks().is_ephemeral() {
            return;
        }
        let Some(entries) = value.as_entries().filter(|_| !value.marks().is_ephemeral()) else {
            return refuse(path, value);
        };
        for (name, item) in entries.iter() {
            let path = path.join(Step::Key(name.clone()));
            match (self.attributes.get(name), self.blocks.get(name)) {
                (Some(attribute), _) if attribute.write_only => {}
                (Some(attribute), _) => attribute.shape.walk(item, &path, refuse),
                (None, Some(nested)) => nested.shape().walk(item, &path, refuse),
                (None, None) => {}
            }
        }
    }
}

impl Shape {
    fn walk(&self, value: &Value, path: &Path, refuse: &mut dyn FnMut(&Path, &Value)) {
        if !value.all_marks().is_ephemeral() {
            return;
        }
        match (self, value.kind()) {
            _ if value.marks().is_ephemeral() => refuse(path, value),
            (Shape::Object(block), _) => block.walk(value, path, refuse),
            (Shape::List(element) | Shape::Set(element), Kind::List(items) | Kind::Set(items)) => {
                for (at, item) in items.iter().enumerate() {
                    element.walk(item, &path.join(Step::Index(at as u64)), refuse);
                }
            }
            (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => {
                for (key, item) in entries.iter() {
                    element.walk(item, &path.join(Step::Key(key.clone())), refuse);
                }
            }
            _ => refuse(path, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Attribute;
    use super::*;
    use crate::types::Type;
    use crate::value::Marks;

    #[test]
    fn ephemeral_values_stand_in_write_only_attributes_alone() {
        let inner = Block {
            attributes: [("open".into(), Attribute::optional(Type::String))].into_iter().collect(),
            ..Block::default()
        };
        let shape = Shape::List(std::sync::Arc::new(Shape::Object(std::sync::Arc::new(inner))));
        let block = Block {
            attributes: [
                ("kept".into(), Attribute::optional(Type::Any)),
                ("passed".into(), Attribute { write_only: true, ..Attribute::optional(Type::String) }),
                ("nested".into(), Attribute::new(shape, super::super::Presence::Optional)),
            ]
            .into_iter()
            .collect(),
            ..Block::default()
        };
        let passing = || Value::from("x").with_marks(Marks::EPHEMERAL);
        let check = |value: Value| -> Vec<String> {
            let found = block.refuse_ephemeral(&value, "it");
            found.iter().filter_map(|it| it.path.as_ref().map(ToString::to_string)).collect()
        };
        assert_eq!(check(Value::object([("passed", passing()), ("kept", "x".into())])), [""; 0]);
        assert_eq!(check(Value::object([("kept", Value::list([passing()]))])), ["kept"]);
        let nested = Value::list([Value::object([("open", passing())])]);
        assert_eq!(check(Value::object([("nested", nested)])), ["nested[0].open"]);
        assert_eq!(check(Value::object([("nested", Value::list([passing()]))])), ["nested[0]"]);
    }
}
