//! Configuration of providers that stands outside of programs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use trueup::{Inputs, NativeProvider, Preset, Registry, Value, run};

#[derive(Inputs)]
struct Settings {
    region: String,
    account: String,
    #[trueup(default = 4)]
    connections: u16,
}

fn registry(presets: &[(&str, Value)]) -> Registry {
    let provider = NativeProvider::configured("cloud", |settings: Settings| async move {
        Ok(format!("{} {} {}", settings.region, settings.account, settings.connections))
    });
    let values = Value::object(presets.iter().cloned());
    Registry::new().preset("cloud", Preset { values, from: "profile `x`".to_owned() }).with(provider)
}

/// As the engine does it: checked against the schema, completed by it, handed over.
fn configured(registry: &Registry, written: &Value) -> Result<String, String> {
    run(async {
        let provider = registry.provider("cloud").unwrap();
        let schema = provider.config_schema().await.map_err(|failure| failure.message)?;
        let checked = schema.check(written, "provider cloud");
        if checked.diagnostics.has_errors() {
            return Err(checked.diagnostics.iter().map(|it| it.summary.clone()).collect());
        }
        let configured = provider.configure(&schema.with_defaults(&checked.value)).await;
        configured.map(|it| it.get::<String>().unwrap().clone()).map_err(|failure| failure.message)
    })
}

#[test]
fn a_preset_counts_where_the_program_says_nothing() {
    let preset = registry(&[("region", "north".into()), ("connections", 9.into())]);
    let account = || ("account", Value::from("a"));
    let south = ("region", Value::from("south"));
    assert_eq!(configured(&preset, &Value::object([account()])).unwrap(), "north a 9");
    assert_eq!(configured(&preset, &Value::object([account(), south])).unwrap(), "south a 9");
    let missing = configured(&preset, &Value::object::<&str>([])).unwrap_err();
    assert!(missing.contains("`account`") && !missing.contains("`region`"), "{missing}");
}

#[test]
fn a_preset_that_the_provider_does_not_take_is_refused() {
    let unknown = configured(&registry(&[("regoin", "x".into())]), &Value::object::<&str>([])).unwrap_err();
    assert!(unknown.contains("`regoin`") && unknown.contains("profile `x`, provider cloud"), "{unknown}");
    let wrong = configured(&registry(&[("connections", "many".into())]), &Value::object::<&str>([]));
    assert!(wrong.unwrap_err().contains("connections"));
}
