//! The CRUD contract, as the engine sees it through the handler.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::plan_hook::hooked;
use crate::server;
use crate::shelf;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use server::{observed, servers, with};
use shelf::{Shelf, Thing, id};
use trueup::conformance::Driver;
use trueup::handler::{Observed, PlanAnswer, State, Verdict};
use trueup::{
    Context, Crud, Error, FailureClass, Found, Inputs, JsonForm, NativeProvider, NoConfig, OrAbsent, Outputs,
    Prior, RawState, Result, Sightings, Type, Value, changed, value,
};

/// A thing on the shelf.
#[derive(Inputs)]
#[trueup(rename_all = "kebab-case", required_with("label", "label-colour"))]
struct Box_ {
    #[trueup(identity, replace, pattern = "^[a-z/:]+$")]
    function_name: String,
    #[trueup(range(min = 1, max = 100))]
    size: u64,
    #[trueup(default = "plain", one_of("plain", "fancy"))]
    finish: String,
    label: Option<String>,
    label_colour: Option<String>,
    #[trueup(empty_is_absent)]
    notes: Option<Vec<String>>,
    #[trueup(inject)]
    shelf: Shelf,
}

#[derive(Outputs)]
struct BoxOutput {
    #[trueup(identity)]
    id: u64,
    #[trueup(mirrors = "function-name")]
    name: String,
    #[trueup(stable)]
    place: String,
    #[trueup(create_only)]
    receipt: Option<String>,
    #[trueup(informational)]
    looks: u64,
    #[trueup(volatile)]
    read_at: u64,
    size: u64,
}

impl Box_ {
    fn output(&self, id: u64, receipt: Option<&str>) -> Result<BoxOutput> {
        let thing = self.shelf.get(id)?;
        let read_at = self.shelf.world().calls.len() as u64;
        let place = "top".to_owned();
        let receipt = receipt.map(str::to_owned);
        Ok(BoxOutput { id, name: thing.name, place, receipt, looks: 0, read_at, size: thing.size })
    }
}

/// The name in a full identifier such as `arn:fn/name`.
fn name_of(identifier: &str) -> &str {
    identifier.rsplit('/').next().unwrap_or(identifier)
}

impl Crud for Box_ {
    type Output = BoxOutput;
    type Config = NoConfig;
    const SCHEMA_VERSION: u64 = 2;

    async fn create(&self, _: &Context) -> Result<BoxOutput> {
        self.shelf.note("create");
        let thing = Thing { name: self.function_name.clone(), size: self.size, ..Thing::default() };
        self.output(self.shelf.put(thing), Some("paid"))
    }

    async fn read(&self, _: &Context, prior: &BoxOutput) -> Result<BoxOutput> {
        self.shelf.note("read");
        self.output(prior.id, None)
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<BoxOutput> {
        let observed = prior.observed.as_ref().map(|observed| observed.size);
        self.shelf.note(format!("update {} {} {observed:?}", prior.inputs.size, prior.outputs.size));
        let thing = Thing { name: self.function_name.clone(), size: self.size, ..Thing::default() };
        self.shelf.set(prior.outputs.id, thing)?;
        self.output(prior.outputs.id, None)
    }

    async fn delete(&self, _: &Context, prior: &BoxOutput) -> Result<()> {
        self.shelf.note("delete");
        self.shelf.take(prior.id)
    }

    async fn validate_inputs(&self, _: &Context) -> Result<()> {
        self.shelf.note("validate");
        match self.size {
            13 => Err(Error::invalid("thirteen is unlucky").at("size").hint("take twelve")),
            _ => Ok(()),
        }
    }

    fn equivalent_input(field: &str, prior: &Self, current: &Self) -> bool {
        field == "function-name" && name_of(&prior.function_name) == name_of(&current.function_name)
    }

    fn migrate(from: u64, state: RawState) -> Result<RawState> {
        match from {
            // Version 1 called the size "volume".
            1 => {
                let size = state.inputs.get("volume").cloned().unwrap_or_default();
                let inputs = value!({ size: size }).with_entry("function-name", value!("box"));
                Ok(RawState { inputs, outputs: state.outputs })
            }
            _ => Err(Error::fatal("there is no way from there")),
        }
    }
}

/// A type that calls a tool which is not installed, and whose first version had another default.
#[derive(Inputs)]
struct Tool {
    size: u64,
    #[trueup(default = "new")]
    finish: String,
}

#[derive(Outputs)]
struct ToolOutput {
    size: u64,
}

impl Crud for Tool {
    type Output = ToolOutput;
    type Config = NoConfig;
    const SCHEMA_VERSION: u64 = 1;

