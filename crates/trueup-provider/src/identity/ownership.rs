//! Whose an object is: the tags by which it is recognised (RECONCILE-4, ADOPT-2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::Address;

use super::GenerationNumber;

/// Whom an object belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Owner {
    /// The stack.
    pub stack: SmolStr,
    /// The stage.
    pub stage: SmolStr,
    /// The address under which it was first created, which moves do not change.
    pub origin: Address,
}

/// Whether an object that was found belongs to the resource that looks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ownership {
    /// It does; with tags, also of which generation it is.
    Owned {
        /// The generation its tags name.
        generation: Option<GenerationNumber>,
    },
    /// It is someone else's, or nobody's.
    Unowned,
}

impl Ownership {
    /// The generation that its tags name, if it is ours and has some.
    pub fn generation(self) -> Option<GenerationNumber> {
        match self {
            Ownership::Owned { generation } => generation,
            Ownership::Unowned => None,
        }
    }
}

const STACK: &str = "trueup:stack";
const STAGE: &str = "trueup:stage";
const ADDRESS: &str = "trueup:address";
const GENERATION: &str = "trueup:generation";

impl Owner {
    /// The tags to put on an object of this generation.
    pub fn tags(&self, generation: GenerationNumber) -> BTreeMap<String, String> {
        let tags = [
            (STACK, self.stack.to_string()),
            (STAGE, self.stage.to_string()),
            (ADDRESS, self.origin.to_string()),
            (GENERATION, generation.to_string()),
        ];
        tags.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// What the tags found on an object say.
    pub fn recognise(&self, tags: &BTreeMap<String, String>) -> Ownership {
        let expected = self.tags(GenerationNumber::FIRST);
        let ours = [STACK, STAGE, ADDRESS].iter().all(|key| tags.get(*key) == expected.get(*key));
        if ours {
            let generation = tags.get(GENERATION).and_then(|text| text.parse().ok());
            Ownership::Owned { generation: generation.map(GenerationNumber) }
        } else {
            Ownership::Unowned
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ones_own_tags_are_recognised() {
        let owner = |stack: &str| Owner {
            stack: stack.into(),
            stage: "dev".into(),
            origin: "std_file.a".parse().unwrap(),
        };
        let tags = owner("site").tags(GenerationNumber(3));
        assert_eq!(
            owner("site").recognise(&tags),
            Ownership::Owned { generation: Some(GenerationNumber(3)) }
        );
        assert_eq!(owner("sit").recognise(&tags), Ownership::Unowned);
        assert_eq!(owner("site").recognise(&BTreeMap::new()), Ownership::Unowned);
    }
}
