//! What a `state` block says, field by field; and addresses that say it all in one text.

use std::borrow::Cow;

use trueup_core::{Diagnostic, Diagnostics, Value, mask_argument, nearest};
use trueup_front_end::StateSettings;

/// The fields of a `state` block.
#[cfg(any(feature = "postgres", feature = "s3"))]
pub(super) struct Fields<'a>(&'a StateSettings);

#[cfg(any(feature = "postgres", feature = "s3"))]
impl<'a> Fields<'a> {
    pub(super) fn of(state: &'a StateSettings, known: &[&str]) -> Result<Self, Diagnostics> {
        check_known(state, known)?;
        Ok(Fields(state))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Diagnostics> {
        self.field(name, "a text", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Diagnostics> {
        Ok(self.field(name, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    fn field<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Diagnostics> {
        let Some(value) = self.0.settings.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| {
            let summary = format!("the `{name}` of a {} store must be {wanted}", self.0.kind);
            let mut diagnostic = Diagnostic::error(summary);
            diagnostic.origin = value.origin();
            diagnostic.into()
        })
    }
}

/// Refuses settings that the kind does not have.
pub(super) fn check_known(state: &StateSettings, known: &[&str]) -> Result<(), Diagnostics> {
    let mut names = state.settings.as_entries().into_iter().flat_map(trueup_core::Entries::keys);
    let Some(name) = names.find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    let mut diagnostic = Diagnostic::error(format!("a {} store has no setting `{name}`", state.kind));
    diagnostic.origin = state.settings.get(name).and_then(Value::origin);
    // It may be a password, under whatever name.
    diagnostic.concealed = diagnostic.origin.into_iter().collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            format!("it takes {}", known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "))
        }
    };
    Err(diagnostic.hint(hint).into())
}

/// What an address in one text means: `postgres://…`, `s3://bucket/prefix?region=…&endpoint=…`, or a path.
pub(crate) fn of_address(address: &str) -> StateSettings {
    let settings = |kind: &str, fields: Vec<(&str, String)>| StateSettings {
        kind: kind.into(),
        settings: Value::object(fields.into_iter().map(|(name, value)| (name.to_owned(), value.into()))),
    };
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        return settings("postgres", vec![("url", address.to_owned())]);
    }
    let Some(rest) = address.strip_prefix("s3://") else {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric());
        // An address of a kind that there is not is no path, and may hold a password.
        return match address.split_once("://").filter(|(scheme, _)| is_word(scheme)) {
            Some((scheme, _)) => settings(scheme, Vec::new()),
            // Neither is one with a slip in it: as a path it would be shown everywhere.
            None if matches!(mask_argument(address), Cow::Owned(_)) => {
                let is_sign = |char: char| ":/=".contains(char);
                let word = address.find(is_sign).unwrap_or_default();
                let signs = address[word..].find(|char| !is_sign(char)).unwrap_or_default();
                settings(&address[..word + signs], Vec::new())
            }
            None => super::state_in_file(address),
        };
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let mut fields = vec![("bucket", bucket.to_owned()), ("prefix", prefix.to_owned())];
    fields.extend(
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name, value.to_owned())),
    );
    settings("s3", fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_which_store() {
        let of = |address: &str| {
            let StateSettings { kind, settings } = of_address(address);
            format!("{kind} {settings}")
        };
        assert_eq!(of("/var/lib/state.db"), r#"sqlite { path = "/var/lib/state.db" }"#);
        assert_eq!(of("mysql://ada:hunter2@db/infra"), "mysql {}");
        assert_eq!(of("postgres//ada:hunter2@db/infra"), "postgres// {}");
        assert_eq!(of("postgres:/ada:hunter2@db/infra"), "postgres:/ {}");
        assert_eq!(of("postgres:ada:hunter2@db/infra"), "postgres: {}");
        assert_eq!(of("host=db user=ada password=hunter2"), "host= {}");
        assert_eq!(of("/var//lib/state.db"), r#"sqlite { path = "/var//lib/state.db" }"#);
        assert_eq!(of("postgres://ada@db/infra"), r#"postgres { url = "postgres://ada@db/infra" }"#);
        assert_eq!(
            of("s3://states/team/a?region=eu-central-1&endpoint=http://minio:9000"),
            r#"s3 { bucket = "states", endpoint = "http://minio:9000", prefix = "team/a", region = "eu-central-1" }"#
        );
    }
}
