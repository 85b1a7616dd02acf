//! Deterministic physical names (RECONCILE-4).
//!
//! A name is a pure function of stack, stage, origin address and slot, so that a rerun after lost state finds the
//! object. It reads `stack-stage-name-hash`: the front is for people and is cut to fit, the hash makes it unique. The
//! hash covers every part with its length, so that no two different identities run together.

use trueup_core::Address;

use super::Slot;

/// What names a type of object may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRules {
    length_max: usize,
    separator: Option<char>,
}

/// Letters and digits that every system accepts, without capitals and without the look-alikes 0/o and 1/l.
const HASH_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Sixty-five bits: a million names collide with a chance of one in seventy million.
const HASH_LENGTH: usize = 13;

impl NameRules {
    /// The shortest limit: the hash and a letter before it, since many systems want names to begin with one.
    pub const LENGTH_MIN: usize = HASH_LENGTH + 1;

    /// Names of at most this many characters, all lower-case letters, digits and `-`.
    ///
    /// # Panics
    /// If the limit is below [`NameRules::LENGTH_MIN`]: no unique name would fit.
    pub const fn new(length_max: usize) -> Self {
        assert!(length_max >= Self::LENGTH_MIN, "a physical name needs room for its hash");
        NameRules { length_max, separator: Some('-') }
    }

    /// Another separator than `-`, or none where only letters and digits are allowed.
    #[must_use]
    ///
    /// # Panics
    /// If it is not an ASCII character: no system that limits names takes others.
    pub const fn separated_by(mut self, separator: Option<char>) -> Self {
        assert!(matches!(separator, None | Some('\0'..='\x7f')), "a separator is an ASCII character");
        self.separator = separator;
        self
    }

    /// The most characters a name may have.
    pub fn length_max(&self) -> usize {
        self.length_max
    }
}

impl Default for NameRules {
    /// What nearly every system accepts: 63 characters, as in a DNS label.
    fn default() -> Self {
        NameRules::new(63)
    }
}

/// The name of the object that stands for an address in a slot; without one, a name that no object bears.
pub(crate) fn physical_name(
    stack: &str,
    stage: &str,
    origin: &Address,
    slot: Option<Slot>,
    rules: &NameRules,
) -> String {
    let hash = hash(stack, stage, origin, slot);
    let mut name = String::new();
    for part in [stack, stage, origin.name()] {
        push_readable(&mut name, part, rules.separator);
    }
    // Readable parts are ASCII by now, so bytes are characters.
    let separator = rules.separator.map_or(0, char::len_utf8);
    name.truncate(rules.length_max.saturating_sub(HASH_LENGTH + separator));
    while name.ends_with(|last| Some(last) == rules.separator) {
        name.pop();
    }
    if name.is_empty() {
        // No room or nothing readable: the hash alone, behind a letter.
        return format!("t{hash}");
    }
    name.extend(rules.separator);
    name.push_str(&hash);
    name
}

/// Appends the letters and digits of a part, anything else as a separator, beginning with a letter.
fn push_readable(name: &mut String, part: &str, separator: Option<char>) {
    let mut gap = !name.is_empty();
    for char in part.chars() {
        let char = char.to_ascii_lowercase();
        if char.is_ascii_lowercase() || (char.is_ascii_digit() && !name.is_empty()) {
            if gap && !name.is_empty() {
                name.extend(separator);
            }
            name.push(char);
            gap = false;
        } else {
            gap = true;
        }
    }
}

fn hash(stack: &str, stage: &str, origin: &Address, slot: Option<Slot>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("trueup physical name v1");
    for part in [stack, stage, &origin.to_string()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    // Without a slot the hashed text is shorter than with any.
    if let Some(slot) = slot {
        hasher.update(&slot.0.to_le_bytes());
    }
    let digest = hasher.finalize();
    let bits = u128::from_le_bytes(digest.as_bytes()[..16].try_into().unwrap_or_default());
    (0..HASH_LENGTH).map(|at| char::from(HASH_ALPHABET[(bits >> (5 * at)) as usize % 32])).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use trueup_core::{InstanceKey, ModulePath, ModuleStep};

    use super::*;

    fn name(stack: &str, stage: &str, address: &str, slot: Slot, rules: NameRules) -> String {
        physical_name(stack, stage, &address.parse().unwrap(), Some(slot), &rules)
    }

    #[test]
    fn names_read_well_and_never_change() {
        let rules = NameRules::default();
        assert_eq!(name("site", "prod", "std_file.readme", Slot(0), rules), "site-prod-readme-ycdc533wj59ud");
        assert_eq!(name("Ünited 9", "dev_me", "a.b", Slot(1), rules), "nited-9-dev-me-b-y3ndkpsttigrz");
        assert_eq!(name("9", "_", "a.é", Slot(0), NameRules::new(14)), "tpqtpnbaythvxk");
    }

    fn any_address() -> impl Strategy<Value = Address> {
        let key = || {
            prop_oneof![
                Just(None),
                (0..3u64).prop_map(|index| Some(InstanceKey::Index(index))),
                "[a-z0-9._\\-\\[\\]\" ]{0,4}".prop_map(|key| Some(InstanceKey::Key(key.into()))),
            ]
        };
        let module =
            ("[ab-]{1,2}", key()).prop_map(|(name, key)| ModuleStep { name: format!("m{name}").into(), key });
        (proptest::collection::vec(module, 0..3), "[ab_]{1,2}", "[ab-]{0,2}", key()).prop_map(
            |(modules, ty, name, key)| {
                let address = Address::resource(&format!("t{ty}"), &format!("n{name}")).unwrap();
                address.in_module(ModulePath::new(modules).unwrap()).with_key(key)
            },
        )
    }

    proptest! {
        /// RECONCILE-4: stacks, stages, addresses and slots that look alike, or run together when joined, stay apart; nobody's
        /// name is none of theirs.
        #[test]
        fn no_two_identities_share_a_name(
            identities in proptest::collection::btree_set(
                ("[ab-]{0,3}", "[ab-]{0,3}", any_address(), proptest::option::of((0..3u64).prop_map(Slot))),
                2..60,
            ),
            length in NameRules::LENGTH_MIN..64,
        ) {
            let rules = NameRules::new(length);
            let names: BTreeSet<String> = identities
                .iter()
                .map(|(stack, stage, address, slot)| physical_name(stack, stage, address, *slot, &rules))
                .collect();
            prop_assert_eq!(names.len(), identities.len());
        }

        #[test]
        fn every_name_is_within_its_rules(
            stack in ".{0,80}",
            stage in ".{0,80}",
            address in any_address(),
            length in NameRules::LENGTH_MIN..100,
            separator in prop_oneof![Just(None), Just(Some('-')), Just(Some('_'))],
        ) {
            let rules = NameRules::new(length).separated_by(separator);
            let name = physical_name(&stack, &stage, &address, Some(Slot::FIRST), &rules);
            prop_assert!(name.len() <= length, "{}", name);
            prop_assert!(name.starts_with(|first: char| first.is_ascii_lowercase()), "{}", name);
            let allowed = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || Some(char) == separator;
            prop_assert!(name.chars().all(allowed), "{}", name);
            if let Some(separator) = separator {
                prop_assert!(!name.contains(&format!("{separator}{separator}")), "{}", name);
            }
        }
    }
}