    async fn create(&self, _: &Context) -> Result<ToolOutput> {
        Ok(ToolOutput { size: self.size })
    }

    async fn read(&self, _: &Context, prior: &ToolOutput) -> Result<ToolOutput> {
        Ok(ToolOutput { size: prior.size })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<ToolOutput> {
        self.create(context).await
    }

    async fn delete(&self, _: &Context, _: &ToolOutput) -> Result<()> {
        std::process::Command::new("/nonexistent/tool").status()?;
        Ok(())
    }

    async fn lookup(&self, _: &Context) -> Result<Sightings<Found<Self, ToolOutput>>> {
        Err(Error::not_found("there is none"))
    }

    fn migrate(_: u64, state: RawState) -> Result<RawState> {
        Ok(state)
    }
}

/// A type of a second version whose author forgot the migration.
#[derive(Inputs)]
struct Stuck {
    size: u64,
}

#[derive(Outputs)]
struct StuckOutput {
    size: u64,
}

impl Crud for Stuck {
    type Output = StuckOutput;
    type Config = NoConfig;
    const SCHEMA_VERSION: u64 = 1;

    async fn create(&self, _: &Context) -> Result<StuckOutput> {
        Ok(StuckOutput { size: self.size })
    }

    async fn read(&self, _: &Context, prior: &StuckOutput) -> Result<StuckOutput> {
        Ok(StuckOutput { size: prior.size })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<StuckOutput> {
        self.create(context).await
    }

    async fn delete(&self, _: &Context, _: &StuckOutput) -> Result<()> {
        Ok(())
    }
}

async fn boxes(shelf: &Shelf) -> Driver {
    let shelf = shelf.clone();
    let provider = NativeProvider::new("x").crud_with::<Box_>("box", move || shelf.clone());
    Driver::new(provider, "x_box", &value!({})).await.unwrap()
}

async fn tools() -> Driver {
    Driver::new(NativeProvider::new("x").crud::<Tool>("tool"), "x_tool", &value!({})).await.unwrap()
}

fn inputs(name: &str, size: u64) -> Value {
    value!({ "function-name": name, size: size })
}

pub(crate) async fn plan(driver: &Driver, desired: &Value, prior: &State) -> PlanAnswer {
    driver.plan(&driver.inputs(desired).unwrap(), Some(prior), Some(prior)).await.unwrap()
}

pub(crate) async fn created(driver: &Driver, desired: &Value) -> State {
    driver.apply(&driver.inputs(desired).unwrap(), None, None).await.unwrap()
}

/// CRUD-1
#[test]
fn the_constructor_runs_for_each_receiver() {
    trueup::run(async {
        let (shelf, constructed) = (Shelf::default(), Arc::new(AtomicUsize::new(0)));
        let (given, counter) = (shelf.clone(), constructed.clone());
        let provider = NativeProvider::new("x").crud_with::<Box_>("box", move || {
            counter.fetch_add(1, Ordering::Relaxed);
            given.clone()
        });
        let driver = Driver::new(provider, "x_box", &value!({})).await.unwrap();
        assert_eq!(constructed.load(Ordering::Relaxed), 0);
        let desired = driver.inputs(&inputs("box", 1)).unwrap();
        let state = driver.apply(&desired, None, None).await.unwrap();
        let for_apply = constructed.load(Ordering::Relaxed);
        assert!(for_apply >= 1);
        driver.delete(&desired, &state).await.unwrap();
        assert!(constructed.load(Ordering::Relaxed) > for_apply);
        assert_eq!(shelf.len(), 0);
    });
}

/// CRUD-2, DELETE-2
#[test]
fn what_is_not_found_is_absent_and_counts_as_deleted() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = boxes(&shelf).await;
        let desired = driver.inputs(&inputs("box", 1)).unwrap();
        let state = driver.apply(&desired, None, None).await.unwrap();
        shelf.take(id(&state.outputs)).unwrap();
        assert_eq!(driver.read(&desired, &state).await.unwrap(), Observed::Absent);
        driver.delete(&desired, &state).await.unwrap();
    });
}

