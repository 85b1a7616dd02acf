//! Secrets that providers are given, and what they say of them.

use crate::plugins::bench::{Bench, versions};

/// SECRET-1
#[test]
fn no_secret_is_shown_or_kept_in_the_clear() {
    for version in versions() {
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

/// SECRET-9: as `tags_all` of hashicorp/aws.
#[test]
fn computed_values_that_repeat_a_secret_are_secret() {
    const SECRETS: [&str; 2] = ["hush-hush-one", "a-key-that-is-secret"];
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(
            "variable \"token\" {\n  sensitive = true\n  default = \"hush-hush-one\"\n}\n\
             variable \"key\" {\n  sensitive = true\n  default = \"a-key-that-is-secret\"\n}\n\
             resource \"fixture_open\" \"a\" {\n  name = \"a\"\n  \
             value = { tag = \"x-${var.token}\", open = \"seen\", keys = { (var.key) = 1 } }\n}\n",
        );
        for command in [
            "plan --json",
            "deploy --yes",
            "plan --json --full --unchanged",
            "show fixture_open.a --json",
            "state export",
        ] {
            let done = bench.done(&bench.named(command));
            for secret in SECRETS {
                assert!(!done.out.contains(secret) && !done.err.contains(secret), "{command}: {done:?}");
            }
        }
        let shown = bench.done(&bench.named("show fixture_open.a --json")).out;
        assert!(shown.matches("seen").count() >= 2, "the echo of what is open is open: {shown}");
        for file in std::fs::read_dir(bench.folder.path().join(".trueup")).unwrap().flatten() {
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!SECRETS.iter().any(|secret| text.contains(secret)), "{}", file.path().display());
        }
    }
}

/// A provider that quotes what it was given does not give it away.
#[test]
fn words_of_providers_are_told_without_secrets() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(
            "locals {\n  token = sensitive(\"tok/en-very-secret\")\n}\n\
             resource \"fixture_thing\" \"a\" {\n  name = local.token\n}\n",
        );
        for command in ["validate", "plan", "deploy --yes"] {
            let told = bench.failed(command);
            assert!(told.contains("slashes"), "{told}");
            assert!(!told.contains("very-secret"), "{told}");
        }
    }
}

/// SECRET-1: neither does one that repeats the token of its `provider` block, in diagnostics and on its own log.
#[test]
fn words_of_providers_are_told_without_the_secrets_of_their_block() {
    const TOKEN: &str = "canary-3b9d5e-hush";
    let block = |attribute: &str| {
        format!(
            "variable \"token\" {{\n  sensitive = true\n}}\nprovider \"fixture\" {{\n  folder = \"objects\"\n  \
             token = var.token\n  {attribute}\n}}\n"
        )
    };
    let thing = |trouble: &str| {
        format!("resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n  trouble = \"{trouble}\"\n}}\n")
    };
    for version in versions() {
        let mut bench = Bench::new(version);
        bench.variables = vec![("TF_VAR_token", TOKEN.to_owned()), ("TRUEUP_LOG", "trace".to_owned())];
        for (configured, trouble, commands, said) in [
            ("prefix = \"a/b\"", "", &["validate", "plan"][..], "A prefix has no slashes"),
            ("trouble = \"fail\"", "", &["plan"], "Cannot configure"),
            ("trouble = \"crash\"", "", &["plan"], "asked to crash in configure"),
            ("", "fail-plan", &["plan", "plan --json"], "Cannot plan"),
            ("", "crash-plan", &["plan"], "asked to crash in a plan"),
            ("", "fail-create", &["deploy --yes", "deploy --yes --json"], "Cannot create"),
            ("trouble = \"warn\"", "warn", &["plan", "deploy --yes --json", "plan --json"], "with a warning"),
            ("", "fail-delete", &["deploy --yes", "destroy --yes", "history --json"], "Cannot delete"),
        ] {
            bench.write(&(block(configured) + &thing(trouble)));
            let mut told = String::new();
            for command in commands {
                let done = bench.run(&format!("{command} --log-file log.txt"));
                told += &crate::plugins::bench::unfolded(&(done.out + &done.err));
            }
            told += &bench.folder.read("log.txt");
            assert!(told.contains(said) && told.contains("(by the token (secret))"), "{said}: {told}");
            assert!(!told.contains(TOKEN), "{said}: {told}");
            for file in std::fs::read_dir(bench.folder.path().join(".trueup")).into_iter().flatten().flatten()
            {
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                let found = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
                assert!(!found, "{said}: it is in {}", file.path().display());
            }
        }
        let log = bench.folder.read("log.txt");
        for line in ["configured (by the token (secret))", "configured, for the log (by the token (secret))"]
        {
            assert!(log.contains(line), "{line}");
        }
    }
}
