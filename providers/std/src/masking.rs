//! Keeping secrets out of what other programs say: their words may quote what they were given.

use trueup_core::Value;

/// The shortest text that is looked for: shorter ones stand in the middle of ordinary words.
const LENGTH_MIN: usize = 4;

/// What stands in place of a secret.
const MASK: &str = "(secret)";

/// The texts that must not be told, longest first: one inside another must not leave the rest of it behind.
#[derive(Default)]
pub(crate) struct Masking(Vec<String>);

impl Masking {
    pub(crate) fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        Masking::default().and(values.into_iter().flat_map(Value::secret_texts))
    }

    /// These texts too. Programs often quote single lines of a longer text, such as of a key.
    pub(crate) fn and<'a>(mut self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        for text in texts {
            let parts = std::iter::once(text).chain(text.lines()).map(str::trim);
            self.0.extend(parts.filter(|part| part.len() >= LENGTH_MIN).map(ToOwned::to_owned));
        }
        self.0.sort_by(|left, right| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        self.0.dedup();
        self
    }

    /// A text without secrets.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK) } else { text }
        })
    }

    /// A value that another program answered, with a mark on each text that repeats a secret.
    pub(crate) fn mark(&self, value: Value) -> Value {
        let repeats = |text: &str| self.0.iter().any(|secret| text.contains(secret.as_str()));
        if value.as_str().is_some_and(repeats) {
            return value.into_secret();
        }
        if let Some(items) = value.as_items() {
            return Value::list(items.iter().map(|item| self.mark(item.clone())));
        }
        match value.as_entries() {
            Some(entries) => {
                Value::object(entries.iter().map(|(key, item)| (key.clone(), self.mark(item.clone()))))
            }
            None => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::value;

    /// SECRET-1
    #[test]
    fn secrets_are_masked_whole_by_line_and_longest_first() {
        let secret = |text: &str| value!(text).into_secret();
        let masking =
            Masking::of([&secret("hunter2"), &secret("hunter2-and-more"), &secret("line one\nline two")]);
        assert_eq!(masking.apply("got hunter2-and-more, then hunter2"), "got (secret), then (secret)");
        assert_eq!(masking.apply("bad: line two"), "bad: (secret)");
        let marked = masking.mark(value!({ a: ["x hunter2", "open"] }));
        assert_eq!(marked.to_string(), r#"{ a = [(secret), "open"] }"#);
    }
}
