//! `rsadecrypt`: what was encrypted to a public key (PKCS #1 v1.5), such as the password of a new Windows machine.
//!
//! Keys come as PEM, in PKCS #1 or PKCS #8. The arithmetic is one modular power on big integers; a library for the whole
//! of RSA would bring a tree of dependencies for this one function. Nobody can time it: it runs once, on one's own
//! machine, on one's own key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use bigdecimal::num_bigint::{BigInt, Sign};
use trueup_core::Value;

use super::{Call, Outcome, Problem};

/// The largest key that is used, in bytes; larger ones are not made, and the work grows with the cube.
const KEY_BYTES_MAX: usize = 1024;

pub(super) fn rsadecrypt(call: &Call<'_>) -> Outcome {
    let ciphertext = BASE64.decode(call.text(0).trim()).map_err(|_| Problem::at(0, "this is no base64"))?;
    let key = private_key(call.text(1)).ok_or_else(|| {
        Problem::at(1, "this is no RSA private key")
            .hint("give it as PEM, without a password, in PKCS #1 or PKCS #8")
    })?;
    let failed = || Problem::at(0, "the text cannot be decrypted with this key");
    let cipher = BigInt::from_bytes_be(Sign::Plus, &ciphertext);
    if cipher >= key.modulus || ciphertext.is_empty() {
        return Err(failed());
    }
    let length = key.modulus.to_bytes_be().1.len();
    let plain = cipher.modpow(&key.exponent, &key.modulus).to_bytes_be().1;
    let mut padded = vec![0u8; length.saturating_sub(plain.len())];
    padded.extend(plain);
    // 0, 2, at least eight bytes that are not 0, 0, and then the message.
    let [0, 2, rest @ ..] = padded.as_slice() else { return Err(failed()) };
    let end = rest.iter().position(|byte| *byte == 0).filter(|end| *end >= 8).ok_or_else(failed)?;
    String::from_utf8(rest[end + 1..].to_vec())
        .map(Value::string)
        .map_err(|_| Problem::at(0, "what is encrypted here is not UTF-8 text"))
}

struct PrivateKey {
    modulus: BigInt,
    exponent: BigInt,
}

fn private_key(pem: &str) -> Option<PrivateKey> {
    let (_, rest) = pem.split_once("-----BEGIN ")?;
    let (kind, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once("-----END ")?;
    let body: String = body.chars().filter(|char| !char.is_whitespace()).collect();
    let der = BASE64.decode(body).ok().filter(|der| der.len() <= 8 * KEY_BYTES_MAX)?;
    let sequence = Der(&der).element(0x30)?.0;
    match kind {
        "RSA PRIVATE KEY" => pkcs1(sequence),
        "PRIVATE KEY" => {
            let (_version, rest) = Der(sequence).element(0x02)?;
            let (_algorithm, rest) = Der(rest).element(0x30)?;
            let (key, _) = Der(rest).element(0x04)?;
            pkcs1(Der(key).element(0x30)?.0)
        }
        _ => None,
    }
}

/// Version, modulus, public exponent, private exponent, and more that is not needed.
fn pkcs1(sequence: &[u8]) -> Option<PrivateKey> {
    let (_version, rest) = Der(sequence).element(0x02)?;
    let (modulus, rest) = Der(rest).element(0x02)?;
    let (_public, rest) = Der(rest).element(0x02)?;
    let (exponent, _) = Der(rest).element(0x02)?;
    let number = |bytes: &[u8]| BigInt::from_bytes_be(Sign::Plus, bytes);
    let key = PrivateKey { modulus: number(modulus), exponent: number(exponent) };
    let odd = key.modulus.bit(0);
    (modulus.len() <= KEY_BYTES_MAX && exponent.len() <= modulus.len() && odd).then_some(key)
}

/// Bytes in the distinguished encoding of ASN.1.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the element that comes first, if it has this tag, and what follows it.
    fn element(&self, tag: u8) -> Option<(&'a [u8], &'a [u8])> {
        let [found, length, rest @ ..] = self.0 else { return None };
        if *found != tag {
            return None;
        }
        let (length, rest) = if *length < 0x80 {
            (usize::from(*length), rest)
        } else {
            let digits = usize::from(*length & 0x7f);
            if digits == 0 || digits > 4 || digits > rest.len() {
                return None;
            }
            let length =
                rest[..digits].iter().fold(0usize, |length, byte| (length << 8) | usize::from(*byte));
            (length, &rest[digits..])
        };
        rest.split_at_checked(length)
    }
}