/// INV-15, DELETE-3: a tool that is not installed is not an object that is gone.
#[test]
fn a_missing_tool_is_not_a_missing_object() {
    trueup::run(async {
        let missing = || std::process::Command::new("/nonexistent/tool").status();
        assert_eq!(Error::from(missing().unwrap_err()).class(), &FailureClass::Fatal);
        let driver = tools().await;
        let desired = driver.inputs(&value!({ size: 1 })).unwrap();
        let state = driver.apply(&desired, None, None).await.unwrap();
        assert!(driver.delete(&desired, &state).await.is_err(), "the object counts as deleted");
        // Who knows that the call was about the object alone says so.
        assert_eq!(missing().or_absent().unwrap_err().class(), &FailureClass::NotFound);
        let other = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        assert_eq!(Err::<(), _>(other).or_absent().unwrap_err().class(), &FailureClass::Denied);
    });
}

/// ADOPT-1, CRUD-2
#[test]
fn a_lookup_that_fails_as_not_found_found_nothing() {
    trueup::run(async {
        let driver = tools().await;
        let desired = driver.inputs(&value!({ size: 1 })).unwrap();
        assert_eq!(driver.lookup(&desired).await, Ok(Some(vec![])));
    });
}

/// CRASH-2: the next run goes on with what a failed create made.
#[test]
fn a_failed_create_is_resumed() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = servers(&shelf).await;
        let broken = driver.inputs(&with("breaks", value!(true))).unwrap();
        let partial = driver.apply(&broken, None, None).await.unwrap_err().partial.unwrap();
        let desired = driver.inputs(&value!({ name: "web" })).unwrap();
        let plan = driver.plan(&desired, Some(&partial), None).await.unwrap();
        assert_eq!(plan.verdict, Verdict::Update);
        let resumed = driver.apply(&desired, Some(&partial), None).await.unwrap();
        assert_eq!((id(&resumed.outputs), shelf.len()), (id(&partial.outputs), 1));
        assert_eq!(resumed.outputs.get("receipt"), Some(&value!("paid")));
    });
}

/// INV-1: an answer that cannot be recorded does not make the object disappear.
#[test]
fn an_object_whose_answer_no_value_can_hold_is_not_forgotten() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = servers(&shelf).await;
        let desired = driver.inputs(&with("ratio", value!(2))).unwrap();
        let failed = driver.apply(&desired, None, None).await.unwrap_err();
        assert_eq!(shelf.len(), 1);
        let known = failed.partial.is_some() || failed.failure.class == FailureClass::Indeterminate;
        assert!(known, "{:?}", failed.failure);
    });
}

/// CRUD-4, CRUD-7
#[test]
fn update_receives_prior_inputs_outputs_and_observation_apart() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = boxes(&shelf).await;
        let state = created(&driver, &inputs("box", 1)).await;
        let thing = shelf.get(id(&state.outputs)).unwrap();
        shelf.set(id(&state.outputs), Thing { size: 5, ..thing }).unwrap();
        let desired = driver.inputs(&inputs("box", 9)).unwrap();
        let Observed::Present(observed) = driver.read(&desired, &state).await.unwrap() else {
            panic!("it is there")
        };
        shelf.calls();
        driver.apply(&desired, Some(&state), Some(&observed)).await.unwrap();
        assert_eq!(shelf.calls(), ["validate", "update 1 1 Some(5)"]);
        driver.apply(&desired, Some(&state), None).await.unwrap();
        assert_eq!(shelf.calls(), ["validate", "update 1 1 None"]);
    });
}

/// CRUD-5
#[test]
fn changed_compares_decoded_values() {
    use trueup::Planned;
    assert!(!changed(&1, &1));
    assert!(changed("a", "b"));
    assert!(!changed(&"a".to_owned(), &Planned::Known("a".to_owned())));
    assert!(changed(&"a".to_owned(), &Planned::Unknown));
}

