//! Inputs that try to get past a policy: marked secret, or unknown until apply. And policies that try to tell a secret.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use trueup_core::{Address, Diagnostics, Type, Value, value};
use trueup_engine::{Action, AdmissionControl, FinalChange, PlannedAction};
use trueup_policy::{Policies, PolicyAdmission};
use trueup_provider::GenerationNumber;

use crate::policies::{action, plan, read};

fn secret(value: Value) -> Value {
    value.into_secret()
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

fn policy(when: &str) -> Policies {
    let text = format!("[[policy]]\nname = 'p'\nwhen = '''{when}'''\nmessage = 'no'");
    read(&text).unwrap_or_else(|wrong| panic!("{when}: {wrong}"))
}

fn create(name: &str, inputs: Value) -> PlannedAction {
    action("t", name, Action::Create, inputs)
}

/// What is said of the plan, in a word: `denied`, `passed`, `undecided` or the error.
fn at_plan(policies: &Policies, inputs: Value) -> String {
    let judged = policies.judge(&plan("dev", vec![create("n", inputs)]));
    if let [open] = judged.undecided.as_slice() {
        assert!(judged.found.is_empty());
        assert_eq!(open.policy, "p");
        return "undecided".to_owned();
    }
    verdict(&judged.found)
}

fn verdict(found: &Diagnostics) -> String {
    let Some(objection) = found.iter().next() else { return "passed".to_owned() };
    match objection.summary.as_str() {
        "policy `p`: no" => "denied".to_owned(),
        other => other.strip_prefix("policy `p` cannot be evaluated: ").unwrap_or(other).to_owned(),
    }
}

/// What is said at apply, when inputs that were these turn out to be those.
fn at_apply(policies: Policies, planned: Value, inputs: &Value) -> String {
    let admission = PolicyAdmission::new(Arc::new(policies));
    admission.begin(&plan("dev", vec![create("n", planned)]));
    let address = Address::resource("t", "n").unwrap();
    verdict(&admission.review(&FinalChange { address: &address, action: Action::Create, inputs }))
}

/// POLICY-2: marking a value secret does not get it past a policy.
#[test]
fn policies_see_secrets_as_they_are() {
    let inputs = || {
        value!({
            mode: (secret(value!("0777"))),
            size: (secret(value!(3))),
            public: (secret(value!(true))),
            tags: (secret(value!({ team: "a", ports: [22, 80] }))),
            list: [(secret(value!("x"))), "y"],
            nothing: (secret(Value::NULL)),
        })
    };
    let rows = [
        ("resource.inputs.mode == '0777'", "denied"),
        ("resource.inputs.mode == '(secret)'", "passed"),
        ("resource.inputs.mode.matches('7$')", "denied"),
        ("has(resource.inputs.mode) && resource.inputs.mode.endsWith('7')", "denied"),
        ("resource.inputs.size > 2", "denied"),
        ("resource.inputs.public", "denied"),
        ("resource.inputs.tags.team == 'a'", "denied"),
        ("22 in resource.inputs.tags.ports", "denied"),
        ("resource.inputs.tags == {'team': 'a', 'ports': [22, 80]}", "denied"),
        ("'x' in resource.inputs.list", "denied"),
        ("resource.inputs.list == ['x', 'y']", "denied"),
        ("plan.resources.exists(it, it.inputs.mode == '0777')", "denied"),
        ("resource.secret == ['list[0]', 'mode', 'nothing', 'public', 'size', 'tags']", "denied"),
        ("resource.secret.exists(path, path == 'password')", "passed"),
    ];
    for (when, expected) in rows {
        assert_eq!(at_plan(&policy(when), inputs()), expected, "{when}");
    }
}

/// POLICY-2: whatever goes wrong while a policy looks at a secret, nothing of it is told.
#[test]
fn nothing_that_policies_say_quotes_a_secret() {
    let inputs = value!({
        password: (secret(value!("canary"))),
        pattern: (secret(value!("canary("))),
        number: (secret(value!(7654321))),
        nested: (secret(value!({ canary: ["canary"] }))),
        open: "open",
    });
    let rows = [
        ("{'a': true}[resource.inputs.password]", "no such key"),
        ("[true][resource.inputs.number]", "the index is out of range"),
        ("{1: true}[resource.inputs.number]", "no such key"),
        ("{resource.inputs.password: 1, 'canary': 2} == {}", "the map has a key twice"),
        ("'x'.matches(resource.inputs.pattern)", "invalid regular expression"),
        (
            "timestamp('2026-01-01T00:00:00Z').getHours(resource.inputs.password) == 1",
            "the time zone is not supported; use `UTC` or an offset such as `+02:00`",
        ),
        ("resource.inputs.password", "`when` is of type string, neither true nor false"),
        ("resource.inputs.password + 1 == 2", "`+` is not defined for string and int"),
        ("int(resource.inputs.password) == 2", "the string is no int"),
        ("bool(resource.inputs.password)", "the string is neither `true` nor `false`"),
        (
            "duration(resource.inputs.password) == duration('1s')",
            "the string is no duration, such as `1h30m`, or out of range",
        ),
        ("resource.inputs.nested.map(key, {}[key]) == []", "no such key"),
        ("plan.resources.map(it, {}[it.inputs.password]) == []", "no such key"),
        // Names in the policy itself are no secret.
        ("resource.inputs.tags.team == 'a'", "no such key: tags"),
    ];
    for (when, expected) in rows {
        let judged = policy(when).judge(&plan("dev", vec![create("n", inputs.clone())]));
        let told = format!("{:?}", judged.found);
        assert!(
            !told.replace("'canary'", "").contains("canary") && !told.contains("7654321"),
            "{when}: {told}"
        );
        assert_eq!(verdict(&judged.found), expected, "{when}");
    }
    let open = "{'a': true}[resource.inputs.open]";
    assert_eq!(at_plan(&policy(open), value!({ open: "open" })), "no such key: open");
}

/// POLICY-3: what depends on an unknown value is undecided, unless something known decides.
#[test]
fn unknown_values_leave_a_policy_undecided() {
    let inputs = || {
        value!({
            mode: (unknown()),
            size: 3,
            tags: { team: (unknown()), cost: "a" },
            list: ["x", (unknown())],
            whole: (Value::unknown(Type::map(Type::String))),
            password: (secret(unknown())),
            write_only: (secret(Value::NULL)),
        })
    };
    let rows = [
        ("resource.inputs.mode == '0777'", "undecided"),
        ("has(resource.inputs.mode) && resource.inputs.mode == '0777'", "undecided"),
        ("!has(resource.inputs.mode)", "undecided"),
        ("has(resource.inputs.mode) ? resource.inputs.mode == '0777' : false", "undecided"),
        ("'mode' in resource.inputs && resource.inputs['mode'] == '0777'", "undecided"),
        ("resource.inputs.mode == null", "undecided"),
        ("resource.inputs.mode != '0777'", "undecided"),
        ("type(resource.inputs.mode) == string", "undecided"),
        ("optional.of(resource.inputs).mode.orValue('') == '0777'", "undecided"),
        ("resource.inputs.tags.team == 'a'", "undecided"),
        ("resource.inputs.tags == {'team': 'b', 'cost': 'a'}", "undecided"),
        ("resource.inputs.tags == {'team': 'b', 'cost': 'z'}", "passed"),
        ("resource.inputs.tags.cost == 'a'", "denied"),
        ("resource.inputs.tags.size() == 2", "denied"),
        ("has(resource.inputs.whole.team)", "undecided"),
        ("'x' in resource.inputs.list", "denied"),
        ("'z' in resource.inputs.list", "undecided"),
        ("resource.inputs.list.exists(it, it == 'x')", "denied"),
        ("resource.inputs.list.exists(it, it == 'z')", "undecided"),
        ("resource.inputs.list.all(it, it == 'z')", "passed"),
        ("resource.inputs.list.filter(it, it == 'z').size() > 0", "undecided"),
        ("resource.inputs.password.size() < 8", "undecided"),
        ("resource.inputs.write_only.size() < 8", "undecided"),
        ("resource.inputs == {}", "passed"),
        ("resource.type == 'u' && resource.inputs.mode == '0777'", "passed"),
        ("resource.inputs.mode == '0777' || resource.inputs.size == 3", "denied"),
        // An unknown term may still decide; an error does not hide that.
        ("resource.inputs.mode == '0777' || resource.inputs.size / 0 == 1", "undecided"),
        ("resource.inputs.size / 0 == 1 || resource.inputs.mode == '0777'", "undecided"),
        ("plan.resources.exists(it, it.inputs.mode == '0777')", "undecided"),
        ("plan.resources.exists(it, it.type == 'u' && it.inputs.mode == '0777')", "passed"),
    ];
    for (when, expected) in rows {
        assert_eq!(at_plan(&policy(when), inputs()), expected, "{when}");
    }
}

/// POLICY-3, POLICY-4: what was unknown is judged at apply, whatever the policy made of it in the plan.
#[test]
fn what_was_unknown_is_judged_at_apply() {
    let rows = [
        ("resource.inputs.mode == '0777'", "denied"),
        ("has(resource.inputs.mode) && resource.inputs.mode == '0777'", "denied"),
        ("resource.inputs.mode == '0700'", "passed"),
        // Decided in the plan, by the paths that are unknown.
        ("!('mode' in resource.unknown) && resource.inputs.mode == '0777'", "denied"),
        ("plan.resources.exists(it, it.inputs.mode == '0777')", "denied"),
        ("resource.inputs.mode.nope == 1", "no field `nope` in a value of type string"),
    ];
    let known = value!({ mode: "0777" });
    for (when, expected) in rows {
        assert_eq!(at_apply(policy(when), value!({ mode: (unknown()) }), &known), expected, "{when}");
        let marked = value!({ mode: (secret(value!("0777"))) });
        let planned = value!({ mode: (secret(unknown())) });
        assert_eq!(at_apply(policy(when), planned, &marked), expected, "{when}, secret");
    }
    // Ephemeral values are no part of a plan.
    let ephemeral = value!({ mode: (secret(Value::NULL)) });
    assert_eq!(at_apply(policy("resource.inputs.mode == '0777'"), ephemeral, &known), "denied");
    // What the plan knew is not judged twice.
    assert_eq!(at_apply(policy("true"), known.clone(), &known), "passed");
}

/// POLICY-4: an action that is decided at apply is judged as what it turns out to be.
#[test]
fn a_possible_replacement_is_judged_as_one() {
    let admission = PolicyAdmission::new(Arc::new(policy("resource.action == 'replace'")));
    let inputs = value!({ colour: "red" });
    admission.begin(&plan("dev", vec![action("t", "n", Action::MayReplace, inputs.clone())]));
    let address = Address::resource("t", "n").unwrap();
    let review =
        |action| verdict(&admission.review(&FinalChange { address: &address, action, inputs: &inputs }));
    assert_eq!(review(Action::Update), "passed");
    assert_eq!(review(Action::Replace), "denied");
}

/// POLICY-4: a policy over several resources is decided when the last of them is known, and stops that one.
#[test]
fn the_last_value_to_be_known_decides() {
    let same = "plan.resources.exists(other, other.address != resource.address && other.inputs.port == resource.inputs.port)";
    let of_plan = "plan.resources.filter(it, it.inputs.port == 80).size() > 1";
    for when in [same, of_plan] {
        let admission = PolicyAdmission::new(Arc::new(policy(when)));
        let open = || value!({ port: (Value::unknown(Type::Number)) });
        admission.begin(&plan("dev", vec![create("a", open()), create("b", open())]));
        let review = |name: &str, port: i64| {
            let address = Address::resource("t", name).unwrap();
            let inputs = value!({ port: (Value::from(port)) });
            let change = FinalChange { address: &address, action: Action::Create, inputs: &inputs };
            admission.review(&change)
        };
        assert_eq!(verdict(&review("a", 80)), "passed", "{when}");
        let found = review("b", 80);
        assert_eq!(verdict(&found), "denied", "{when}");
        let hints: Vec<&String> = found.iter().flat_map(|it| &it.hints).collect();
        assert!(hints.iter().all(|it| it.contains("nothing was sent to the provider")), "{hints:?}");
        assert_eq!(verdict(&review("b", 81)), "passed", "{when}");
    }
}

/// POLICY-5: what is judged again and again at apply is bounded in all, and a policy out of steps denies.
#[test]
fn policies_that_compare_all_resources_end_at_apply_too() {
    let same = "plan.resources.exists(other, other.address != resource.address && other.inputs.port == resource.inputs.port)";
    let denied_at = |steps_max: u64| {
        let admission = PolicyAdmission::new(Arc::new(policy(same))).steps_max(steps_max);
        let open = || value!({ port: (Value::unknown(Type::Number)) });
        let names: Vec<String> = (0..40).map(|at| format!("n{at}")).collect();
        admission.begin(&plan("dev", names.iter().map(|name| create(name, open())).collect()));
        (0..40).find_map(|at| {
            let address = Address::resource("t", &names[at]).unwrap();
            let inputs = value!({ port: (Value::from(at as i64)) });
            let change = FinalChange { address: &address, action: Action::Create, inputs: &inputs };
            let found = admission.review(&change);
            assert!(found.len() <= 1, "told once for all resources");
            (!found.is_empty()).then(|| (at, verdict(&found)))
        })
    };
    assert_eq!(denied_at(5_000_000_000), None);
    let (at, why) = denied_at(200_000).expect("denied");
    assert!((1..39).contains(&at), "{at}");
    assert_eq!(why, "judging it again with each new value takes too many steps");
}

/// POLICY-1: a warning is told at apply if it was not told with the plan.
#[test]
fn warnings_are_told_once() {
    let text = "[[policy]]\nname = 'p'\neffect = 'warn'\nwhen = 'resource.inputs.mode == \"0777\" || resource.inputs.size > 1'\nmessage = 'no'";
    let review = |planned: Value, inputs: &Value| {
        let admission = PolicyAdmission::new(Arc::new(read(text).unwrap()));
        admission.begin(&plan("dev", vec![create("n", planned)]));
        let address = Address::resource("t", "n").unwrap();
        let found = admission.review(&FinalChange { address: &address, action: Action::Create, inputs });
        assert!(!found.has_errors());
        found.len()
    };
    assert_eq!(review(value!({ mode: (unknown()), size: 1 }), &value!({ mode: "0777", size: 1 })), 1);
    assert_eq!(review(value!({ mode: (unknown()), size: 2 }), &value!({ mode: "0777", size: 2 })), 0);
    assert_eq!(review(value!({ mode: (unknown()), size: 1 }), &value!({ mode: "0700", size: 1 })), 0);
}

/// POLICY-6: the object of an older generation is deleted, whatever happens to the resource that it belonged to.
#[test]
fn policies_see_the_deletion_of_older_generations() {
    let row = |when: &str, action: Action, older: &[u64]| {
        let mut planned = crate::policies::action("t", "n", action, value!({ size: 1 }));
        planned.prior_inputs = value!({ size: 1 });
        planned.deposed = older.iter().copied().map(GenerationNumber).collect();
        let judged = policy(when).judge(&plan("dev", vec![planned]));
        assert!(judged.undecided.is_empty());
        (verdict(&judged.found), judged.found.len())
    };
    let one = |verdict: &str| (verdict.to_owned(), usize::from(verdict != "passed"));
    let deletes = "resource.action == 'delete'";
    assert_eq!(row(deletes, Action::NoOp, &[]), one("passed"));
    assert_eq!(row(deletes, Action::NoOp, &[3]), one("denied"));
    assert_eq!(row(deletes, Action::Update, &[3]), one("denied"));
    assert_eq!(row(deletes, Action::Replace, &[1, 3]), ("denied".to_owned(), 2));
    assert_eq!(row(deletes, Action::Delete, &[3]), one("denied"), "it goes with the resource");
    assert_eq!(row("plan.counts['delete'] > 1", Action::NoOp, &[1, 2]), one("denied"));
    assert_eq!(row("plan.resources.exists(r, r.action == 'delete')", Action::NoOp, &[1]), one("denied"));
    assert_eq!(
        row(&format!("{deletes} && resource.prior_inputs.size > 0"), Action::NoOp, &[1]),
        one("denied")
    );
    let exempt = format!("{deletes} && !('clean-up' in resource.reasons)");
    assert_eq!(row(&exempt, Action::NoOp, &[1]), one("passed"));
}
