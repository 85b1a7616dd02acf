//! How Rust names are written in programs.

use darling::{Error, FromMeta};

/// A way of writing names of several words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Snake,
    Kebab,
    Camel,
    Pascal,
}

impl FromMeta for Case {
    fn from_string(name: &str) -> darling::Result<Self> {
        match name {
            "snake_case" => Ok(Case::Snake),
            "kebab-case" => Ok(Case::Kebab),
            "camelCase" => Ok(Case::Camel),
            "PascalCase" => Ok(Case::Pascal),
            other => Err(Error::custom(format!(
                "unknown case `{other}`: expected `snake_case`, `kebab-case`, `camelCase` or `PascalCase`"
            ))),
        }
    }
}

impl Case {
    /// Writes a Rust name, of a field or of a variant, in this case.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        let capital = |word: &String| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            format!("{}{rest}", first.to_uppercase())
        };
        match self {
            Case::Snake => words.join("_"),
            Case::Kebab => words.join("-"),
            Case::Pascal => words.iter().map(capital).collect(),
            Case::Camel => {
                let (first, rest) = words
                    .split_first()
                    .map_or((String::new(), &[][..]), |(first, rest)| (first.clone(), rest));
                first + &rest.iter().map(capital).collect::<String>()
            }
        }
    }
}

/// The words of a name in snake or Pascal case, in lower case. A run of capitals is one word: `HTTPPort` is http, port.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.trim_start_matches("r#").chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &char) in chars.iter().enumerate() {
        let after_lower = at > 0 && !chars[at - 1].is_uppercase();
        let before_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let starts = char.is_uppercase() && (after_lower || before_lower);
        if (starts || char == '_') && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if char != '_' {
            word.extend(char.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_every_case() {
        let cases = [Case::Snake, Case::Kebab, Case::Camel, Case::Pascal];
        let all = |name| cases.map(|case| case.apply(name)).join(" ");
        assert_eq!(all("function_name"), "function_name function-name functionName FunctionName");
        assert_eq!(all("PayPerRequest"), "pay_per_request pay-per-request payPerRequest PayPerRequest");
        assert_eq!(all("HTTPPort"), "http_port http-port httpPort HttpPort");
        assert_eq!(all("r#type"), "type type type Type");
        assert_eq!(all("Aes256"), "aes256 aes256 aes256 Aes256");
    }
}
