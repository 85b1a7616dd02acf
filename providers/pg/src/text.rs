//! Names and values as SQL text, for statements that take no parameters.

use trueup_provider::{Error, Result};

/// The most bytes that a name may have: the server would cut off the rest, and find something else by what is left.
const NAME_BYTES_MAX: usize = 63;

/// A name as an identifier, whatever is in it.
pub(crate) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as a literal, whatever is in it and however the server reads backslashes.
pub(crate) fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// Several names, separated by commas.
pub(crate) fn identifiers<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", ")
}

/// Refuses what the server could not take for a name as it stands.
pub(crate) fn check_name(name: &str, input: &str) -> Result<()> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains('\0') {
        let message = format!("`{name}` is no name: PostgreSQL's names have 1 to {NAME_BYTES_MAX} bytes");
        return Err(Error::invalid(message).at(input));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_cannot_leave_their_quotes() {
        assert_eq!(identifier(r#"a"; DROP"#), r#""a""; DROP""#);
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal(r"\'; DROP"), r"E'\\''; DROP'");
        assert!(check_name(&"ä".repeat(31), "name").is_ok());
        assert!(check_name(&"ä".repeat(32), "name").is_err());
        assert!(check_name("", "name").is_err());
    }
}
