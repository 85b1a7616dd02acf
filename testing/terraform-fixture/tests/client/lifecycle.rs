//! Resources through their lives, by the engine.

use serde_json::json;
use trueup_core::{Value, value};
use trueup_program::{
    DataDeclaration, Expression, ImportDeclaration, MoveDeclaration, Node, OutputDeclaration, Program,
    Reference,
};
use trueup_provider::{CallContext, MigrateRequest, Provider, State};

use crate::bench::{Bench, VERSIONS};

fn thing(size: i64) -> Value {
    value!({ name: "one", size: size, tags: { "a": "1" } })
}

/// CRUD-2, PLAN-1
#[test]
fn an_object_is_made_changed_and_removed() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let first = bench.one("thing", thing(1));
        assert_eq!(bench.actions(&first), ["create"]);
        bench.deployed(&first);
        assert_eq!(bench.objects()["thing/one"]["size"], json!(1));
        assert_eq!(bench.actions(&first), ["no-op"]);

        let second = bench.one("thing", thing(2));
        assert_eq!(bench.actions(&second), ["update"]);
        bench.deployed(&second);
        assert_eq!(bench.objects()["thing/one"]["serial"], json!(2));

        let renamed = bench.one("thing", value!({ name: "two", size: 2 }));
        let plan = bench.plan(&renamed);
        assert_eq!(plan.actions[0].action.name(), "replace");
        assert_eq!(plan.actions[0].replace_paths, ["name".parse().unwrap()]);
        bench.deployed(&renamed);
        assert_eq!(bench.objects().keys().collect::<Vec<_>>(), ["thing/two"]);

        bench.deployed(&bench.program([]));
        assert!(bench.objects().is_empty());
        assert!(bench.records().is_empty());
    }
}

/// PLAN-6: Terraform tells nothing from empty, and so do its providers.
#[test]
fn empty_differs_from_absent() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.deployed(&bench.one("thing", value!({ name: "one", size: 1 })));
        let empty = bench.one("thing", value!({ name: "one", size: 1, tags: {} }));
        assert_eq!(bench.actions(&empty), ["update"]);
    }
}

/// Every nesting of blocks, and of nested attribute types where the version has them.
#[test]
fn every_form_of_schema_survives_a_life() {
    let nest = value!({
        name: "n",
        single: { key: "s", inner: [{ key: "i" }] },
        several: [{ key: "1" }, { key: "2", decided: "mine" }],
        unordered: [{ key: "b" }, { key: "a", value: "v" }],
        labelled: { x: { key: "lx" } },
    });
    let open = value!({
        name: "o",
        value: { a: [1, "x", null], b: true },
        entry: [{ key: "e1", value: "text" }, { key: "e2", value: [1, 2] }],
        field: { f: { key: "f1", value: 5 } },
    });
    let tree = value!({
        name: "t",
        one: { key: "one", leaf: { key: "leaf" } },
        many: [{ key: "m1" }, { key: "m2", value: "v" }],
        some: [{ key: "s1" }, { key: "s2" }],
        named: { n: { key: "named" } },
    });
    for version in VERSIONS {
        let kinds = [("nest", &nest), ("open", &open), ("tree", &tree)];
        for (kind, inputs) in kinds.into_iter().filter(|(kind, _)| version.0 == 6 || *kind != "tree") {
            let bench = Bench::new(version);
            let program = bench.one(kind, inputs.clone());
            bench.deployed(&program);
            assert_eq!(bench.actions(&program), ["no-op"], "{kind} {version:?}");
            let changed = bench.one(kind, inputs.with_entry("trouble", value!("none")));
            bench.deployed(&changed);
            assert_eq!(bench.actions(&changed), ["no-op"], "{kind} {version:?}");
            bench.deployed(&bench.program([]));
            assert!(bench.objects().is_empty());
        }
    }
}

/// DRIFT-2, DRIFT-3
#[test]
fn what_others_changed_is_put_right_and_what_they_removed_is_made_again() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let program = bench.one("thing", thing(1));
        bench.deployed(&program);
        bench.tamper("thing/one", "size", 9);
        let plan = bench.plan(&program);
        assert_eq!(plan.actions[0].action.name(), "update");
        assert_eq!(plan.actions[0].drift[0].path.to_string(), "size");
        bench.deployed(&program);
        assert_eq!(bench.objects()["thing/one"]["size"], json!(1));

        // Nothing and empty are the same to an older provider.
        bench.tamper("thing/one", "note", "");
        let plan = bench.plan(&program);
        assert!(plan.actions[0].drift.is_empty());

        std::fs::remove_dir_all(bench.folder()).unwrap();
        assert_eq!(bench.actions(&program), ["create"]);
        bench.deployed(&program);
        assert!(bench.objects().contains_key("thing/one"));
    }
}

/// ADOPT-7
#[test]
fn an_object_is_adopted_by_its_id() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.deployed(&bench.one("thing", thing(1)));
        let other = Bench::new(version);
        std::fs::create_dir_all(other.folder().join("thing")).unwrap();
        std::fs::copy(bench.folder().join("thing/one.json"), other.folder().join("thing/one.json")).unwrap();
        let import = |id: &str| ImportDeclaration::new(version.address("thing", "x"), value!(id).into());
        let program = Program { imports: vec![import("one")], ..other.one("thing", thing(1)) };
        other.deployed(&program);
        assert_eq!(other.objects()["thing/one"]["serial"], json!(1), "nothing had to be changed");
        assert_eq!(other.actions(&other.one("thing", thing(1))), ["no-op"]);

        let nowhere = Bench::new(version);
        let program = Program { imports: vec![import("nowhere")], ..nowhere.one("thing", thing(1)) };
        assert!(nowhere.try_plan(&program).unwrap_err().contains("there is no"));
    }
}

