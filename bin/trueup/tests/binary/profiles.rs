//! Profiles: credentials and settings of providers that are kept outside of the stack's folder.

use crate::binary::stack;

const WHO: &str = r#"
data "std_env" "who" {
  name = "WHO"
}

output "who" {
  value = nonsensitive(data.std_env.who.value)
}
"#;

const PROFILES: &str = r#"
[profile.dev.environment]
WHO = "developer"

[profile.prod.environment]
WHO = "operator"
"#;

const CONFIG: &str = ".config/trueup/config.toml";

/// Who names a profile means it: its variables count more than those that happen to be set.
#[test]
fn a_profile_gives_the_environment() {
    let folder = stack(WHO);
    folder.write(CONFIG, PROFILES);
    let who = |arguments: &str, environment: &[(&str, &str)]| {
        let told = folder.run_with(&format!("deploy --yes --stage t {arguments}"), environment);
        assert_eq!(told.code, 0, "{told:?}");
        folder.done("output --raw who").out
    };
    assert_eq!(who("", &[("WHO", "somebody")]), "somebody");
    assert_eq!(who("--profile prod", &[]), "operator");
    assert_eq!(who("--profile=dev", &[("WHO", "somebody")]), "developer");
    assert_eq!(who("", &[("TRUEUP_PROFILE", "dev")]), "developer");
    assert_eq!(who("--profile prod", &[("TRUEUP_PROFILE", "dev")]), "operator");
    folder.write("more.env", "WHO=file\n");
    assert_eq!(who("--profile prod --env-file more.env", &[]), "operator");
    assert_eq!(who("--env-file more.env", &[]), "file");
}

#[test]
fn a_profile_that_is_not_there_names_those_that_are() {
    let folder = stack(WHO);
    let told = folder.run("plan --profile prod");
    assert_eq!(told.code, 1);
    assert!(told.err.contains("there is no profile `prod`"), "{told:?}");
    assert!(told.err.contains("[profile.prod]") && told.err.contains(CONFIG), "{told:?}");
    folder.write(CONFIG, PROFILES);
    assert!(folder.run("plan --profile prd").err.contains("did you mean `prod`?"));
    assert!(folder.run("plan --profile elsewhere").err.contains("has `dev`, `prod`"));
    folder.write(CONFIG, "[profile.prod]\nenv = 1\n");
    let told = folder.run("plan --profile prod");
    assert!(told.code == 1 && told.err.contains("env") && told.err.contains("correct the file"), "{told:?}");
}

/// Names alone: any value may be a secret.
#[test]
fn config_tells_what_a_profile_sets() {
    let folder = stack(WHO);
    folder.write(CONFIG, PROFILES);
    let settings = folder.json("config --json --profile prod")["settings"].clone();
    let expected = serde_json::json!({ "value": "prod (sets WHO)", "from": "flag --profile" });
    assert_eq!(settings["profile"], expected);
    assert!(!settings.to_string().contains("operator"));
    assert_eq!(folder.json("config --json")["settings"]["profile"]["value"], "(none)");
}

#[cfg(feature = "pg")]
mod of_providers {
    use super::*;

    const ROLE: &str = r#"
resource "pg_role" "app" {
  name = "app"
}
"#;

    const PROFILES: &str = r#"
[profile.one.providers.pg]
url = "postgres://ada@127.0.0.1:1/infra"

[profile.two.providers.pg]
url = "postgres://bob@127.0.0.1:1/infra"

[profile.wrong.providers.pg]
ulr = "postgres://127.0.0.1:1"
"#;

    #[test]
    fn a_profile_with_a_setting_that_there_is_not_is_refused() {
        let folder = stack(ROLE);
        folder.write(CONFIG, PROFILES);
        let told = folder.run("plan --stage t --profile wrong");
        assert_eq!(told.code, 1);
        assert!(told.err.contains("`wrong`, provider pg") && told.err.contains("`ulr`"), "{told:?}");
        assert!(told.err.contains("did you mean `url`?"), "{told:?}");
    }

    /// PLANFILE-2: what a profile says of a provider is part of what a plan follows from.
    #[test]
    fn a_plan_is_carried_out_with_the_profile_that_it_was_made_with() {
        let folder = stack("resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
        folder.write(CONFIG, PROFILES);
        folder.done("plan --stage t --profile one --out it.plan");
        for other in ["--profile two", ""] {
            let told = folder.run(&format!("deploy it.plan --yes {other}"));
            assert_eq!(told.code, 1, "{told:?}");
            assert!(told.err.contains("what the profile says of provider `pg`"), "{told:?}");
        }
        folder.done("deploy it.plan --yes --profile one");
    }
}
