//! Secrets are not shown, wherever they stand and whoever prints (SECRET-1).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::server;
use crate::shelf;

use server::{Server, created, replanned, servers, with};
use shelf::Shelf;
use trueup::handler::{PrivateBytes, State};
use trueup::{JsonForm, Value, value};

/// SECRET-1
#[test]
fn a_secret_deep_in_collections_is_marked() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let logins = value!({ a: [{ user: "u", password: "hunter2" }] });
        let inputs = driver.inputs(&with("logins", logins)).unwrap();
        let path = "logins.a[0].password".parse().unwrap();
        assert!(inputs.written.at(&path).unwrap().is_secret());
        assert!(inputs.effective.at(&path).unwrap().is_secret());
        assert!(!inputs.effective.at(&"logins.a[0].user".parse().unwrap()).unwrap().is_secret());
        let shown = format!("{inputs:?} {}", inputs.effective.to_json(JsonForm::PUBLIC));
        assert!(!shown.contains("hunter2"), "{shown}");
    });
}

/// SECRET-1, SECRET-2: inside a structure that is secret as a whole.
#[test]
fn a_secret_structure_is_shown_neither_in_state_nor_in_a_plan() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let vault = |name: &str| with("vault", value!({ port: 1, name: name }));
        let state = created(&driver, &vault("hunter2")).await;
        let plan = replanned(&driver, &vault("hunter3"), &state).await;
        assert!(!plan.changes.is_empty());
        let shown = format!("{state:?} {plan:?}");
        assert!(!shown.contains("hunter"), "{shown}");
    });
}

/// SECRET-1, UNKNOWN-11: what derives from a secret is secret, though its own declaration says nothing.
#[test]
fn an_output_that_mirrors_a_secret_is_secret() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let inputs = driver.inputs(&Value::object([("name", value!("hunter2").into_secret())])).unwrap();
        let plan = driver.plan(&inputs, None, None).await.unwrap();
        let state = driver.apply(&inputs, None, None).await.unwrap();
        let seen = driver.read(&inputs, &state).await.unwrap();
        let shown = format!("{plan:?} {state:?} {seen:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    });
}

/// SECRET-1
#[test]
fn the_arguments_of_a_program_do_not_show_secret_fields() {
    let arguments = Server::args().name("web").password("hunter2");
    let shown = format!("{arguments:?}");
    assert!(shown.contains("web") && !shown.contains("hunter2"), "{shown}");
}

/// SECRET-1, SECRET-3: only the provider knows what is in them.
#[test]
fn private_bytes_are_not_shown() {
    let bytes = b"hunter2".to_vec();
    let (outputs, private) = (value!({}), bytes.clone());
    let state = State { inputs: None, outputs, private, schema_version: 0, identity: None };
    for shown in [format!("{state:?}"), format!("{state:#?}"), format!("{:?}", PrivateBytes(bytes))] {
        assert!(!shown.contains("hunter2") && !shown.contains("104"), "{shown}");
    }
}

/// SECRET-1: a provider's words may quote what it was given.
#[test]
fn a_failure_does_not_tell_the_secrets_of_its_request() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = servers(&shelf).await;
        let password = with("password", value!("hunter2"));
        let broken = driver.inputs(&password.with_entry("breaks", value!(true))).unwrap();
        let broken = driver.apply(&broken, None, None).await.unwrap_err();
        assert_eq!(broken.failure.message, "half way, as (secret)");
        let wrong = driver.inputs(&with("password", value!(["hunter2"]))).unwrap_err();
        let state = created(&driver, &password).await;
        let mut unfit = state.inputs.clone().unwrap();
        unfit.written = unfit.written.with_entry("ratio", value!("hunter2").into_secret());
        let failed = driver.apply(&unfit, Some(&state), None).await.unwrap_err();
        let shown = format!("{broken:?} {wrong:?} {failed:?} {}", failed.failure);
        assert!(!shown.contains("hunter2"), "{shown}");
    });
}
