//! Whether a planned state keeps to what the program wrote.
//!
//! A provider decides what it computes and the program leaves open. Everything else is as it is written, or as it was if
//! the provider takes the two for the same.

use trueup_core::schema::{Attribute, Block, Shape};
use trueup_core::{Entries, Kind, Path, Step, Value};

use super::{NULL, Violation, entry, fits_shape, is_computed, keys_of};

/// Where a plan breaks the rules. All values are complete; `prior` is null for an object to be created.
pub fn violations(block: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Violation> {
    let mut check = Check { path: Path::ROOT, found: Vec::new() };
    check.block(block, prior, config, planned);
    check.found
}

struct Check {
    path: Path,
    found: Vec<Violation>,
}

impl Check {
    fn block(&mut self, block: &Block, prior: &Value, config: &Value, planned: &Value) {
        if planned.is_null() != config.is_null() {
            let word = if planned.is_null() { "nothing" } else { "something" };
            self.report(format!("it plans {word} where the program says otherwise"));
            return;
        }
        if planned.is_null() {
            return;
        }
        if planned.is_unknown() || config.is_unknown() {
            if planned.is_unknown() != config.is_unknown() {
                self.report("what is not known in the program must stay so in the plan, and only that");
            }
            return;
        }
        for (name, attribute) in &block.attributes {
            self.at(Step::Key(name.clone()), |it| {
                it.attribute(attribute, entry(prior, name), entry(config, name), entry(planned, name));
            });
        }
        for (name, nested) in &block.blocks {
            self.at(Step::Key(name.clone()), |it| {
                it.nested(&nested.shape(), entry(prior, name), entry(config, name), entry(planned, name));
            });
        }
    }

    fn attribute(&mut self, attribute: &Attribute, prior: &Value, config: &Value, planned: &Value) {
        if attribute.write_only {
            if !planned.is_null() {
                self.report("it plans a value that must never be kept");
            }
            return;
        }
        // Two notations of one type do not make unknown values differ.
        let unknown = planned.is_unknown() && config.is_unknown();
        if unknown || planned.same(config) || (!prior.is_null() && !config.is_null() && planned.same(prior)) {
            return;
        }
        if config.is_null() {
            if !is_computed(attribute) {
                self.report("it plans a value where the program has none, and may not decide one");
            }
            return;
        }
        match &attribute.shape {
            Shape::Plain(_) => self.report("it plans another value than the program has"),
            shape => self.nested(shape, prior, config, planned),
        }
    }

    /// Structures, in blocks or in attributes.
    fn nested(&mut self, shape: &Shape, prior: &Value, config: &Value, planned: &Value) {
        match (shape, config.kind(), planned.kind()) {
            (Shape::Object(block), ..) => self.block(block, prior, config, planned),
            (_, Kind::Unknown(_), Kind::Unknown(_)) => {}
            (Shape::List(element), Kind::List(configs), Kind::List(items))
                if configs.len() == items.len() =>
            {
                let priors = prior.as_items().unwrap_or_default();
                for (at, (config, planned)) in configs.iter().zip(items.iter()).enumerate() {
                    let prior = priors.get(at).unwrap_or(&NULL);
                    self.at(Step::Index(at as u64), |it| it.nested(element, prior, config, planned));
                }
            }
            (Shape::Map(element), Kind::Map(configs), Kind::Map(items)) if same_keys(configs, items) => {
                for (key, config) in configs.iter() {
                    self.at(Step::Key(key.clone()), |it| {
                        it.nested(element, entry(prior, key), config, entry(planned, key));
                    });
                }
            }
            (Shape::Set(_), Kind::Set(configs), Kind::Set(items)) => {
                // Elements that are not known may turn out to be the same, so nothing can be counted.
                let known = configs.iter().all(Value::is_wholly_known);
                if known && !fits_shape(shape, config, planned) && !planned.same(prior) {
                    let (found, wanted) = (items.len(), configs.len());
                    self.report(format!(
                        "it plans {found} element(s) that do not match the {wanted} of the program"
                    ));
                }
            }
            (Shape::Plain(_), ..) => {}
            _ => self.report("it plans another number of elements than the program has"),
        }
    }

    fn report(&mut self, message: impl Into<String>) {
        self.found.push(Violation::new(&self.path, message));
    }

    fn at(&mut self, step: Step, inside: impl FnOnce(&mut Self)) {
        self.path.push(step);
        inside(self);
        self.path.pop();
    }
}

fn same_keys(left: &Entries, right: &Entries) -> bool {
    keys_of(left).eq(keys_of(right))
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use trueup_core::schema::Presence;
    use trueup_core::{Type, value};

    use super::*;

    /// What is found wrong with the plan of one attribute.
    #[track_caller]
    fn check(presence: Presence, [prior, config, planned]: [Value; 3], wrong: Option<&str>) {
        let attributes = IndexMap::from([("a".into(), Attribute::new(Shape::Plain(Type::String), presence))]);
        let block = Block { attributes, ..Block::default() };
        let [prior, config, planned] = [prior, config, planned].map(|value| Value::object([("a", value)]));
        let found = violations(&block, &prior, &config, &planned);
        let found: Vec<&str> = found.iter().map(|violation| violation.message.as_str()).collect();
        assert_eq!(found, wrong.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_provider_decides_what_is_left_to_it_and_nothing_else() {
        let (null, old, new) = (|| Value::NULL, || value!("old"), || value!("new"));
        let unknown = || Value::unknown(Type::String);
        let other = Some("it plans another value than the program has");
        let none = Some("it plans a value where the program has none, and may not decide one");
        check(Presence::Optional, [null(), new(), new()], None);
        check(Presence::Optional, [null(), new(), old()], other);
        check(Presence::Optional, [null(), null(), new()], none);
        check(Presence::Optional, [old(), null(), old()], none);
        // What it takes for the same may stay as it was.
        check(Presence::Optional, [old(), new(), old()], None);
        check(Presence::OptionalComputed, [old(), null(), unknown()], None);
        check(Presence::OptionalComputed, [old(), new(), unknown()], other);
        check(Presence::Computed, [null(), null(), unknown()], None);
        check(Presence::Optional, [null(), unknown(), unknown()], None);
        check(Presence::Optional, [null(), Value::unknown(Type::Any), unknown()], None);
        check(Presence::Optional, [null(), unknown(), new()], other);
    }

    /// An element that leaves something open fits several, in whatever order they come.
    #[test]
    fn each_element_of_a_set_needs_one_that_fits() {
        let inner = IndexMap::from([
            ("key".into(), Attribute::new(Shape::Plain(Type::String), Presence::Required)),
            ("port".into(), Attribute::new(Shape::Plain(Type::Number), Presence::OptionalComputed)),
        ]);
        let element = Shape::Object(std::sync::Arc::new(Block { attributes: inner, ..Block::default() }));
        let set = Attribute::new(Shape::Set(element.into()), Presence::Optional);
        let block = Block { attributes: IndexMap::from([("a".into(), set)]), ..Block::default() };
        let of = |items: &[Value]| Value::object([("a", Value::set(items.iter().cloned()))]);
        let part = |port: Value| value!({ key: "k", port: port });
        let config = of(&[part(Value::NULL), part(value!(0))]);
        let check = |planned: &[Value]| violations(&block, &Value::NULL, &config, &of(planned)).len();
        assert_eq!(check(&[part(value!(80)), part(value!(0))]), 0);
        assert_eq!(check(&[part(value!(0)), part(Value::unknown(Type::Number))]), 0);
        assert_eq!(check(&[part(value!(80)), part(value!(90))]), 1);
    }

    #[test]
    fn what_must_never_be_kept_is_not_planned() {
        let secret = Attribute { write_only: true, ..Attribute::optional(Type::String) };
        let block = Block { attributes: IndexMap::from([("a".into(), secret)]), ..Block::default() };
        let of = |value: Value| Value::object([("a", value)]);
        assert!(violations(&block, &Value::NULL, &of(value!("x")), &of(Value::NULL)).is_empty());
        assert_eq!(violations(&block, &Value::NULL, &of(value!("x")), &of(value!("x"))).len(), 1);
    }
}
