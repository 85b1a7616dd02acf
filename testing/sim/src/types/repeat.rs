//! Secrets as the cloud repeats them: without the text around them, encoded, escaped, and cut short.
//!
//! Which forms it chooses for a secret follows from the secret: nothing is drawn, so that scenarios stay as they are when a
//! form is added.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::scenario::BEARER;

/// All forms of a secret, each with its name.
pub(crate) fn repeated(secret: &str) -> Vec<(&'static str, String)> {
    let secret = secret.strip_prefix(BEARER).unwrap_or(secret);
    let bytes = |form: fn(u8) -> String| secret.bytes().map(form).collect::<String>();
    // Long enough to give it away.
    let cut = secret.len() * 2 / 3;
    vec![
        ("plain", secret.to_owned()),
        ("hexadecimal", bytes(|byte| format!("{byte:02x}"))),
        ("capital hexadecimal", bytes(|byte| format!("{byte:02X}"))),
        ("Base64", STANDARD.encode(secret)),
        ("Base64 of a pair", STANDARD.encode(format!("user:{secret}"))),
        ("Base64 for URLs", URL_SAFE_NO_PAD.encode(format!("u={secret}&v"))),
        ("percent", bytes(|byte| format!("%{byte:02X}"))),
        ("JSON", serde_json::Value::from(secret).to_string()),
        ("JSON throughout", bytes(|byte| format!("\\u{byte:04x}"))),
        ("HTML", bytes(|byte| format!("&#{byte};"))),
        ("its beginning", format!("{}...", &secret[..cut])),
        ("its end", format!("...{}", &secret[secret.len() - cut..])),
    ]
}

/// The secret in two of its forms.
pub(super) fn gossip(secret: &str) -> String {
    let forms = repeated(secret);
    let mixed = secret.bytes().fold(0, |mixed: usize, byte| mixed.wrapping_mul(31).wrapping_add(byte.into()));
    let [one, other] = [mixed, mixed / forms.len()].map(|at| &forms[at % forms.len()].1);
    format!("{one} or {other}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::secret_of;

    #[test]
    fn every_form_is_chosen_for_some_secret() {
        let secrets = (0..12).flat_map(|number| (0..5).map(move |secret| secret_of(number, secret)));
        let mut chosen: Vec<&str> = Vec::new();
        for secret in secrets {
            let told = gossip(&secret);
            let told = told.split(" or ");
            let forms = repeated(&secret);
            let form = |text: &str| forms.iter().find(|(_, form)| form == text).map(|(name, _)| *name);
            chosen.extend(told.filter_map(form));
        }
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), repeated("").len(), "{chosen:?}");
    }
}