/// CRUD-6, PLAN-3, PLAN-4
#[test]
fn a_replace_field_replaces_and_other_changes_update() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let state = created(&driver, &inputs("box", 1)).await;
        assert_eq!(driver.handler().schema().replace_fields(), ["function-name".parse().unwrap()]);
        assert_eq!(plan(&driver, &inputs("box", 1), &state).await.verdict, Verdict::NoOp);
        let update = plan(&driver, &inputs("box", 2), &state).await;
        assert_eq!(update.verdict, Verdict::Update);
        assert_eq!(update.changes[0].path.to_string(), "size");
        let replace = plan(&driver, &inputs("other", 2), &state).await;
        assert_eq!(replace.verdict, Verdict::Replace);
        assert_eq!(replace.replace_paths, ["function-name".parse().unwrap()]);
    });
}

/// CRUD-7
#[test]
fn failed_validation_leaves_the_world_untouched() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = boxes(&shelf).await;
        let failed = driver.apply(&driver.inputs(&inputs("box", 13)).unwrap(), None, None).await.unwrap_err();
        assert_eq!(failed.failure.class, FailureClass::Invalid);
        assert_eq!(failed.failure.to_string(), "invalid: thirteen is unlucky");
        assert_eq!(failed.failure.hints, ["take twelve"]);
        assert_eq!(shelf.calls(), ["validate"]);
        assert_eq!(shelf.len(), 0);
    });
}

/// CRUD-8
#[test]
fn an_equivalent_input_is_no_change_but_a_real_one_beside_it_still_is() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let state = created(&driver, &inputs("box", 1)).await;
        assert_eq!(plan(&driver, &inputs("arn:fn/box", 1), &state).await.verdict, Verdict::NoOp);
        let both = plan(&driver, &inputs("arn:fn/box", 2), &state).await;
        assert_eq!((both.verdict, both.replace_paths.len()), (Verdict::Update, 0));
        assert_eq!(plan(&driver, &inputs("arn:fn/other", 1), &state).await.verdict, Verdict::Replace);
        // Judged even while another field is unknown.
        let unknown = inputs("arn:fn/box", 1).with_entry("size", Value::unknown(Type::Number));
        assert_eq!(plan(&driver, &unknown, &state).await.verdict, Verdict::MayUpdate);
        // As a premise: what counts as equal at apply.
        let prior = state.inputs.as_ref().unwrap();
        let current = driver.inputs(&inputs("arn:fn/box", 1)).unwrap();
        assert!(driver.handler().input_changes(prior, &current).is_empty());
    });
}

/// DRIFT-3: a mirror that is equivalent to its input is not drift.
#[test]
fn an_equivalent_mirror_is_no_drift() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let state = created(&driver, &inputs("box", 1)).await;
        let seen =
            |name: &str| State { outputs: state.outputs.with_entry("name", value!(name)), ..state.clone() };
        assert!(driver.handler().drift(&state, &seen("arn:fn/box")).is_empty());
        assert_eq!(driver.handler().drift(&state, &seen("other")).len(), 1);
    });
}

/// CRUD-10
#[test]
fn older_records_are_migrated_and_newer_ones_refused() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let current = created(&driver, &inputs("box", 7)).await;
        let recorded = |version, inputs: Value| {
            let mut state = current.clone();
            state.schema_version = version;
            state.inputs = Some(trueup::handler::InputValues { written: inputs.clone(), effective: inputs });
            state
        };
        let migrated = driver.migrate(recorded(1, value!({ volume: 7 }))).await.unwrap();
        assert_eq!(migrated.schema_version, 2);
        assert_eq!(migrated.inputs.as_ref().unwrap().effective.get("size"), Some(&value!(7)));
        assert_eq!(plan(&driver, &inputs("box", 7), &migrated).await.verdict, Verdict::NoOp);
        let message =
            async |version| driver.migrate(recorded(version, value!({}))).await.unwrap_err().message;
        assert_eq!(message(0).await, "cannot migrate from schema version 0 to 2: there is no way from there");
        assert_eq!(message(3).await, "the record has schema version 3, this program knows only 2");
    });
}

/// CRUD-10
#[test]
fn an_older_record_without_a_migration_is_refused_with_both_versions() {
    trueup::run(async {
        let provider = NativeProvider::new("x").crud::<Stuck>("stuck");
        let driver = Driver::new(provider, "x_stuck", &value!({})).await.unwrap();
        let current = created(&driver, &value!({ size: 1 })).await;
        assert_eq!(driver.migrate(current.clone()).await.as_ref(), Ok(&current));
        let failure = driver.migrate(State { schema_version: 0, ..current }).await.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "fatal: cannot migrate from schema version 0 to 1: there is no migration"
        );
    });
}

