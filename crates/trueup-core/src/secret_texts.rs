//! Words of others without the secrets that they were given: a provider may quote them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::Value;

/// The shortest secret that is looked for in messages.
const SECRET_LENGTH_MIN: usize = 4;

/// The texts at secret positions of some values.
#[derive(Clone, Debug, Default)]
// Longest first: a secret inside a longer one must not leave the rest of that one behind.
pub struct SecretTexts(BTreeSet<(Reverse<usize>, String)>);

impl SecretTexts {
    /// Those of these values.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        let texts = values.into_iter().flat_map(Value::secret_texts);
        // Shorter texts would be found in the middle of ordinary words.
        let texts = texts.filter(|text| text.len() >= SECRET_LENGTH_MIN);
        SecretTexts(texts.map(|text| (Reverse(text.len()), text.to_owned())).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds others.
    pub fn add(&mut self, others: SecretTexts) {
        self.0.extend(others.0);
    }

    /// Takes them out of a text.
    pub fn conceal(&self, told: &mut String) {
        if let Cow::Owned(concealed) = self.concealed_text(told) {
            *told = concealed;
        }
    }

    /// A text without them.
    pub fn concealed_text<'t>(&self, told: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(told), |told, (_, secret)| match told.contains(secret.as_str()) {
            true => Cow::Owned(told.replace(secret.as_str(), "(secret)")),
            false => told,
        })
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