#[test]
fn a_data_source_is_read_as_soon_as_it_can_be() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let data = |name: Expression| {
            DataDeclaration::new(
                format!("data.{}_thing.seen", version.name()).parse().unwrap(),
                Expression::new(Node::Object(vec![("name".into(), name)])),
            )
        };
        let of = Reference { address: version.address("thing", "x"), path: "id".parse().unwrap() };
        let refers = data(Expression::new(Node::Reference(of)));
        let size = Reference { address: refers.address.clone(), path: "size".parse().unwrap() };
        let value = Expression::new(Node::Reference(size));
        let output = OutputDeclaration { name: "size".into(), value, secret: false };
        let program = Program { data: vec![refers], outputs: vec![output], ..bench.one("thing", thing(7)) };
        assert!(bench.plan(&program).outputs.get("size").unwrap().is_unknown());
        bench.deployed(&program);
        assert_eq!(bench.plan(&program).outputs.get("size"), Some(&value!(7)));

        let missing = Program { data: vec![data(value!("nobody").into())], ..bench.program([]) };
        assert!(bench.try_plan(&missing).unwrap_err().contains("No such thing"));
    }
}

/// MOVE-1, PLAN-20
#[test]
fn an_object_can_get_another_type() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.deployed(&bench.one("thing", thing(1)));
        let range = |kind: &str| version.address(kind, "x").to_string().parse().unwrap();
        let moved = MoveDeclaration { from: range("thing"), to: range("renamed") };
        let program = Program { moves: vec![moved], ..bench.one("renamed", thing(1)) };
        bench.deployed(&program);
        assert_eq!(bench.objects().keys().collect::<Vec<_>>(), ["renamed/one"]);
        assert_eq!(bench.actions(&bench.one("renamed", thing(1))), ["no-op"]);
    }
}

/// SECRET-1: what the schema calls sensitive, and what the program wrote as a secret.
#[test]
fn secrets_stay_marked_and_what_must_not_be_kept_is_not() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let inputs = value!({
            name: "one",
            secret: "hunter2",
            note: (value!("my own secret").into_secret()),
            password_wo: "abcdef",
            password_version: 1,
        });
        let program = bench.one("thing", inputs);
        bench.deployed(&program);
        let outputs = bench.outputs();
        assert!(outputs.get("secret").unwrap().is_secret() && outputs.get("note").unwrap().is_secret());
        assert_eq!(outputs.get("password_length"), Some(&value!(6)), "it was sent");
        let recorded = format!("{:?}", bench.records()["x"]);
        for secret in ["hunter2", "my own secret", "abcdef"] {
            assert!(!recorded.contains(secret), "{recorded}");
        }
        let object = bench.records()["x"].current.clone().unwrap().object.unwrap();
        assert_eq!(object.inputs.unwrap().written.get("password_wo"), None);
        assert_eq!(bench.actions(&program), ["no-op"]);
    }
}

/// UNKNOWN-1, UNKNOWN-8
#[test]
fn values_that_are_not_known_yet_are_planned_as_such() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let to = |path: &str| {
            let address = version.address("thing", "x");
            Expression::new(Node::Reference(Reference { address, path: path.parse().unwrap() }))
        };
        let dependent = |name: Expression| {
            let entries = vec![("name".into(), name)];
            trueup_program::ResourceDeclaration::new(
                version.address("thing", "y"),
                Expression::new(Node::Object(entries)),
            )
        };
        let program = |size: i64| {
            let first = version.resource("thing", "x", value!({ name: "one", size: size }));
            bench.program([first, dependent(to("serial"))])
        };
        assert_eq!(bench.actions(&program(1)), ["create", "create"]);
        bench.deployed(&program(1));
        assert!(bench.objects().contains_key("thing/1"));
        // The serial changes with every update, so the name of the second may change with it.
        assert_eq!(bench.actions(&program(2)), ["update", "may-replace"]);
        bench.deployed(&program(2));
        assert_eq!(bench.objects().keys().collect::<Vec<_>>(), ["thing/2", "thing/one"]);
    }
}

/// CRUD-10: the provider brings what an older version of it recorded to its current schema.
#[test]
fn a_record_of_an_older_schema_is_upgraded() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        bench.runtime.block_on(async {
            let provider = bench.fixture.provider(None, bench.pool.clone());
            let handler = provider.resource(&format!("{}_thing", version.name())).await.unwrap().unwrap();
            let context = CallContext::new("stack", "test", version.address("thing", "x"));
            let recorded = |schema_version| State {
                inputs: None,
                outputs: value!({ title: "one", id: "one", serial: 4, tags: { a: "1" } }),
                private: b"kept:one".to_vec(),
                schema_version,
                identity: None,
            };
            let migrate = |schema_version| {
                let state = recorded(schema_version);
                handler.migrate(MigrateRequest { config: None, state, from_type: None, context: &context })
            };
            let upgraded = migrate(0).await.unwrap();
            assert_eq!(upgraded.schema_version, 1);
            assert_eq!(upgraded.outputs.get("name"), Some(&value!("one")));
            assert_eq!(upgraded.outputs.get("title"), None);
            assert_eq!(upgraded.private, b"kept:one");
            let newer = migrate(2).await.unwrap_err();
            assert!(newer.message.contains("schema version 2"), "{newer}");
        });
    }
}
