//! The process: who it serves, and how it ends.

use std::process::{Command, Output};

use trueup_terraform::{Launch, Plugin, Version};

use super::engine::plugin_environment;

const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

fn run(variables: &[(&str, &str)]) -> Output {
    Command::new(super::binary()).env_clear().envs(variables.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// SERVE-1.
#[test]
fn run_by_hand_it_says_what_it_is() {
    for variables in [&[][..], &[("TF_PLUGIN_MAGIC_COOKIE", "another")]] {
        let output = run(variables);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
        let said = text(&output.stderr);
        assert!(said.starts_with("This is the provider `notes`"), "{said}");
        assert!(said.contains("dev_overrides"), "{said}");
    }
}

/// SERVE-1.
#[test]
fn an_unknown_version_is_refused_in_words_and_in_the_protocol() {
    let output = run(&[COOKIE, ("PLUGIN_PROTOCOL_VERSIONS", "4,7")]);
    assert_eq!(output.status.code(), Some(1));
    // By this a client tells its user which versions there are.
    assert!(text(&output.stdout).starts_with("1|6|"), "{:?}", output.stdout);
    let said = text(&output.stderr);
    assert!(said.contains("the client speaks version 4,7 of the plugin protocol"), "{said}");
}

#[test]
fn a_folder_for_sockets_that_is_not_there_is_named() {
    let output = run(&[COOKIE, ("PLUGIN_UNIX_SOCKET_DIR", "/nowhere/at/all")]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    let said = text(&output.stderr);
    assert!(said.contains("cannot make a socket in /nowhere/at/all"), "{said}");
}

/// SERVE-1.
#[test]
fn the_process_ends_when_it_is_asked_to() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let plugin =
            Plugin::start("notes", &Launch::new(super::binary(), plugin_environment())).await.unwrap();
        assert_eq!(plugin.client().version(), Version::V6);
        assert!(plugin.is_running());
        plugin.client().shut_down().await;
        let obituary = plugin.obituary().await;
        assert_eq!(obituary.as_deref(), Some("it ended (exit status: 0)"));
    });
}
