//! Credentials in the environment: of stores, key services, registries, proxies and the clients of providers. No program
//! declares them, but servers and commands that get them may repeat them.
//!
//! Commands and plugins get the whole environment, so that of other variables those count that are named like a credential
//! and look like one, and passwords in addresses.

use std::path::Path;

use trueup_core::{KnownSecrets, credentials_in};

use super::Environment;
use super::environment::VARIABLE_PREFIXES;

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

/// How names of variables with a credential end, whoever reads them.
const NAME_ENDS: [&str; 13] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "_PWD",
    "_AUTH",
    "_CREDENTIALS",
    "_API_KEY",
    "_APP_KEY",
    "_ACCESS_KEY",
    "_PRIVATE_KEY",
    "_SECRET_KEY",
];

/// The shortest credential in a variable that only its name tells of.
const LENGTH_MIN: usize = 8;

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
    learn_by_name(environment, secrets);
}

/// Adds what is named like a credential, or is the password of an address. A value that another variable has too is none.
fn learn_by_name(environment: &Environment, secrets: &KnownSecrets) {
    let (named, others): (Vec<_>, Vec<_>) =
        environment.variables().iter().partition(|(name, _)| is_named_like_one(name));
    let public: Vec<&str> = others.iter().map(|(_, value)| value.as_str()).collect();
    let learn = |credential: &str, public: &[&str]| {
        if looks_like_one(credential) {
            secrets.learn_credential(credential, public);
        }
    };
    named.iter().for_each(|(_, value)| learn(value, &public));
    for (_, address) in environment.variables().iter().filter(|(_, value)| value.contains("://")) {
        for (user, password) in credentials_in(address) {
            learn(&password, &[&*user]);
        }
    }
}

/// Of a variable of the program, the program says whether it is secret.
fn is_named_like_one(name: &str) -> bool {
    let is_declared = VARIABLE_PREFIXES.iter().any(|begin| name.starts_with(begin));
    let name = name.to_ascii_uppercase();
    !is_declared && NAME_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether it is long enough, no word such as `password`, and no file.
fn looks_like_one(text: &str) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_');
    text.len() >= LENGTH_MIN && !is_word && !Path::new(text).exists()
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

    /// SECRET-8.
    #[test]
    fn other_credentials_are_known_by_their_names() {
        let rows = [
            ("GITHUB_TOKEN", "ghp_16C7e42F292c6912E7", true),
            ("ARM_CLIENT_SECRET", "8Q~hunter22", true),
            ("CLOUDFLARE_API_KEY", "c2547eb745079dac9320b638f5e225cf", true),
            ("DD_APP_KEY", "c2547eb745079dac", true),
            ("MYSQL_PWD", "hunter22", true),
            ("REDISCLI_AUTH", "hunter22", true),
            ("SYSTEM_ACCESSTOKEN", "hunter22", true),
            ("ARM_ACCESS_KEY", "hunter22==", true),
            ("npm_config_token", "npm_5d41402abc", true),
            ("GOOGLE_CREDENTIALS", "{\"private_key\": \"hunter22\"}", true),
            ("DATABASE_URL", "mysql://ada:hunter22@db/x", true),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/dev/null", false),
            ("DEPLOY_TOKEN", "none", false),
            ("DEPLOY_PASSWORD", "password", false),
            ("DATABASE_URL", "amqp://guest:password@mq", false),
            ("GITHUB_TOKEN_FILE", "ghp_16C7e42F292c6912E7", false),
            ("SECRET_NAME", "prod/db-1234", false),
            ("TF_VAR_db_password", "hunter22", false),
        ];
        for (name, value, is_secret) in rows {
            let secrets = KnownSecrets::default();
            let variables = Environment::new([(name.into(), value.into())].into(), None);
            learn_credentials(&variables, &secrets);
            let said = format!("no, {}", value.trim_start_matches("mysql://ada:").trim_end_matches("@db/x"));
            assert_eq!(secrets.scrubbed(&said) != said, is_secret, "{name}={value}");
        }
        let secrets = KnownSecrets::default();
        let same = [("DB_PASSWORD".into(), "infra-2026".into()), ("DB_NAME".into(), "infra-2026".into())];
        learn_credentials(&Environment::new(same.into(), None), &secrets);
        assert_eq!(secrets.scrubbed("infra-2026"), "infra-2026", "everyone may know it");
    }
}
