//! Two sequences of lines, words or elements, compared in time in proportion to their length.

use std::hash::Hash;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The histogram algorithm finds the differences that read best. Its time grows with the square of the length, so
/// longer sequences are compared by Myers' algorithm, which gives up the shortest difference where that takes long.
const HISTOGRAM_LENGTH_MAX: usize = 16_384;

/// What differs, and the sequences that it is about.
pub(crate) fn sequence_diff<T: Eq + Hash + Default>(
    before: impl IntoIterator<Item = T>,
    after: impl IntoIterator<Item = T>,
) -> (InternedInput<T>, Diff) {
    let mut input = InternedInput::default();
    input.update_before(before.into_iter());
    input.update_after(after.into_iter());
    let algorithm = match input.before.len().max(input.after.len()) <= HISTOGRAM_LENGTH_MAX {
        true => Algorithm::Histogram,
        false => Algorithm::Myers,
    };
    let diff = Diff::compute(algorithm, &input);
    (input, diff)
}