/// CRUD-10, PLAN-9
#[test]
fn a_migrated_default_is_still_a_default() {
    trueup::run(async {
        let driver = tools().await;
        let desired = driver.inputs(&value!({ size: 1 })).unwrap();
        let mut old = driver.apply(&desired, None, None).await.unwrap();
        let recorded = old.inputs.as_mut().unwrap();
        recorded.effective = recorded.effective.with_entry("finish", value!("old"));
        old.schema_version = 0;
        let migrated = driver.migrate(old).await.unwrap();
        assert_eq!(driver.handler().input_changes(migrated.inputs.as_ref().unwrap(), &desired), []);
        assert_eq!(plan(&driver, &value!({ size: 1 }), &migrated).await.verdict, Verdict::NoOp);
    });
}

/// CRUD-11
#[test]
fn violations_are_gathered_before_anything_runs_and_unknown_ones_found_at_apply() {
    trueup::run(async {
        let shelf = Shelf::default();
        let driver = boxes(&shelf).await;
        let wrong = value!({ "function-name": "BOX", size: 200, finish: "fanci", label: "x", sise: 1 });
        let summaries: Vec<_> =
            driver.inputs(&wrong).unwrap_err().into_iter().map(|it| format!("{it}")).collect();
        insta::assert_snapshot!(summaries.join("\n"), @r#"
        error: unknown attribute `sise` in x_box.it (did you mean `size`?)
        error: `function-name` in x_box.it must match `^[a-z/:]+$`, not "BOX" (`function-name` is a string)
        error: `size` in x_box.it must be 1 to 100, not 200 (`size` is a number)
        error: `finish` in x_box.it must be "plain" or "fancy", not "fanci" (did you mean "fancy"?)
        error: `label` needs `label-colour` as well in x_box.it (set them all, or leave the first out)
        "#);
        let resolved = trueup::handler::InputValues { written: wrong.clone(), effective: wrong };
        assert_eq!(
            driver.apply(&resolved, None, None).await.unwrap_err().failure.class,
            FailureClass::Invalid
        );
        assert!(shelf.calls().is_empty());
    });
}

/// PLAN-9
#[test]
fn a_new_default_alone_changes_nothing() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let mut state = created(&driver, &inputs("box", 1)).await;
        let recorded = state.inputs.as_mut().unwrap();
        assert_eq!(recorded.effective.get("finish"), Some(&value!("plain")));
        recorded.effective = recorded.effective.with_entry("finish", value!("what it was before"));
        assert_eq!(plan(&driver, &inputs("box", 1), &state).await.verdict, Verdict::NoOp);
        let written = inputs("box", 1).with_entry("finish", value!("fancy"));
        assert_eq!(plan(&driver, &written, &state).await.verdict, Verdict::Update);
    });
}

/// PLAN-6
#[test]
fn empty_equals_absent_only_where_the_schema_says_so() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let state = created(&driver, &inputs("box", 1)).await;
        let with = |name: &str, value: Value| inputs("box", 1).with_entry(name, value);
        assert_eq!(plan(&driver, &with("notes", value!([])), &state).await.verdict, Verdict::NoOp);
        assert_eq!(plan(&driver, &with("notes", value!(["a"])), &state).await.verdict, Verdict::Update);
        let labelled = with("label", value!("")).with_entry("label-colour", value!(""));
        assert_eq!(plan(&driver, &labelled, &state).await.verdict, Verdict::Update);
    });
}

/// CRUD-13
#[test]
fn large_integers_survive_the_recorded_form() {
    trueup::run(async {
        let driver = hooked().await;
        let large = (1u64 << 53) + 1;
        let state = created(&driver, &value!({ size: large, colour: "red" })).await;
        assert_eq!(state.outputs.get("weight"), Some(&value!(18_014_398_509_481_986u64)));
        let read_back = |value: &Value| Value::from_json(&value.to_json(JsonForm::RECORD)).unwrap();
        let recorded = state.inputs.as_ref().map(|inputs| trueup::handler::InputValues {
            written: read_back(&inputs.written),
            effective: read_back(&inputs.effective),
        });
        let again = State { inputs: recorded, outputs: read_back(&state.outputs), ..state.clone() };
        assert_eq!(again, state);
        let desired = value!({ size: large, colour: "red" });
        assert_eq!(plan(&driver, &desired, &again).await.verdict, Verdict::NoOp);
        let next = value!({ size: (large + 1), colour: "red" });
        assert_eq!(plan(&driver, &next, &again).await.verdict, Verdict::Update);
    });
}

