//! The order in which people expect names: `r2` before `r10`, and the root module before the others.

use std::cmp::Ordering;

use trueup_core::Address;

/// Compares texts so that numbers in them count as numbers.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    Key::of_text(left).cmp(&Key::of_text(right))
}

/// Sorts items with addresses: by module, then by name.
pub(crate) fn sort_by_address<T>(items: &mut [T], address: impl Fn(&T) -> &Address) {
    items.sort_by_cached_key(|item| Key::of_address(address(item)));
}

/// A text as it is compared, made once rather than for each comparison.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// Bytes in the order of the texts.
    order: Vec<u8>,
    /// Tells numbers apart that differ only in leading zeros.
    text: String,
}

impl Key {
    fn of_text(text: &str) -> Key {
        let mut order = Vec::new();
        add_parts(&mut order, text);
        Key { order, text: text.to_owned() }
    }

    fn of_address(address: &Address) -> Key {
        let mut order = Vec::new();
        let text = address.to_string();
        if !address.module().is_root() {
            add_parts(&mut order, &address.module().to_string());
        }
        order.push(0);
        add_parts(&mut order, &text);
        Key { order, text }
    }
}

/// Adds the words and numbers of a text. A word ends with a byte that comes before all others; a number has its length
/// before its digits, so that the longer one is greater.
fn add_parts(order: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let is_number = rest.as_bytes()[0].is_ascii_digit();
        let end = rest.bytes().position(|byte| byte.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if is_number {
            let digits = part.trim_start_matches('0');
            order.push(b'0');
            order.extend((digits.len() as u64).to_be_bytes());
            order.extend(digits.as_bytes());
        } else {
            order.extend(part.as_bytes());
            order.push(0);
        }
        rest = after;
    }
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
