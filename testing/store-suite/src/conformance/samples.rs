//! Steps with plausible contents, and values that stores have been known to mangle.

use std::time::{Duration, SystemTime};

use trueup_core::{Address, Number, ObjectType, Type, Value, value};
use trueup_provider::{Binding, GenerationNumber, IdempotencyToken, InputValues, Slot, State};
use trueup_state::{Attempt, HistoryLine, Holder, Metadata, RecordId, Scope, Step};

/// The scope that cases use unless they need several.
pub(super) fn scope() -> Scope {
    Scope::new("shop", "prod")
}

/// Someone who runs a deploy.
pub fn holder(run: &str) -> Holder {
    let text = str::to_owned;
    Holder { run: text(run), user: text("ada"), host: text("engine-room"), reason: text("deploy") }
}

/// The id that a number stands for; ids sort as their numbers do.
pub(super) fn id(number: u64) -> RecordId {
    RecordId::from_bytes(u128::from(number).to_be_bytes())
}

pub(super) fn address(name: &str) -> Address {
    Address::resource("std_file", name).expect("the suite writes valid names")
}

pub(super) fn create_begun(name: &str) -> Step {
    let meta = Metadata { provider: "std".into(), ..Metadata::default() };
    Step::CreateBegun {
        address: address(name),
        origin: address(name),
        meta,
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        attempt: attempt(&value!("first")),
    }
}

pub(super) fn settled(content: impl Into<Value>) -> Step {
    Step::Settled { number: GenerationNumber::FIRST, object: object(&content.into()) }
}

/// A line of history. Times run against the sequence, so that a store that sorts by them is found out.
pub(super) fn line(run: &str, sequence: u64, event: &str) -> HistoryLine {
    let at = SystemTime::UNIX_EPOCH + Duration::new(1_770_000_000 - sequence, 123_456_789);
    HistoryLine { run: run.to_owned(), sequence, at, event: event.to_owned() }
}

fn attempt(content: &Value) -> Attempt {
    let token = IdempotencyToken::from_bytes([0xa5; 16]);
    Attempt { inputs: inputs(content), bindings: Vec::new(), token, pending: None, stub: false }
}

fn object(content: &Value) -> State {
    State {
        inputs: Some(inputs(content)),
        outputs: Value::object([("content", content.clone())]),
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    }
}

fn inputs(content: &Value) -> InputValues {
    let written = Value::object([("content", content.clone())]);
    InputValues { effective: written.with_entry("mode", value!("0644")), written }
}

/// The life of a record with everything in it that is hard to keep: two generations, one of them with an operation
/// under way, bindings, private bytes, an origin that differs, and awkward values throughout.
pub(super) fn hard_life() -> Vec<Step> {
    let bindings = vec![Binding::new("a", awkward()), Binding::new("é \"quoted\"", value!(null))];
    let meta = Metadata {
        provider: "std.west".into(),
        dependencies: vec![address("a"), address("b")],
        circular: vec![address("b")],
        protect: true,
        retain: true,
        secret_sources: Some(awkward().into_secret()),
    };
    let attempt = Attempt { bindings, stub: true, ..attempt(&awkward()) };
    let state = State {
        private: (0..=u8::MAX).collect(),
        schema_version: u64::MAX,
        identity: Some(value!({ id: (u64::MAX) })),
        ..object(&awkward())
    };
    let origin = address("long_ago");
    vec![
        Step::CreateBegun {
            address: origin.clone(),
            origin,
            meta: meta.clone(),
            number: GenerationNumber::FIRST,
            slot: Slot::FIRST,
            attempt: attempt.clone(),
        },
        Step::Settled { number: GenerationNumber::FIRST, object: state.clone() },
        Step::Moved { to: address("now") },
        Step::CreateBegun {
            address: address("now"),
            origin: address("now"),
            meta,
            number: GenerationNumber(u64::MAX),
            slot: Slot(7),
            attempt,
        },
        Step::Answered { number: GenerationNumber(u64::MAX), object: State { inputs: None, ..state } },
        Step::Pending { number: GenerationNumber(u64::MAX), context: awkward() },
    ]
}

/// A value of everything that stores have been known to mangle.
pub(super) fn awkward() -> Value {
    let decimal = |text: &str| Value::number(text.parse::<Number>().expect("the suite writes valid numbers"));
    let structure =
        ObjectType { attributes: [("a".into(), Type::String)].into(), optional: ["a".into()].into() };
    Value::object([
        ("largest", Value::from(u64::MAX)),
        ("smallest", Value::from(i64::MIN)),
        ("beyond a float", Value::from((1u64 << 53) + 1)),
        ("long", decimal("3.14159265358979323846264338327950288419716939937510582097494459")),
        ("huge", decimal("1e400")),
        ("secret", Value::from("hunter2").into_secret()),
        ("secret set", Value::set([value!(2), value!(1)]).into_secret()),
        ("secret inside", value!({ user: "ada", password: (Value::from("hunter2").into_secret()) })),
        ("unknown", Value::unknown(Type::list(Type::Object(structure.into())))),
        ("unknown secret", Value::unknown(Type::String).into_secret()),
        ("set", Value::set([value!("b"), value!(["a"]), value!("a")])),
        ("map", Value::map([("k", value!(1)), ("$set", value!(null))])),
        ("$dollar", value!({ "$value": 1 })),
        ("text", Value::from("tab\t, nul\0, newline\n, \u{1F980}, \\ and 'quotes\"; DROP TABLE records; --")),
        ("empty", value!({ list: [], text: "", object: {} })),
        ("deep", (0..Value::DEPTH_MAX - 10).fold(value!("core"), |inner, _| Value::list([inner]))),
    ])
}
