//! What is meant, from everywhere it can be said.

use crate::commands::{lines, no_lines};

const SITE: &str = "stack site\ntest_file a path=a.txt content=$greeting\n";

#[test]
fn config_tells_each_value_and_where_it_comes_from() {
    let folder = lines("test_file a path=a.txt\n");
    folder.write("settings.toml", "parallelism = 3\n");
    let config = |arguments: &str, environment: &[(&str, &str)]| {
        let told = folder.run_with(arguments, environment);
        let json: serde_json::Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{told:?}"));
        json["settings"].clone()
    };
    let file = folder.path().join("settings.toml");
    let told = config("config --json --stage x", &[("TRUEUP_CONFIG", file.to_str().unwrap())]);
    assert_eq!(told["stage"]["from"], "flag --stage");
    assert_eq!(told["parallelism"], serde_json::json!({ "value": "3", "from": "user configuration" }));
    let told = config("config --json", &[("TRUEUP_STAGE", "y"), ("TRUEUP_STATE", "elsewhere.db")]);
    assert_eq!(told["stage"]["value"], "y");
    assert_eq!(told["state"]["from"], "environment TRUEUP_STATE");
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(told["stack"]["value"], name);
}

#[test]
fn a_mistake_in_the_user_configuration_is_told() {
    let folder = lines(SITE);
    folder.write("settings.toml", "paralelism = 3\n");
    let file = folder.path().join("settings.toml");
    let told = folder.run_with("config", &[("TRUEUP_CONFIG", file.to_str().unwrap())]);
    assert!(told.code == 1 && told.err.contains("paralelism"), "{told:?}");
}

#[test]
fn ci_must_name_its_stage() {
    let folder = lines(SITE);
    let told = folder.run_with("plan --var greeting=x", &[("CI", "true")]);
    assert_eq!(told.code, 1);
    insta::assert_snapshot!(told.err);
    assert_eq!(folder.run_with("plan --var greeting=x --stage t", &[("CI", "true")]).code, 0);
}

#[test]
fn the_stage_deployed_last_is_the_next_ones() {
    let folder = lines(SITE);
    folder.done("deploy --yes --stage blue --var greeting=x");
    assert_eq!(folder.json("config --json --stage green")["settings"]["stage"]["value"], "green");
    assert!(folder.done("plan --var greeting=x").out.contains("stage blue"));
}

#[test]
fn a_stack_without_a_name_keeps_that_of_its_folder() {
    let folder = no_lines();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    std::fs::create_dir(&before).unwrap();
    std::fs::write(before.join("stack.lines"), "test_file a path=a.txt content=x\n").unwrap();
    folder.done("deploy --yes --chdir before");
    std::fs::rename(&before, &after).unwrap();
    let told = folder.done("-chdir=after plan").out;
    assert!(told.starts_with("before · "), "{told}");
}

#[test]
fn variables_come_from_flags_before_the_environment() {
    let folder = lines(SITE);
    let told = folder.run("plan");
    assert!(told.code == 1 && told.err.contains("the variable `greeting` has no value"), "{told:?}");
    assert!(told.err.contains("stack.lines:2:32"), "{told:?}");
    let environment = [("TF_VAR_greeting", "from-environment")];
    assert!(folder.run_with("plan", &environment).out.contains("from-environment"));
    let told = folder.run_with("plan --var greeting=first -var greeting=second", &environment);
    assert!(told.out.contains("second"), "{told:?}");
}

#[test]
fn environment_files_count_less_than_the_environment() {
    let folder = lines(SITE);
    folder.write(".env", "TF_VAR_greeting=from-file # why\nTRUEUP_STAGE=filed\n");
    let told = folder.done("plan --env-file .env");
    assert!(told.out.contains("from-file") && told.out.contains("stage filed"), "{told:?}");
    let told = folder.run_with("plan --env-file=.env", &[("TF_VAR_greeting", "mine")]);
    assert!(told.out.contains("mine"), "{told:?}");
    folder.write(".env", "nonsense\n");
    assert!(folder.run("plan --env-file .env").err.contains("line 1 is not NAME=value"));
}

#[test]
fn colours_are_used_only_where_they_are_wanted() {
    let folder = lines(SITE);
    let plan = |environment: &[(&str, &str)]| folder.run_with("plan --var greeting=x", environment).out;
    assert!(!plan(&[]).contains('\x1b'));
    assert!(plan(&[("CLICOLOR_FORCE", "1")]).contains('\x1b'));
    assert!(!plan(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\x1b'));
    assert!(folder.run_with("plan --var greeting=x", &[("LANG", "C")]).out.is_ascii());
}

#[test]
fn a_log_is_written_where_it_is_wanted() {
    let folder = lines(SITE);
    let told = folder
        .run_with("deploy --yes --var greeting=hunter22 --log-file log.txt", &[("TRUEUP_LOG", "debug")]);
    assert_eq!(told.code, 0, "{told:?}");
    let log = folder.read("log.txt");
    assert!(log.contains("deploy") && log.contains("reconciler.create.completed"), "{log}");
    assert!(log.contains("--var greeting=…") && log.contains("exit=0"), "{log}");
    let told = folder.run_with("version --log-file log.txt", &[("TRUEUP_LOG", "a=b=c")]);
    assert!(told.code == 1 && told.err.contains("TRUEUP_LOG"), "{told:?}");
}

/// SECRET-10: a program that was built without a key service's client says so, and what to build.
#[test]
fn a_missing_client_of_a_key_service_is_told() {
    for (variable, kind) in [("TRUEUP_KEY_KMS", "kms"), ("TRUEUP_KEY_VAULT", "vault")] {
        let folder = lines("stack site\ntest_file a path=a.txt content=hello\n");
        let told = folder.run_with("deploy --stage t --yes", &[(variable, "any")]);
        let text = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.code == 1 && text.contains(&format!("--features {kind}")), "{told:?}");
        assert!(!folder.has("a.txt"), "nothing is done that could not be recorded");
        let told = folder.run_with("config", &[(variable, "any")]);
        assert!(told.out.contains(kind), "{told:?}");
    }
}
