//! What stands for a password on the server: a SCRAM-SHA-256 verifier, computed here, so that the password itself is in
//! no statement, and none of the server's logs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use trueup_provider::{Error, Result};

/// How often the password is hashed, as the server's own default.
const ITERATIONS: u32 = 4096;

/// More than anyone sets: beyond it checking a verifier would be a way to keep a run busy.
const ITERATIONS_MAX: u32 = 10_000_000;

const SALT_BYTES: usize = 16;

/// A fresh verifier for a password.
pub(crate) fn verifier(password: &str) -> Result<String> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt)
        .map_err(|error| Error::fatal(format!("the operating system gives no randomness: {error}")))?;
    Ok(with_salt(password, &salt, ITERATIONS))
}

/// Whether a verifier is one for this password.
pub(crate) fn verifies(verifier: &str, password: &str) -> bool {
    let parts = verifier.strip_prefix("SCRAM-SHA-256$").and_then(|rest| {
        let (iterations, rest) = rest.split_once(':')?;
        let (salt, _) = rest.split_once('$')?;
        let iterations = iterations.parse().ok().filter(|it| (1..=ITERATIONS_MAX).contains(it))?;
        Some((iterations, STANDARD.decode(salt).ok()?))
    });
    parts.is_some_and(|(iterations, salt)| with_salt(password, &salt, iterations) == verifier)
}

fn with_salt(password: &str, salt: &[u8], iterations: u32) -> String {
    // What cannot be normalised counts as it is, as with the server.
    let normal = stringprep::saslprep(password).unwrap_or(password.into());
    let salted = salted(normal.as_bytes(), salt, iterations);
    let stored = Sha256::digest(mac(&salted, &[b"Client Key"]));
    let server = mac(&salted, &[b"Server Key"]);
    let [salt, stored, server] = [salt, &stored[..], &server].map(|bytes| STANDARD.encode(bytes));
    format!("SCRAM-SHA-256${iterations}:{salt}${stored}:{server}")
}

/// PBKDF2 with HMAC-SHA-256, for a key of one block.
fn salted(password: &[u8], salt: &[u8], iterations: u32) -> [u8; 32] {
    let mut round = mac(password, &[salt, &1u32.to_be_bytes()]);
    let mut sum = round;
    for _ in 1..iterations {
        round = mac(password, &[&round]);
        sum.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // A key of any length is one.
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of RFC 7677, and that only the password itself is recognised.
    #[test]
    fn a_verifier_is_that_of_the_standard_and_recognises_its_password_alone() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let known = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:\
                     wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
        assert_eq!(with_salt("pencil", &salt, 4096), known);
        assert!(verifies(known, "pencil") && !verifies(known, "pencils"));
        let fresh = verifier("Ⅸ").unwrap();
        assert!(verifies(&fresh, "IX") && fresh != verifier("IX").unwrap());
        assert!(!verifies("md5abc", "abc") && !verifies("SCRAM-SHA-256$0:AA==$a:b", ""));
    }
}
