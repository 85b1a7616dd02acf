//! The states that a driver hands out and takes, as stores keep them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use trueup_core::{Number, Type, Value, value};
use trueup_provider::{InputValues, State};

/// CRUD-13, SECRET-4: integers of 64 bits, long decimals, sets and secrets come back exactly.
#[test]
fn a_state_reads_back_from_json_exactly() {
    let decimal: Number = "0.1234567890123456789012345678901".parse().unwrap();
    let written = value!({ size: ((1u64 << 53) + 1), least: (i64::MIN) });
    let effective = written
        .with_entry("password", value!("hunter2").into_secret())
        .with_entry("tags", Value::map([("$a", value!(null)), ("b", value!([]))]));
    let outputs = Value::object([
        ("id", value!((u64::MAX))),
        ("ratio", Value::number(decimal)),
        ("ids", Value::set([value!(2), value!((u64::MAX - 1))])),
        ("later", Value::unknown(Type::String).into_secret()),
    ]);
    let state = State {
        inputs: Some(InputValues { written, effective }),
        outputs,
        private: vec![0, 127, 255],
        schema_version: u64::MAX,
        identity: Some(value!({ id: (u64::MAX) })),
    };
    let adopted = State { inputs: None, identity: None, private: Vec::new(), ..state.clone() };
    for state in [state, adopted] {
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state, "{text}");
    }
}

/// PLAN-9: inputs that no default adds to are kept once, and read back as both.
#[test]
fn inputs_without_defaults_are_kept_once() {
    let written = value!({ name: "a", password: "hunter2" });
    let plain = InputValues { written: written.clone(), effective: written.clone() };
    let text = serde_json::to_string(&plain).unwrap();
    assert_eq!(text.matches("hunter2").count(), 1, "{text}");
    assert_eq!(serde_json::from_str::<InputValues>(&text).unwrap(), plain);

    for effective in [written.with_entry("mode", value!("0644")), Value::NULL] {
        let filled = InputValues { written: written.clone(), effective };
        let text = serde_json::to_string(&filled).unwrap();
        assert_eq!(serde_json::from_str::<InputValues>(&text).unwrap(), filled);
    }
}
