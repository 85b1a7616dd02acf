//! `std_random_integer`: a random whole number.

use trueup_core::Value;
use trueup_provider::{Error, Inputs, Outputs, Result};

use crate::kept::kept_in_state;
use crate::surroundings::Randomness;

/// A random whole number, drawn once and kept.
#[derive(Inputs)]
pub struct RandomInteger {
    /// The smallest it may be.
    #[trueup(replace)]
    min: i64,
    /// The largest it may be.
    #[trueup(replace)]
    max: i64,
    /// Anything whose change should draw another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

/// A random whole number.
#[derive(Outputs, Clone)]
pub struct RandomIntegerOutput {
    /// The number.
    #[trueup(stable)]
    result: i64,
}

impl RandomInteger {
    fn validate(&self) -> Result<()> {
        match self.min <= self.max {
            true => Ok(()),
            false => {
                Err(Error::invalid(format!("there is no number from {} to {}", self.min, self.max)).at("max"))
            }
        }
    }

    fn draw(&self, randomness: &Randomness) -> Result<RandomIntegerOutput> {
        self.validate()?;
        let drawn = match self.max.abs_diff(self.min).checked_add(1) {
            Some(several) => randomness.below(several)?,
            // All numbers there are.
            None => u64::from_le_bytes(randomness.bytes()?),
        };
        Ok(RandomIntegerOutput { result: self.min.wrapping_add_unsigned(drawn) })
    }
}

kept_in_state!(RandomInteger, RandomIntegerOutput, |this, context| this.draw(context.config().randomness()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_lies_between_its_bounds() {
        let draw = |min, max| {
            let of = RandomInteger { min, max, keepers: None };
            of.draw(&Randomness::default()).map(|drawn| drawn.result).map_err(|error| error.to_string())
        };
        assert_eq!(draw(7, 7), Ok(7));
        assert!((0..100).all(|_| (-2..=2).contains(&draw(-2, 2).unwrap())));
        assert!(draw(i64::MIN, i64::MAX).is_ok());
        assert_eq!(draw(2, 1), Err("invalid: there is no number from 2 to 1".to_owned()));
    }
}
