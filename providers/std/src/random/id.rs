//! `std_random_id`: random bytes in several notations.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use trueup_core::Value;
use trueup_provider::{Inputs, Outputs, Result};

use crate::kept::kept_in_state;
use crate::surroundings::Randomness;

/// A random id, drawn once and kept, such as a suffix that keeps bucket names apart. It is not secret.
#[derive(Inputs)]
pub struct RandomId {
    /// How many random bytes it has; four make collisions unlikely among a thousand, eight among millions.
    #[trueup(replace, range(min = 1, max = 256))]
    byte_length: u64,
    /// What stands before it in every notation.
    #[trueup(replace)]
    prefix: Option<String>,
    /// Anything whose change should draw another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

/// A random id.
#[derive(Outputs, Clone)]
pub struct RandomIdOutput {
    /// In hexadecimal digits.
    #[trueup(stable)]
    hex: String,
    /// As a decimal number.
    #[trueup(stable)]
    dec: String,
    /// In base64.
    #[trueup(stable)]
    b64_std: String,
    /// In base64 without characters that mean something in a URL.
    #[trueup(stable)]
    b64_url: String,
}

impl RandomId {
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn draw(&self, randomness: &Randomness) -> Result<RandomIdOutput> {
        let mut bytes = vec![0; usize::try_from(self.byte_length)?];
        randomness.fill(&mut bytes)?;
        let prefixed = |id: String| format!("{}{id}", self.prefix.as_deref().unwrap_or_default());
        Ok(RandomIdOutput {
            hex: prefixed(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
            dec: prefixed(decimal(&bytes)),
            b64_std: prefixed(STANDARD.encode(&bytes)),
            b64_url: prefixed(URL_SAFE_NO_PAD.encode(&bytes)),
        })
    }
}

/// Bytes as one number, the first of them the largest.
fn decimal(bytes: &[u8]) -> String {
    // Digits in reverse, each step multiplying by 256: numbers of this size come once in a deploy.
    let mut digits = vec![0u8];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = (value % 10) as u8;
            carry = value / 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

kept_in_state!(RandomId, RandomIdOutput, |this, context| this.draw(context.config().randomness()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_one_decimal_number() {
        assert_eq!(decimal(&[0, 0]), "0");
        assert_eq!(decimal(&[1, 0, 0]), "65536");
        assert_eq!(decimal(&[255; 8]), u64::MAX.to_string());
        assert_eq!(decimal(&[255; 16]), u128::MAX.to_string());
    }
}
