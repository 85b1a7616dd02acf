//! Credentials in the environment: of stores, key services, registries, proxies and the clients of providers. No program
//! declares them, but servers and commands that get them may repeat them.

use trueup_core::{KnownSecrets, credentials_in};

use super::Environment;

/// Variables that hold a credential, and what everyone may know beside it: other variables, and the value that a server has
/// out of the box.
const VARIABLES: [(&str, &[&str], &str); 9] = [
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN", &[], ""),
    ("AWS_SECRET_ACCESS_KEY", &["AWS_ACCESS_KEY_ID"], ""),
    ("AWS_SESSION_TOKEN", &[], ""),
    ("PGPASSWORD", &["PGUSER", "PGDATABASE"], "postgres"),
    ("TRUEUP_KEY", &[], ""),
    ("TRUEUP_NEW_KEY", &[], ""),
    ("TRUEUP_NEW_PASSPHRASE", &[], ""),
    ("TRUEUP_PASSPHRASE", &[], ""),
    ("VAULT_TOKEN", &[], "root"),
];

/// Variables that hold an address, perhaps with a password in it.
const ADDRESSES: [&str; 7] =
    ["TRUEUP_STATE", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// What begins the names of variables with tokens of registries.
const TOKEN_PREFIX: &str = "TF_TOKEN_";

/// Adds the credentials of an environment.
pub(crate) fn learn_credentials(environment: &Environment, secrets: &KnownSecrets) {
    for (name, beside, usual) in VARIABLES {
        let Some(credential) = environment.get(name) else { continue };
        let public: Vec<&str> =
            beside.iter().filter_map(|name| environment.get(name)).chain([usual]).collect();
        secrets.learn_credential(credential, &public);
    }
    for address in ADDRESSES.into_iter().filter_map(|name| environment.get(name)) {
        for (user, password) in credentials_in(address) {
            secrets.learn_credential(&password, &[&*user]);
        }
    }
    let tokens = environment.variables().iter().filter(|(name, _)| name.starts_with(TOKEN_PREFIX));
    tokens.for_each(|(_, token)| secrets.learn_credential(token, &[]));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SECRET-8.
    #[test]
    fn credentials_are_learned_unless_everyone_knows_them() {
        let check = |variables: &[(&str, &str)], text: &str, expected: &str| {
            let secrets = KnownSecrets::default();
            let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            learn_credentials(&Environment::new(variables.collect(), None), &secrets);
            assert_eq!(secrets.scrubbed(text), expected);
        };
        check(&[("PGPASSWORD", "hunter22")], "no hunter22", "no (secret)");
        check(&[("PGPASSWORD", "postgres")], "postgres://db", "postgres://db");
        check(&[("PGPASSWORD", "infra"), ("PGDATABASE", "infra")], "infra", "infra");
        check(
            &[("AWS_SECRET_ACCESS_KEY", "wJalrXUtn"), ("AWS_ACCESS_KEY_ID", "AKIA1")],
            "AKIA1 wJalrXUtn",
            "AKIA1 (secret)",
        );
        check(&[("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_ACCESS_KEY_ID", "test")], "a test", "a test");
        check(&[("TF_TOKEN_example_com", "tok-71c9")], "Bearer tok-71c9", "Bearer (secret)");
        check(&[("HTTPS_PROXY", "http://eve:hun%2fter22@p:1")], "hun/ter22", "(secret)");
        check(&[("TRUEUP_STATE", "postgres://ada:hunter22@db/x")], "ada hunter22", "ada (secret)");
        check(&[("VAULT_TOKEN", "root")], "/root", "/root");
    }
}
