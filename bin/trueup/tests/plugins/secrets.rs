//! Secrets that providers are given, and what they say of them.

use crate::plugins::bench::{Bench, VERSIONS};

/// SECRET-1
#[test]
fn no_secret_is_shown_or_kept_in_the_clear() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.write_configured(
            "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n  secret = \"hush-hush-one\"\n  \
             password_wo = \"open-sesame\"\n}\n",
        );
        let mut told = String::new();
        for command in ["plan", "plan --json", "deploy --yes", "show fixture_thing.a", "state list"] {
            let done = bench.done(&bench.named(command));
            told.push_str(&done.out);
            told.push_str(&done.err);
        }
        for secret in ["hush-hush-one", "open-sesame"] {
            assert!(!told.contains(secret), "{secret}: {told}");
            for file in std::fs::read_dir(bench.folder.path().join(".trueup")).unwrap().flatten() {
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{secret} is in {}", file.path().display());
            }
        }
        assert_eq!(bench.object("thing/a")["password_length"], 11, "the provider had it all the same");
    }
}

/// A provider that quotes what it was given does not give it away.
#[test]
fn words_of_providers_are_told_without_secrets() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.write_configured(
            "variable \"token\" {\n  sensitive = true\n  default = \"tok/en-very-secret\"\n}\n\
             resource \"fixture_thing\" \"a\" {\n  name = var.token\n}\n",
        );
        for command in ["validate", "plan", "deploy --yes"] {
            let told = bench.failed(command);
            assert!(told.contains("slashes"), "{told}");
            assert!(!told.contains("very-secret"), "{told}");
        }
    }
}
