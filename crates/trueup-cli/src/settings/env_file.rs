//! Files of environment variables: `NAME=value` lines, as `--env-file` takes them.

/// The variables of such a file, in order, or the number of the line that is none. The line itself may hold a secret.
pub(crate) fn parse_env_file(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut variables = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("line {} is not NAME=value", number + 1));
        };
        let name = name.trim();
        if !is_variable_name(name) {
            return Err(format!("line {}: the text before `=` is not the name of a variable", number + 1));
        }
        variables.push((name.to_owned(), unquoted(value.trim())));
    }
    Ok(variables)
}

/// Whether variables of the environment can have this name.
pub(super) fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Double quotes know escapes, single quotes none; a bare value ends before a comment.
fn unquoted(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return inner.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
    }
    if let Some(inner) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.to_owned();
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_bare_or_quoted() {
        let text = "# comment\n\nA=1\nexport B = two words # why\nC=\"x\\ny\"\nD='a#b'\n";
        let pairs = [("A", "1"), ("B", "two words"), ("C", "x\ny"), ("D", "a#b")];
        assert_eq!(
            parse_env_file(text).unwrap(),
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    /// SECRET-13
    #[test]
    fn a_line_that_is_wrong_is_named_and_not_quoted() {
        assert_eq!(parse_env_file("A=1\nhunter2").unwrap_err(), "line 2 is not NAME=value");
        let no_name = "line 1: the text before `=` is not the name of a variable";
        assert_eq!(parse_env_file("hunter-2=1").unwrap_err(), no_name);
    }
}
