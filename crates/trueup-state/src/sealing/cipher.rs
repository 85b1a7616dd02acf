//! The cipher: XChaCha20-Poly1305, with nonces that follow from what is sealed.
//!
//! The same content at the same place gives the same bytes, so that what did not change is not written differently
//! (TARGET-5), and a store can tell a step that leads to a record from one that does not. All that this tells is that a
//! field holds what it held before. The nonce is a keyed hash over place and content, so two contents never share one.

use std::fmt;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

const NONCE_LENGTH: usize = 24;

/// Thirty-two bytes that nobody may see.
pub(super) type KeyBytes = Zeroizing<[u8; 32]>;

/// What tells a key from others without telling anything of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyId([u8; KeyId::LENGTH]);

impl KeyId {
    pub(super) const LENGTH: usize = 8;

    /// The id of these bytes as a key.
    pub(super) fn of(bytes: &KeyBytes) -> Self {
        let hash = blake3::derive_key("trueup sealing key id v1", &bytes[..]);
        let mut id = [0; Self::LENGTH];
        id.copy_from_slice(&hash[..Self::LENGTH]);
        KeyId(id)
    }

    pub(super) fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        KeyId(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for KeyId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut id = [0; Self::LENGTH];
        if text.len() != 2 * Self::LENGTH
            || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Err(());
        }
        for (byte, digits) in id.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| ())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| ())?;
        }
        Ok(KeyId(id))
    }
}

/// A key that seals contents.
pub(super) struct SealingKey {
    id: KeyId,
    bytes: KeyBytes,
    cipher: XChaCha20Poly1305,
    nonces: KeyBytes,
}

impl SealingKey {
    pub(super) fn new(bytes: KeyBytes) -> Self {
        let derived = |purpose: &str| Zeroizing::new(blake3::derive_key(purpose, &bytes[..]));
        let cipher = XChaCha20Poly1305::new((&*derived("trueup sealing cipher v1")).into());
        SealingKey { id: KeyId::of(&bytes), cipher, nonces: derived("trueup sealing nonces v1"), bytes }
    }

    /// A new key. Keys are the one thing that nobody injects: a predictable one seals nothing.
    pub(super) fn random() -> Self {
        Self::new(random_bytes())
    }

    pub(super) fn id(&self) -> KeyId {
        self.id
    }

    /// The key itself, to be wrapped by another.
    pub(super) fn bytes(&self) -> &KeyBytes {
        &self.bytes
    }

    /// Seals a content for a place.
    pub(super) fn seal(&self, place: &[u8], content: &[u8]) -> Vec<u8> {
        let nonce = self.nonce(place, content);
        let sealed = self.cipher.encrypt(&nonce, Payload { msg: content, aad: place });
        let sealed = sealed.expect("contents are far below the cipher's limit of 256 GiB");
        [&nonce[..], &sealed].concat()
    }

    /// Opens what was sealed for this place by this key; `None` if it was not.
    pub(super) fn open(&self, place: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LENGTH>()?;
        let content = self.cipher.decrypt(nonce.into(), Payload { msg: sealed, aad: place }).ok()?;
        Some(Zeroizing::new(content))
    }

    fn nonce(&self, place: &[u8], content: &[u8]) -> XNonce {
        let mut hasher = blake3::Hasher::new_keyed(&self.nonces);
        hasher.update(&(place.len() as u64).to_le_bytes()).update(place).update(content);
        let mut nonce = XNonce::default();
        hasher.finalize_xof().fill(&mut nonce);
        nonce
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey({})", self.id)
    }
}

/// Bytes from the operating system.
pub(super) fn random_bytes<const N: usize>() -> Zeroizing<[u8; N]> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut bytes[..]).expect("the operating system provides randomness");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_content_at_the_same_place_gives_the_same_bytes() {
        let key = SealingKey::random();
        assert_eq!(key.seal(b"a", b"x"), key.seal(b"a", b"x"));
        assert_ne!(key.seal(b"a", b"x"), key.seal(b"b", b"x"));
        assert_ne!(key.seal(b"a", b"bx")[..24], key.seal(b"ab", b"x")[..24]);
        assert_ne!(key.seal(b"a", b"x"), SealingKey::random().seal(b"a", b"x"));
    }

    #[test]
    fn only_the_key_opens_and_only_at_the_place() {
        let key = SealingKey::random();
        let sealed = key.seal(b"a", b"hush");
        assert_eq!(key.open(b"a", &sealed).unwrap()[..], *b"hush");
        assert!(key.open(b"b", &sealed).is_none());
        assert!(SealingKey::random().open(b"a", &sealed).is_none());
        assert!(key.open(b"a", &sealed[..20]).is_none());
    }

    #[test]
    fn keys_are_not_shown() {
        let key = SealingKey::new(Zeroizing::new([7; 32]));
        assert_eq!(format!("{key:?}"), format!("SealingKey({})", key.id()));
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
    }
}
