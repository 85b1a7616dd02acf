//! Words of others without the secrets that they were given: a provider may quote them.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::Value;

/// The shortest secret that is looked for in messages.
const SECRET_LENGTH_MIN: usize = 4;

/// The texts at secret positions of some values.
#[derive(Clone, Debug, Default)]
pub struct SecretTexts(Vec<String>);

impl SecretTexts {
    /// Those of these values.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        let texts = values.into_iter().flat_map(Value::secret_texts);
        // Shorter texts would be found in the middle of ordinary words.
        let mut texts: Vec<String> =
            texts.filter(|text| text.len() >= SECRET_LENGTH_MIN).map(str::to_owned).collect();
        // A secret inside a longer one must not leave the rest of that one behind.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        SecretTexts(texts)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes them out of a text.
    pub fn conceal(&self, told: &mut String) {
        for secret in self.0.iter().filter(|secret| !secret.is_empty()) {
            if told.contains(secret.as_str()) {
                *told = told.replace(secret.as_str(), "(secret)");
            }
        }
    }

    /// A diagnostic without them.
    #[must_use]
    pub fn concealed_in(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let Diagnostic { summary, detail, label, hints, .. } = &mut diagnostic;
        let told = std::iter::once(summary).chain(detail).chain(label).chain(hints);
        told.for_each(|told| self.conceal(told));
        diagnostic
    }

    /// Diagnostics without them.
    #[must_use]
    pub fn concealed(&self, diagnostics: Diagnostics) -> Diagnostics {
        if self.is_empty() {
            return diagnostics;
        }
        let mut concealed = Diagnostics::new();
        concealed.extend(diagnostics.into_iter().map(|it| self.concealed_in(it)));
        concealed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_a_secret_is_left() {
        let given = Value::object([
            ("short", Value::string("open sesame").into_secret()),
            ("long", Value::string("say open sesame twice").into_secret()),
            ("plain", Value::string("sesame")),
        ]);
        let secrets = SecretTexts::of([&given]);
        let told = Diagnostic::error("cannot use open sesame")
            .detail("say open sesame twice, and sesame")
            .hint("not `open sesame`");
        let told = secrets.concealed_in(told);
        assert_eq!(told.summary, "cannot use (secret)");
        assert_eq!(told.detail.as_deref(), Some("(secret), and sesame"));
        assert_eq!(told.hints, ["not `(secret)`"]);
    }
}
