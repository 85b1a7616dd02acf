//! Randomness, injected: tokens and ids are the only things that differ between two runs of the same thing.

use std::sync::Mutex;

/// What fills bytes with randomness.
pub trait Random: Send + Sync {
    /// Sixteen random bytes.
    fn bytes(&self) -> [u8; 16];
}

/// The operating system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        bytes
    }
}

/// A sequence that depends on its seed alone, for tests and simulation.
#[derive(Debug)]
pub struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        SeededRandom(Mutex::new(seed))
    }
}

impl Random for SeededRandom {
    fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        if let Ok(mut state) = self.0.lock() {
            for half in bytes.chunks_mut(8) {
                // SplitMix64: every seed gives a full period.
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = *state;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                half.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
            }
        }
        bytes
    }
}
