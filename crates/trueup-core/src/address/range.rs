//! Ranges of addresses: what people name when they mean several resources at once.

use std::fmt;

use super::{Address, InstanceKey, ModulePath, ModuleStep};

/// One resource instance, all instances of a resource, or all that is in a module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressRange {
    /// A resource; without a key, all its instances.
    Resource(Address),
    /// A module with all that is in it; a step without a key stands for all instances of that call.
    Module(ModulePath),
}

impl AddressRange {
    /// Whether an address lies in the range.
    pub fn covers(&self, address: &Address) -> bool {
        match self {
            AddressRange::Resource(own) => {
                own == address || (own.key().is_none() && *own == address.with_key(None))
            }
            AddressRange::Module(own) => {
                let (own, steps) = (own.steps(), address.module().steps());
                own.len() <= steps.len() && own.iter().zip(steps).all(|(own, step)| covers_step(own, step))
            }
        }
    }

    /// Where an address of this range lies when the range becomes another; `None` if it is not in the range, or if the
    /// other has no place for it.
    pub fn rebase(&self, to: &AddressRange, address: &Address) -> Option<Address> {
        match (self, to) {
            (AddressRange::Resource(from), AddressRange::Resource(to)) if from == address => Some(to.clone()),
            (AddressRange::Resource(from), AddressRange::Resource(to)) => {
                let whole = from.key().is_none() && to.key().is_none() && *from == address.with_key(None);
                whole.then(|| to.with_key(address.key().cloned()))
            }
            (AddressRange::Module(from), AddressRange::Module(to)) => {
                let module = rebase_module(from, to, address.module())?;
                Some(address.in_module(module))
            }
            _ => None,
        }
    }
}

fn covers_step(own: &ModuleStep, step: &ModuleStep) -> bool {
    own.name == step.name && (own.key.is_none() || own.key == step.key)
}

/// The instance that is named last keeps its key if neither end names one.
fn rebase_module(from: &ModulePath, to: &ModulePath, module: &ModulePath) -> Option<ModulePath> {
    let (last, outer) = from.steps().split_last()?;
    let (inside, rest) = module.steps().split_at_checked(from.steps().len())?;
    let (own, own_outer) = inside.split_last()?;
    if own_outer != outer || own.name != last.name {
        return None;
    }
    let mut steps = to.steps().to_vec();
    let target = steps.last_mut()?;
    let kept: Option<InstanceKey> = match (&last.key, &own.key, &target.key) {
        (from, own, to) if from == own => to.clone(),
        (None, Some(own), None) => Some(own.clone()),
        _ => return None,
    };
    target.key = kept;
    steps.extend_from_slice(rest);
    Some(ModulePath::of(steps))
}

impl From<Address> for AddressRange {
    fn from(address: Address) -> Self {
        AddressRange::Resource(address)
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressRange::Resource(address) => address.fmt(f),
            AddressRange::Module(module) => module.fmt(f),
        }
    }
}

impl fmt::Debug for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> AddressRange {
        text.parse().expect("a test writes ranges")
    }

    fn address(text: &str) -> Address {
        text.parse().expect("a test writes addresses")
    }

    #[test]
    fn a_range_covers_instances_and_what_is_in_a_module() {
        for (own, covered, not) in [
            ("a_b.c", &["a_b.c", "a_b.c[0]", "a_b.c[\"k\"]"][..], &["a_b.d", "module.m.a_b.c"][..]),
            ("a_b.c[0]", &["a_b.c[0]"], &["a_b.c", "a_b.c[1]"]),
            ("module.m", &["module.m.a_b.c", "module.m[0].a_b.c", "module.m.module.n.a_b.c"], &["a_b.m"]),
            ("module.m[1]", &["module.m[1].a_b.c"], &["module.m.a_b.c", "module.m[0].a_b.c"]),
        ] {
            for text in covered {
                assert!(range(own).covers(&address(text)), "{own} covers {text}");
            }
            for text in not {
                assert!(!range(own).covers(&address(text)), "{own} does not cover {text}");
            }
        }
    }

    #[test]
    fn what_is_in_a_range_moves_with_it_and_keeps_its_key() {
        for (from, to, address, end) in [
            ("a_b.c", "a_b.d", "a_b.c", Some("a_b.d")),
            ("a_b.c", "a_b.d", "a_b.c[3]", Some("a_b.d[3]")),
            ("a_b.c", "a_b.c[0]", "a_b.c", Some("a_b.c[0]")),
            ("a_b.c", "a_b.c[0]", "a_b.c[1]", None),
            ("a_b.c[0]", "a_b.c", "a_b.c[0]", Some("a_b.c")),
            ("a_b.c", "module.m.a_b.c", "a_b.c[1]", Some("module.m.a_b.c[1]")),
            ("module.m", "module.n", "module.m.a_b.c", Some("module.n.a_b.c")),
            ("module.m", "module.n", "module.m[2].module.x.a_b.c[0]", Some("module.n[2].module.x.a_b.c[0]")),
            ("module.m", "module.m[\"k\"]", "module.m.a_b.c", Some("module.m[\"k\"].a_b.c")),
            ("module.m[0]", "module.n.module.m", "module.m[0].a_b.c", Some("module.n.module.m.a_b.c")),
            ("module.m[0]", "module.n", "module.m[1].a_b.c", None),
            ("module.m", "module.n", "module.mm.a_b.c", None),
        ] {
            let moved = range(from).rebase(&range(to), &self::address(address));
            assert_eq!(moved, end.map(self::address), "{address} when {from} becomes {to}");
        }
    }
}