/// CRUD-14, DRIFT-3
#[test]
fn identity_create_only_and_informational_fields_behave_as_declared() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let desired = driver.inputs(&inputs("box", 1)).unwrap();
        let state = driver.apply(&desired, None, None).await.unwrap();
        let identity = state.identity.as_ref().unwrap().to_string();
        assert_eq!(identity, r#"{ function-name = "box", id = 1 }"#);
        let Observed::Present(observed) = driver.read(&desired, &state).await.unwrap() else {
            panic!("it is there")
        };
        assert_eq!(observed.outputs.get("receipt"), Some(&value!("paid")), "a read does not erase it");
        assert!(driver.handler().drift(&state, &observed).is_empty());
        let seen = |name: &str, value: Value| State {
            outputs: state.outputs.with_entry(name, value),
            ..state.clone()
        };
        assert!(driver.handler().drift(&state, &seen("looks", value!(9))).is_empty(), "informational");
        assert!(driver.handler().drift(&state, &seen("read_at", value!(9))).is_empty(), "volatile");
        assert_eq!(driver.handler().drift(&state, &seen("size", value!(9))).len(), 1);
    });
}

/// CRUD-14, APPLY-8
#[test]
fn neither_a_read_nor_an_update_erases_what_only_the_create_told() {
    trueup::run(async {
        let driver = servers(&Shelf::default()).await;
        let state = created(&driver, &value!({ name: "web" })).await;
        assert_eq!(observed(&driver, &state).await.outputs.get("receipt"), Some(&value!("paid")));
        let renamed = driver.inputs(&value!({ name: "other" })).unwrap();
        let updated = driver.apply(&renamed, Some(&state), None).await.unwrap();
        assert_eq!(updated.outputs.get("receipt"), Some(&value!("paid")));
        assert_eq!(updated.outputs.get("name"), Some(&value!("other")));
    });
}

/// UNKNOWN-1, UNKNOWN-2, UNKNOWN-3, UNKNOWN-8
#[test]
fn planned_outputs_are_known_as_far_as_they_can_be() {
    trueup::run(async {
        let driver = boxes(&Shelf::default()).await;
        let desired = driver.inputs(&inputs("box", 1)).unwrap();
        let create = driver.plan(&desired, None, None).await.unwrap();
        assert_eq!(create.verdict, Verdict::Create);
        let shown = |answer: &PlanAnswer| {
            ["name", "place", "size"].map(|it| answer.outputs.get(it).unwrap().to_string()).join(" ")
        };
        assert_eq!(shown(&create), r#""box" (unknown string) (unknown number)"#);
        let state = driver.apply(&desired, None, None).await.unwrap();
        assert_eq!(shown(&plan(&driver, &inputs("box", 1), &state).await), r#""box" "top" 1"#);
        // Refreshed: the number of looks was another when it was recorded.
        let seen = State { outputs: state.outputs.with_entry("looks", value!(9)), ..state.clone() };
        let no_op = driver.plan(&desired, Some(&state), Some(&seen)).await.unwrap();
        assert_eq!((no_op.verdict, no_op.outputs.get("looks")), (Verdict::NoOp, Some(&value!(9))));
        assert_eq!(shown(&plan(&driver, &inputs("box", 2), &state).await), r#""box" "top" (unknown number)"#);
        assert_eq!(
            shown(&plan(&driver, &inputs("new", 1), &state).await),
            r#""new" (unknown string) (unknown number)"#
        );
        let unknown = inputs("box", 1).with_entry("function-name", Value::unknown(Type::String));
        let perhaps = plan(&driver, &unknown, &state).await;
        assert_eq!(perhaps.verdict, Verdict::MayReplace);
        assert_eq!(shown(&perhaps), "(unknown string) (unknown string) (unknown number)");
    });
}
