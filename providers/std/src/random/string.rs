//! `std_random_string` and `std_random_password`: random characters.

use trueup_core::{Secret, Value};
use trueup_provider::{Error, Inputs, Outputs, Result};

use crate::kept::kept_in_state;
use crate::surroundings::Randomness;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NUMERIC: &str = "0123456789";
const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

/// A random text, drawn once and kept. For passwords and other secrets use `std_random_password`.
#[derive(Inputs)]
pub struct RandomString {
    /// How many characters it has.
    #[trueup(replace, range(min = 1, max = 4096))]
    length: u64,
    /// Whether it may have lower-case letters.
    #[trueup(default = true, replace)]
    lower: bool,
    /// Whether it may have upper-case letters.
    #[trueup(default = true, replace)]
    upper: bool,
    /// Whether it may have digits.
    #[trueup(default = true, replace)]
    numeric: bool,
    /// Whether it may have special characters.
    #[trueup(default = true, replace)]
    special: bool,
    /// The special characters to choose from, instead of `!@#$%&*()-_=+[]{}<>:?`.
    #[trueup(replace)]
    override_special: Option<String>,
    /// How many lower-case letters it has at least.
    #[trueup(default, replace)]
    min_lower: u64,
    /// How many upper-case letters it has at least.
    #[trueup(default, replace)]
    min_upper: u64,
    /// How many digits it has at least.
    #[trueup(default, replace)]
    min_numeric: u64,
    /// How many special characters it has at least.
    #[trueup(default, replace)]
    min_special: u64,
    /// Anything whose change should draw another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

/// A random password, drawn once and kept as a secret.
#[derive(Inputs)]
pub struct RandomPassword {
    /// How many characters it has.
    #[trueup(replace, range(min = 1, max = 4096))]
    length: u64,
    /// Whether it may have lower-case letters.
    #[trueup(default = true, replace)]
    lower: bool,
    /// Whether it may have upper-case letters.
    #[trueup(default = true, replace)]
    upper: bool,
    /// Whether it may have digits.
    #[trueup(default = true, replace)]
    numeric: bool,
    /// Whether it may have special characters.
    #[trueup(default = true, replace)]
    special: bool,
    /// The special characters to choose from, instead of `!@#$%&*()-_=+[]{}<>:?`.
    #[trueup(replace)]
    override_special: Option<String>,
    /// How many lower-case letters it has at least.
    #[trueup(default, replace)]
    min_lower: u64,
    /// How many upper-case letters it has at least.
    #[trueup(default, replace)]
    min_upper: u64,
    /// How many digits it has at least.
    #[trueup(default, replace)]
    min_numeric: u64,
    /// How many special characters it has at least.
    #[trueup(default, replace)]
    min_special: u64,
    /// Anything whose change should draw another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

/// A random text.
#[derive(Outputs, Clone)]
pub struct RandomTextOutput {
    /// The text.
    #[trueup(stable)]
    pub(super) result: String,
}

/// A random password.
#[derive(Outputs, Clone)]
pub struct RandomPasswordOutput {
    /// The password.
    #[trueup(stable)]
    result: Secret<String>,
}

/// What a text is drawn from: for each kind of character the characters and how many at least.
struct Recipe {
    length: u64,
    kinds: Vec<(Vec<char>, u64)>,
}

macro_rules! recipe {
    ($of:ty) => {
        impl $of {
            fn recipe(&self) -> Recipe {
                let special = self.override_special.as_deref().unwrap_or(SPECIAL);
                let kinds = [
                    (self.lower, LOWER, self.min_lower),
                    (self.upper, UPPER, self.min_upper),
                    (self.numeric, NUMERIC, self.min_numeric),
                    (self.special, special, self.min_special),
                ];
                let kinds = kinds.into_iter().filter(|(wanted, ..)| *wanted);
                let kinds = kinds.map(|(_, characters, min)| (characters.chars().collect(), min)).collect();
                Recipe { length: self.length, kinds }
            }

            fn validate(&self) -> Result<()> {
                self.recipe().validate()
            }
        }
    };
}
recipe!(RandomString);
recipe!(RandomPassword);

impl Recipe {
    fn validate(&self) -> Result<()> {
        if self.kinds.iter().all(|(characters, _)| characters.is_empty()) {
            return Err(Error::invalid("there are no characters to draw from")
                .hint("set at least one of `lower`, `upper`, `numeric` and `special`"));
        }
        if self.kinds.iter().any(|(characters, min)| characters.is_empty() && *min > 0) {
            return Err(Error::invalid("there are no special characters to draw from").at("override_special"));
        }
        let needed = self.kinds.iter().fold(0u64, |sum, (_, min)| sum.saturating_add(*min));
        if needed > self.length {
            let message = format!("{} characters are too few for {needed} of certain kinds", self.length);
            return Err(Error::invalid(message).at("length"));
        }
        Ok(())
    }

    fn draw(&self, randomness: &Randomness) -> Result<String> {
        self.validate()?;
        let all: Vec<char> =
            self.kinds.iter().flat_map(|(characters, _)| characters.iter().copied()).collect();
        let mut drawn = Vec::new();
        for (characters, min) in &self.kinds {
            for _ in 0..*min {
                drawn.push(*randomness.one_of(characters)?);
            }
        }
        while (drawn.len() as u64) < self.length {
            drawn.push(*randomness.one_of(&all)?);
        }
        // Otherwise the characters that had to be there would all stand in front.
        randomness.shuffle(&mut drawn)?;
        Ok(drawn.into_iter().collect())
    }
}

impl RandomString {
    fn draw(&self, randomness: &Randomness) -> Result<RandomTextOutput> {
        Ok(RandomTextOutput { result: self.recipe().draw(randomness)? })
    }
}

impl RandomPassword {
    fn draw(&self, randomness: &Randomness) -> Result<RandomPasswordOutput> {
        Ok(RandomPasswordOutput { result: self.recipe().draw(randomness)?.into() })
    }
}

kept_in_state!(RandomString, RandomTextOutput, |this, context| this.draw(context.config().randomness()));
kept_in_state!(RandomPassword, RandomPasswordOutput, |this, context| this
    .draw(context.config().randomness()));

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(length: u64, kinds: &[(&str, u64)]) -> Recipe {
        let kinds = kinds.iter().map(|(characters, min)| (characters.chars().collect(), *min)).collect();
        Recipe { length, kinds }
    }

    #[test]
    fn a_draw_has_its_length_and_what_it_must_have() {
        for _ in 0..50 {
            let drawn = recipe(8, &[("ab", 1), ("12", 2), ("é!", 0)]).draw(&Randomness::default()).unwrap();
            assert_eq!(drawn.chars().count(), 8);
            assert!(drawn.contains(['a', 'b']), "{drawn}");
            assert!(drawn.chars().filter(char::is_ascii_digit).count() >= 2, "{drawn}");
        }
    }

    #[test]
    fn impossible_recipes_are_refused() {
        let refused = |length, kinds: &[_]| recipe(length, kinds).validate().unwrap_err().to_string();
        assert_eq!(refused(8, &[]), "invalid: there are no characters to draw from");
        assert_eq!(
            refused(2, &[("ab", 2), ("12", 1)]),
            "invalid: 2 characters are too few for 3 of certain kinds"
        );
        assert_eq!(
            refused(8, &[("ab", 0), ("", 1)]),
            "invalid: there are no special characters to draw from"
        );
    }
}
