//! "Did you mean": the known name nearest to a misspelt one.

/// A text longer than this is nobody's slip of a name, and comparing it would take long.
const NAME_LENGTH_MAX: usize = 200;

/// The candidate that a person most likely meant, if any is near enough to say so.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > NAME_LENGTH_MAX {
        return None;
    }
    let allowed = match written.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(written.len()) <= 4 * allowed)
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many slips lie between two texts. Most of them have the same type or module before the name, which costs nothing.
fn distance(left: &str, right: &str) -> usize {
    let same = left.char_indices().zip(right.chars()).take_while(|((_, left), right)| left == right);
    let same = same.last().map_or(0, |((at, char), _)| at + char.len_utf8());
    strsim::damerau_levenshtein(&left[same..], &right[same..])
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_nonsense_is_not() {
        let names = ["content", "path", "mode"];
        assert_eq!(nearest("contnet", names), Some("content"));
        assert_eq!(nearest("Path", names), Some("path"));
        assert_eq!(nearest("zzzzzz", names), None);
        let addresses = ["std_file.größe", "std_file.grösze", "std_file.gruß"];
        assert_eq!(nearest("std_file.grösse", addresses), Some("std_file.grösze"));
        assert_eq!(nearest("", names), None);
    }
}
