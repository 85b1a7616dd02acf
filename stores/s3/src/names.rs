//! How stacks and stages stand in the names of objects.
//!
//! Letters, digits and `-` stand for themselves, every other byte as `_` and two hexadecimal digits, an empty name as
//! `_` alone. Different names therefore never mix, whatever is in them.

use object_store::path::Path;
use trueup_state::Scope;

/// The folder of all scopes below that of the store.
pub(crate) const SCOPES: &str = "scopes";

/// The folder of a scope.
pub(crate) fn folder(root: &Path, scope: &Scope) -> Path {
    root.clone().join(SCOPES).join(encoded(&scope.stack)).join(encoded(&scope.stage))
}

/// The names that stand in a folder's last two parts.
pub(crate) fn scope(stack: &str, stage: &str) -> Option<Scope> {
    Some(Scope::new(decoded(stack)?, decoded(stage)?))
}

fn encoded(name: &str) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => text.push(char::from(byte)),
            _ => text.push_str(&format!("_{byte:02X}")),
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    if text == "_" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'_' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STATE-1.
    #[test]
    fn names_come_back_as_they_were() {
        for (name, expected) in [
            ("shop", "shop"),
            ("", "_"),
            ("_", "_5F"),
            ("a/b", "a_2Fb"),
            ("..", "_2E_2E"),
            ("é %", "_C3_A9_20_25"),
        ] {
            assert_eq!(encoded(name), expected);
            assert_eq!(decoded(expected).as_deref(), Some(name));
        }
        for garbled in ["_2", "_zz", "_FF"] {
            assert_eq!(decoded(garbled), None, "{garbled} stands for no name");
        }
    }
}
