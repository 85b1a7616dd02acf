//! Idempotency tokens: one for each intent to create, so that repeating a request is not creating twice.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// A token that some APIs take with a create: the same token, the same object.
///
/// A fresh one is drawn for each intent and journalled before the call; a retry of that intent carries it again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct IdempotencyToken([u8; 16]);

impl IdempotencyToken {
    /// Draws a new token from the operating system's randomness.
    ///
    /// # Panics
    /// If the operating system has none, without which nothing on the machine is safe.
    pub fn fresh() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        IdempotencyToken(bytes)
    }

    /// The token made of these bytes, for whoever injects randomness.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        IdempotencyToken(bytes)
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl IdempotencyToken {
    /// Hands its text to a function. Nothing is allocated, because each record and each entry of a journal writes some.
    fn with_text<T>(&self, write: impl FnOnce(&str) -> T) -> T {
        let mut text = [0; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]]);
        }
        write(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Display for IdempotencyToken {
    /// Thirty-two hexadecimal digits, which every API accepts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.write_str(text))
    }
}

impl Serialize for IdempotencyToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl fmt::Debug for IdempotencyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for IdempotencyToken {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("`{text}` is not an idempotency token: expected 32 hexadecimal digits");
        let digits: &[u8; 32] = text.as_bytes().try_into().map_err(|_| refused())?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16).map(|it| it as u8).ok_or_else(refused);
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = digit(2 * at)? << 4 | digit(2 * at + 1)?;
        }
        Ok(IdempotencyToken(bytes))
    }
}

impl TryFrom<String> for IdempotencyToken {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<IdempotencyToken> for String {
    fn from(token: IdempotencyToken) -> Self {
        token.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intent_gets_another_token() {
        assert_ne!(IdempotencyToken::fresh(), IdempotencyToken::fresh());
    }

    #[test]
    fn a_token_reads_back_from_its_text() {
        let token = IdempotencyToken::fresh();
        assert_eq!(token.to_string().parse(), Ok(token));
        assert!("é".repeat(16).parse::<IdempotencyToken>().is_err());
    }
}
