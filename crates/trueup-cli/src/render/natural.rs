//! The order in which people expect names: `r2` before `r10`, and the root module before the others.

use std::cmp::Ordering;

use trueup_core::Address;

/// Compares texts so that numbers in them count as numbers.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    loop {
        match (left_rest.is_empty(), right_rest.is_empty()) {
            (true, true) => return left.cmp(right),
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        let (left_part, right_part);
        (left_part, left_rest) = next_part(left_rest);
        (right_part, right_rest) = next_part(right_rest);
        let order = match (is_number(left_part), is_number(right_part)) {
            (true, true) => compare_digits(left_part, right_part),
            _ => left_part.cmp(right_part),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Sorts what has an address: by module, then by name.
pub(crate) fn sort_by_address<T>(items: &mut [T], address: impl Fn(&T) -> &Address) {
    items.sort_by_cached_key(|item| Key::of(address(item)));
}

/// An address as it is compared, written once rather than for each comparison.
#[derive(PartialEq, Eq)]
struct Key {
    module: String,
    name: String,
}

impl Key {
    fn of(address: &Address) -> Key {
        Key { module: address.module().to_string(), name: address.to_string() }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        compare(&self.module, &other.module).then_with(|| compare(&self.name, &other.name))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn next_part(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|char: char| char.is_ascii_digit());
    let end = text.find(|char: char| char.is_ascii_digit() != digits).unwrap_or(text.len());
    text.split_at(end)
}

fn is_number(part: &str) -> bool {
    part.starts_with(|char: char| char.is_ascii_digit())
}

/// By value, however many digits there are.
fn compare_digits(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = vec!["r10", "r2", "r", "r2b", "a", "r02", "r99999999999999999999999"];
        names.sort_by(|left, right| compare(left, right));
        assert_eq!(names, ["a", "r", "r02", "r2", "r2b", "r10", "r99999999999999999999999"]);
    }

    #[test]
    fn modules_come_after_the_root() {
        let mut addresses: Vec<Address> =
            ["module.b.x_y.a", "x_y.z[10]", "x_y.z[9]", "module.a[10].x_y.a", "module.a[2].x_y.a"]
                .map(|text| text.parse().unwrap())
                .into();
        sort_by_address(&mut addresses, |it| it);
        let told: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["x_y.z[9]", "x_y.z[10]", "module.a[2].x_y.a", "module.a[10].x_y.a", "module.b.x_y.a"]
        );
    }
}
