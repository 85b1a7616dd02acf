//! Fair draws from random bytes.

use trueup_provider::Result;

use crate::surroundings::Randomness;

impl Randomness {
    /// A number below a bound, each as likely as any other.
    pub(crate) fn below(&self, bound: u64) -> Result<u64> {
        debug_assert!(bound > 0, "there is no number below zero");
        // Numbers beyond the last whole multiple of the bound would favour the small ones: draw again.
        let fair_max = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = u64::from_le_bytes(self.bytes()?);
            if drawn < fair_max {
                return Ok(drawn % bound);
            }
        }
    }

    /// One of several.
    pub(crate) fn one_of<'a, T>(&self, several: &'a [T]) -> Result<&'a T> {
        let at = self.below(several.len() as u64)?;
        Ok(&several[at as usize])
    }

    /// Puts them in any order, each as likely as any other.
    pub(crate) fn shuffle<T>(&self, items: &mut [T]) -> Result<()> {
        for end in (1..items.len()).rev() {
            let at = self.below(end as u64 + 1)? as usize;
            items.swap(at, end);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn what_would_favour_small_numbers_is_drawn_again() {
        let draws = AtomicU64::new(0);
        let randomness = Randomness::from_function(move |bytes| {
            let first = draws.fetch_add(1, Ordering::Relaxed) == 0;
            bytes.copy_from_slice(&if first { u64::MAX } else { 7 }.to_le_bytes());
        });
        assert_eq!(randomness.below(6).unwrap(), 1);
    }

    #[test]
    fn every_number_below_the_bound_comes_up() {
        let randomness = Randomness::default();
        let mut seen = [false; 5];
        while seen.contains(&false) {
            seen[randomness.below(5).unwrap() as usize] = true;
        }
        let mut items: Vec<u32> = (0..20).collect();
        randomness.shuffle(&mut items).unwrap();
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
