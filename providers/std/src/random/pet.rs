//! `std_random_pet`: a name that people can say.

use trueup_core::Value;
use trueup_provider::{Inputs, Result};

use super::string::RandomTextOutput;
use super::words::{ADJECTIVES, ADVERBS, ANIMALS};
use crate::kept::kept_in_state;
use crate::surroundings::Randomness;

/// A random name that people can remember and say, such as `brave-otter`, drawn once and kept. It says little: two words
/// make four thousand names.
#[derive(Inputs)]
pub struct RandomPet {
    /// How many words it has: an animal, before it an adjective, before that adverbs.
    #[trueup(default = 2, replace, range(min = 1, max = 16))]
    length: u64,
    /// What stands between the words.
    #[trueup(default = "-", replace)]
    separator: String,
    /// A first word.
    #[trueup(replace)]
    prefix: Option<String>,
    /// Anything whose change should draw another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

impl RandomPet {
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn draw(&self, randomness: &Randomness) -> Result<RandomTextOutput> {
        let words = (1..=self.length).rev().map(|from_the_end| {
            let list = match from_the_end {
                1 => &ANIMALS,
                2 => &ADJECTIVES,
                _ => &ADVERBS,
            };
            randomness.one_of(list).map(|word| (*word).to_owned())
        });
        let words: Vec<String> = self.prefix.iter().cloned().map(Ok).chain(words).collect::<Result<_>>()?;
        Ok(RandomTextOutput { result: words.join(&self.separator) })
    }
}

kept_in_state!(RandomPet, RandomTextOutput, |this, context| this.draw(context.config().randomness()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pet_has_its_words_in_order() {
        let first = Randomness::from_function(|bytes| bytes.fill(0));
        let name = |length, prefix: Option<&str>| {
            let prefix = prefix.map(ToOwned::to_owned);
            let pet = RandomPet { length, separator: "-".to_owned(), prefix, keepers: None };
            pet.draw(&first).unwrap().result
        };
        assert_eq!(name(1, None), "albatross");
        assert_eq!(name(3, Some("web")), "web-always-able-albatross");
    }
}
