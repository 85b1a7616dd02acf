//! Which pieces are written anew together with what is flushed.
//!
//! Pieces are merged as in a log-structured merge tree: what is new takes in all that is no larger. Each piece that is
//! left is therefore larger than all after it together, so that there are few, they are at most twice as large as what
//! they come to, and each byte is written again only when what it is in has doubled.

/// How large things may grow. The defaults are for everyday use; tests set others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many bytes of commits stay in a head before they go into pieces.
    pub head_bytes_max: usize,
    /// How large a piece may be. What is larger becomes several.
    pub piece_bytes_max: usize,
    /// How much is merged at most while somebody waits for a commit, so that none costs more with more records. The rest
    /// is merged when the lease is given back.
    pub merge_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { head_bytes_max: 64 << 10, piece_bytes_max: 8 << 20, merge_bytes_max: 4 << 20 }
    }
}

/// How many of the last ones, oldest first, are merged with what is new; not more than this much.
pub(crate) fn taken_in(sizes: &[u64], new: u64, bytes_max: u64) -> usize {
    let (mut sum, mut taken) = (new, 0);
    for (count, size) in sizes.iter().rev().enumerate() {
        let small = *size <= sum;
        sum = sum.saturating_add(*size);
        if sum > bytes_max {
            break;
        }
        if small {
            taken = count + 1;
        }
    }
    taken
}

/// Lines as texts of pieces.
pub(crate) fn split(lines: Vec<String>, bytes_max: usize) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for line in lines {
        match texts.last_mut() {
            Some(text) if text.len() + line.len() < bytes_max => text.push_str(&line),
            _ => texts.push(line),
        }
        if let Some(text) = texts.last_mut() {
            text.push('\n');
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_takes_in_all_that_is_no_larger() {
        for (sizes, new, expected) in [
            (&[][..], 1, 0),
            (&[8, 4, 2], 1, 0),
            (&[8, 4, 2], 2, 3),
            (&[8, 4, 2], 1_000, 3),
            (&[9, 3, 2], 2, 2),
            // What was put off is found behind what is not.
            (&[4, 4, 4, 2], 1, 4),
        ] {
            assert_eq!(taken_in(sizes, new, u64::MAX), expected, "{sizes:?} and {new}");
        }
        assert_eq!(taken_in(&[8, 4, 2], 2, 8), 2, "no more than may be merged at once");
    }

    /// STATE-6: 10,000 flushes of one size.
    #[test]
    fn few_pieces_are_left_and_little_is_written_again() {
        let (mut sizes, mut written) = (Vec::new(), 0);
        for _ in 0..10_000 {
            let taken = taken_in(&sizes, 1, u64::MAX);
            let merged = 1 + sizes.split_off(sizes.len() - taken).iter().sum::<u64>();
            written += merged;
            sizes.push(merged);
            assert!(sizes.len() <= 14, "{sizes:?}");
        }
        assert_eq!(sizes.iter().sum::<u64>(), 10_000);
        assert!(written < 14 * 10_000, "{written}");
    }
}
