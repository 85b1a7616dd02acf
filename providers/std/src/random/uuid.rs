//! `std_random_uuid`: a UUID of random bytes.

use trueup_core::Value;
use trueup_provider::{Inputs, Result};

use super::string::RandomTextOutput;
use crate::kept::kept_in_state;
use crate::surroundings::Randomness;

/// A random UUID (version 4), drawn once and kept.
#[derive(Inputs)]
pub struct RandomUuid {
    /// Anything whose change should draw another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

impl RandomUuid {
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn draw(&self, randomness: &Randomness) -> Result<RandomTextOutput> {
        Ok(RandomTextOutput { result: uuid(randomness)? })
    }
}

/// A UUID of version 4, in its usual notation.
pub(crate) fn uuid(randomness: &Randomness) -> Result<String> {
    let mut bytes: [u8; 16] = randomness.bytes()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Ok(parts.join("-"))
}

kept_in_state!(RandomUuid, RandomTextOutput, |this, context| this.draw(context.config().randomness()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_says_which_version_it_is() {
        let ones = Randomness::from_function(|bytes| bytes.fill(0xff));
        assert_eq!(uuid(&ones).unwrap(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
