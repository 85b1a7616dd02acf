//! Signatures on the checksums of a release.
//!
//! A registry tells which keys a publisher signs with, and the list of checksums must be signed by one of them, or by a
//! signing subkey that is bound to it. As with Terraform, a key that has expired since still vouches for what it signed:
//! releases outlive keys. A signature over MD5, SHA-1 or RIPEMD-160 vouches for nothing: whoever can have one text signed
//! can have another. As with Terraform, subkeys may still be bound by one over SHA-1, since nobody else chooses what a
//! publisher binds.

use std::io::Cursor;

use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::types::KeyDetails;

/// The largest key and signature that are looked at, in bytes.
const LENGTH_MAX: usize = 256 * 1024;

/// Checks a detached signature, and tells the id of the key that made it.
pub(crate) fn verify(content: &[u8], signature: &[u8], armored_keys: &[String]) -> Result<String, String> {
    if armored_keys.is_empty() {
        return Err("the registry names no key that it could be signed with".to_owned());
    }
    if signature.len() > LENGTH_MAX || armored_keys.iter().any(|key| key.len() > LENGTH_MAX) {
        return Err("the signature or its key is too long".to_owned());
    }
    let signatures = match signature.starts_with(b"-----BEGIN") {
        true => DetachedSignature::from_armor_many(Cursor::new(signature)).map(|(found, _)| found),
        false => DetachedSignature::from_bytes_many(Cursor::new(signature)),
    };
    let signatures = signatures.map_err(|error| format!("the signature cannot be read: {error}"))?;
    let mut signatures: Vec<DetachedSignature> = signatures.filter_map(Result::ok).collect();
    if signatures.is_empty() {
        return Err("what is said to be the signature is none".to_owned());
    }
    let weak = signatures.iter().find_map(|it| it.signature.hash_alg().filter(is_weak));
    signatures.retain(|it| it.signature.hash_alg().is_some_and(|hash| !is_weak(&hash)));
    if let (Some(weak), true) = (weak, signatures.is_empty()) {
        return Err(format!("it is signed over {weak}, which can be forged"));
    }
    let mut refused = String::from("it is signed by none of the publisher's keys");
    for armored in armored_keys {
        let key = match SignedPublicKey::from_armor_single(Cursor::new(armored.as_bytes())) {
            Ok((key, _)) => key,
            Err(error) => {
                refused = format!("a key of the publisher cannot be read: {error}");
                continue;
            }
        };
        if let Some(id) = signatures.iter().find_map(|signature| signer(&key, signature, content)) {
            return Ok(id);
        }
    }
    Err(refused)
}

/// Whether two texts with the same digest can be made. Such a digest vouches for neither.
fn is_weak(hash: &HashAlgorithm) -> bool {
    matches!(hash, HashAlgorithm::Md5 | HashAlgorithm::Sha1 | HashAlgorithm::Ripemd160)
}

/// The id of the part of a key that made a signature, if one did.
fn signer(key: &SignedPublicKey, signature: &DetachedSignature, content: &[u8]) -> Option<String> {
    if !key.details.revocation_signatures.is_empty() {
        return None;
    }
    if signature.verify(&key.primary_key, content).is_ok() {
        return Some(key.primary_key.legacy_key_id().to_string().to_uppercase());
    }
    let bound = key.public_subkeys.iter().filter(|subkey| subkey.verify_bindings(&key.primary_key).is_ok());
    let mut signing = bound.filter(|subkey| subkey.signatures.iter().any(|it| it.key_flags().sign()));
    let made = signing.find(|subkey| signature.verify(&subkey.key, content).is_ok())?;
    Some(made.key.legacy_key_id().to_string().to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made by GnuPG.
    const SUMS: &[u8] = include_bytes!("../../tests/signatures/sums");
    const BY_KEY: &[u8] = include_bytes!("../../tests/signatures/sums.key.sig");
    const BY_SUBKEY: &[u8] = include_bytes!("../../tests/signatures/sums.subkey.asc");
    const KEY: &str = include_str!("../../tests/signatures/key.asc");
    const SUBKEY: &str = include_str!("../../tests/signatures/subkey.asc");

    const RSA_KEY: &str = include_str!("../../tests/signatures/rsa.asc");
    const BY_RSA_OVER_SHA256: &[u8] = include_bytes!("../../tests/signatures/sums.rsa-sha256.sig");
    const BY_RSA_OVER_SHA1: &[u8] = include_bytes!("../../tests/signatures/sums.rsa-sha1.sig");
    const BY_RSA_OVER_MD5: &[u8] = include_bytes!("../../tests/signatures/sums.rsa-md5.sig");
    const BY_RSA_OVER_RIPEMD160: &[u8] = include_bytes!("../../tests/signatures/sums.rsa-ripemd160.sig");

    /// A digest for which two texts can be made vouches for neither, however good the key.
    #[test]
    fn signatures_over_weak_digests_are_refused() {
        assert!(check(SUMS, BY_RSA_OVER_SHA256, &[RSA_KEY]).is_ok());
        let rows =
            [(BY_RSA_OVER_SHA1, "SHA1"), (BY_RSA_OVER_MD5, "MD5"), (BY_RSA_OVER_RIPEMD160, "RIPEMD160")];
        for (signature, digest) in rows {
            let (key, _) = SignedPublicKey::from_armor_single(Cursor::new(RSA_KEY.as_bytes())).unwrap();
            let made = DetachedSignature::from_bytes(Cursor::new(signature)).unwrap();
            assert!(signer(&key, &made, SUMS).is_some(), "{digest}: the signature itself is right");
            let told = check(SUMS, signature, &[RSA_KEY]).expect_err(digest);
            assert_eq!(told, format!("it is signed over {digest}, which can be forged"));
            let both = [signature, BY_RSA_OVER_SHA256].concat();
            assert!(check(SUMS, &both, &[RSA_KEY]).is_ok(), "another signature over a strong one counts");
        }
    }

    fn check(content: &[u8], signature: &[u8], keys: &[&str]) -> Result<String, String> {
        verify(content, signature, &keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_a_publisher_signed_is_recognised() {
        assert_eq!(check(SUMS, BY_KEY, &[KEY]).unwrap().len(), 16);
        assert!(check(SUMS, BY_SUBKEY, &[SUBKEY]).is_ok());
        assert!(check(SUMS, BY_SUBKEY, &[KEY, SUBKEY]).is_ok());
        assert!(check(SUMS, BY_KEY, &["garbage", KEY]).is_ok());
    }

    #[test]
    fn anything_else_is_refused() {
        let refused = |content: &[u8], signature: &[u8], keys: &[&str]| {
            check(content, signature, keys).expect_err("it is not signed")
        };
        assert!(refused(b"other", BY_KEY, &[KEY]).contains("signed by none"));
        assert!(refused(SUMS, BY_KEY, &[SUBKEY]).contains("signed by none"));
        assert!(refused(SUMS, BY_KEY, &[]).contains("names no key"));
        assert!(refused(SUMS, BY_KEY, &["garbage"]).contains("cannot be read"));
        refused(SUMS, b"garbage", &[KEY]);
        refused(SUMS, b"", &[KEY]);
        for at in 0..BY_KEY.len() {
            refused(SUMS, &BY_KEY[..at], &[KEY]);
        }
    }
}
