//! BIND, CRASH, DELETE: cycles through bindings, in a cloud that refuses to delete what is in use.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use trueup_core::{Failure, FailureClass, Value, value};
use trueup_engine::Outcome;
use trueup_program::{BindingDeclaration, Program, ResourceDeclaration};
use trueup_provider::{
    CallContext, Context, Converge, Current, Error, GenerationNumber, InputValues, Inputs, NativeProvider,
    Outputs, Recovery, Registry, Result, Sightings, Slot, State,
};
use trueup_state::{
    Acquired, Batch, Entry, Holder, Metadata, RecordId, Scope, Step, Store as _, Write, transition,
};
use trueup_test_servers::sized;

use crate::lifecycle::world::{Bench, address, lit, output, program, resource};

/// The cloud. Clones share it.
#[derive(Clone, Default)]
struct Cloud(Arc<Mutex<Contents>>);

#[derive(Default)]
struct Contents {
    objects: BTreeMap<String, Object>,
    tokens: BTreeMap<String, String>,
    made: u64,
    calls: Vec<String>,
    /// What the next calls of that name fail with.
    script: BTreeMap<String, VecDeque<Failure>>,
}

#[derive(Clone, Default)]
struct Object {
    name: String,
    tags: BTreeMap<String, String>,
    colour: String,
    /// The objects that it cannot be without.
    uses: Vec<String>,
}

impl Cloud {
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap()
    }

    /// Notes a call, and fails if that is in the script.
    fn call(&self, operation: &str, context: &CallContext) -> Result<()> {
        let mut contents = self.lock();
        let call = format!("{operation} {}", context.address.name());
        contents.calls.push(call.clone());
        let scripted = contents.script.get_mut(&call).and_then(VecDeque::pop_front);
        scripted.map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn fail(&self, call: &str, class: FailureClass) {
        let failure = Failure::new(class, "it is broken");
        self.lock().script.entry(call.to_owned()).or_default().push_back(failure);
    }

    /// Makes the next stub fail so, whichever member it is of.
    fn fail_stub(&self, at: &str, class: &FailureClass) {
        ["a", "b"].iter().for_each(|name| self.fail(&format!("{at} {name}"), class.clone()));
    }

    /// Lets nothing fail any more.
    fn forget_failures(&self) {
        self.lock().script.clear();
    }

    /// What was called since this was last asked, reads and lookups left aside.
    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().calls)
    }

    /// The colours of the objects there are, in order.
    fn colours(&self) -> Vec<String> {
        let mut colours: Vec<_> = self.lock().objects.values().map(|object| object.colour.clone()).collect();
        colours.sort();
        colours
    }

    fn refuse_missing(&self, uses: &[String]) -> Result<()> {
        let contents = self.lock();
        match uses.iter().find(|used| !contents.objects.contains_key(*used)) {
            Some(missing) => Err(Error::invalid(format!("there is no {missing}"))),
            None => Ok(()),
        }
    }

    /// Makes an object, for one token only once; nothing keeps others from having its name.
    fn make(&self, context: &CallContext, by_token: bool, object: Object) -> Result<String> {
        self.refuse_missing(&object.uses)?;
        let mut contents = self.lock();
        let token = context.token.map(|token| token.to_string()).unwrap_or_default();
        if let Some(id) = contents.tokens.get(&token).filter(|_| by_token) {
            return Ok(id.clone());
        }
        contents.made += 1;
        let id = format!("{}-{}", context.address.name(), contents.made);
        contents.tokens.insert(token, id.clone());
        contents.objects.insert(id.clone(), object);
        Ok(id)
    }

    fn delete(&self, id: &str) -> Result<()> {
        let mut contents = self.lock();
        if let Some((user, _)) = contents.objects.iter().find(|(_, it)| it.uses.iter().any(|it| it == id)) {
            return Err(Error::conflict(format!("{user} uses it")));
        }
        contents.objects.remove(id).map(|_| ()).ok_or_else(|| Error::not_found("it is gone"))
    }
}

#[derive(Inputs)]
struct Settings {}

#[derive(Outputs)]
struct Shown {
    #[trueup(identity, stable)]
    id: String,
    url: String,
}

fn shown(id: String, object: &Object) -> Shown {
    Shown { url: format!("{id}/{}", object.colour), id }
}

macro_rules! member {
    ($name:ident, $view:ident, stubs $stubs:literal) => {
        #[derive(Inputs)]
        struct $name {
            needs: Option<String>,
            #[trueup(replace)]
            host: Option<String>,
            #[trueup(replace, default = "red")]
            colour: String,
            #[trueup(default)]
            by_token: bool,
        }

        impl Converge for $name {
            type Output = Shown;
            type Config = Cloud;

            fn recovery(&self) -> Recovery {
                if self.by_token { Recovery::Token } else { Recovery::Lookup }
            }

            async fn reconcile(&self, context: &Context<Cloud>, current: &Current<Self>) -> Result<Shown> {
                let cloud = context.config();
                let bound: Vec<String> = current.bindings.iter().map(|it| it.payload.to_string()).collect();
                cloud.call(&format!("apply [{}]", bound.join(" ")), context)?;
                let uses: Vec<String> = self.needs.iter().chain(&self.host).cloned().collect();
                let (name, tags) = (context.physical_name(), context.tags());
                let object = Object { name, tags, colour: self.colour.clone(), uses };
                tokio::task::yield_now().await;
                let id = match &current.output {
                    Some(output) => {
                        cloud.refuse_missing(&object.uses)?;
                        cloud.lock().objects.insert(output.id.clone(), object.clone());
                        output.id.clone()
                    }
                    None => cloud.make(context, self.by_token, object.clone())?,
                };
                tokio::task::yield_now().await;
                let made = shown(id, &object);
                cloud.call("applied", context).map_err(|error| error.with_partial(&made))?;
                Ok(made)
            }

            async fn read(
                &self,
                context: &Context<Cloud>,
                prior: Option<&Shown>,
            ) -> Result<Sightings<Shown>> {
                let contents = context.config().lock();
                let name = context.physical_name();
                let found = match prior {
                    Some(prior) => contents.objects.get_key_value(&prior.id),
                    None if self.by_token => return Ok(Sightings::unsupported()),
                    None => contents.objects.iter().find(|(_, it)| it.name == name),
                };
                Ok(found.map_or_else(Sightings::absent, |(id, object)| {
                    Sightings::recognised(shown(id.clone(), object), context.recognise(&object.tags))
                }))
            }

            async fn delete(&self, context: &Context<Cloud>, output: &Shown) -> Result<()> {
                context.config().call("delete", context)?;
                tokio::task::yield_now().await;
                context.config().delete(&output.id)
            }

            fn stub(_: &$view) -> Option<Value> {
                $stubs.then(|| value!({ needs: null, host: null, colour: "" }))
            }

            async fn precreate(&self, context: &Context<Cloud>) -> Result<Shown> {
                let cloud = context.config();
                cloud.call("stub", context)?;
                let (name, tags) = (context.physical_name(), context.tags());
                let object = Object { name, tags, colour: self.colour.clone(), uses: Vec::new() };
                tokio::task::yield_now().await;
                let made = shown(cloud.make(context, self.by_token, object.clone())?, &object);
                tokio::task::yield_now().await;
                cloud.call("half a stub", context).map_err(|error| error.with_partial(&made))?;
                cloud.call("stubbed", context)?;
                Ok(made)
            }
        }
    };
}

member!(Node, NodeView, stubs true);
member!(Post, PostView, stubs false);

/// A bench on which members of cycles can be deployed.
fn bench(cloud: &Cloud) -> Bench {
    let cloud = cloud.clone();
    let provider = NativeProvider::configured("c", move |_: Settings| {
        let cloud = cloud.clone();
        async { Ok(cloud) }
    });
    let mut bench = Bench::new();
    bench.others = Registry::new().with(provider.converge::<Node>("node").converge::<Post>("post"));
    bench
}

/// A cycle of two: the teller uses the told one by an input, and its url is attached to that.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    told: &'static str,
    teller: &'static str,
    /// The input by which it is used.
    by: &'static str,
    by_token: bool,
    colours: [&'static str; 2],
}

const CYCLE: Cycle =
    Cycle { told: "c_node.a", teller: "c_node.b", by: "needs", by_token: false, colours: ["red", "red"] };

/// Cycles whose stub is on either side, declared and named in both orders.
const CYCLES: [Cycle; 6] = [
    CYCLE,
    Cycle { by: "host", ..CYCLE },
    Cycle { told: "c_node.b", teller: "c_node.a", ..CYCLE },
    Cycle { teller: "c_post.b", ..CYCLE },
    Cycle { told: "c_node.b", teller: "c_post.a", by: "host", ..CYCLE },
    Cycle { by_token: true, ..CYCLE },
];

impl Cycle {
    fn told(&self) -> ResourceDeclaration {
        let colour = lit(self.colours[0]);
        let mut told = resource(self.told, [("colour", colour), ("by_token", lit(self.by_token))]);
        let payload = output(self.teller, "url");
        told.bindings.push(BindingDeclaration { key: "of".into(), payload });
        told
    }

    fn teller(&self) -> ResourceDeclaration {
        let (colour, used) = (lit(self.colours[1]), output(self.told, "id"));
        resource(self.teller, [("colour", colour), ("by_token", lit(self.by_token)), (self.by, used)])
    }

    fn program(&self) -> Program {
        program([self.told(), self.teller()])
    }
}

/// That all is as the program says, and nothing else is there.
#[track_caller]
fn assert_settled(bench: &Bench, cloud: &Cloud, cycle: &Cycle) {
    let mut colours = cycle.colours.map(str::to_owned);
    colours.sort();
    assert_eq!(cloud.colours(), colours, "{cycle:?}");
    let plan = bench.plan(&cycle.program());
    assert!(plan.ends_with("No changes"), "{cycle:?}\n{plan}");
    let (told, teller) = (address(cycle.told), address(cycle.teller));
    let records = bench.records();
    for (of, on) in [(&told, &teller), (&teller, &told)] {
        let dependencies = &records[of.name()].meta.dependencies;
        assert_eq!(dependencies, std::slice::from_ref(on), "{cycle:?}: wherever the cycle was opened");
    }
}

/// DELETE-1, BIND-9: where a cycle is deleted, inputs decide.
#[test]
fn a_cycle_is_destroyed_users_first() {
    for cycle in CYCLES {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        bench.deployed(&cycle.program());
        assert_settled(&bench, &cloud, &cycle);
        let report = bench.destroy();
        assert!(report.succeeded(), "{cycle:?} {:#?}", report.outcomes);
        assert!(cloud.colours().is_empty() && bench.records().is_empty());
    }
}

/// DELETE-1, BIND-9
#[test]
fn a_cycle_that_is_no_longer_declared_goes_users_first() {
    for cycle in CYCLES {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        bench.deployed(&cycle.program());
        bench.deployed(&program([]));
        assert!(cloud.colours().is_empty() && bench.records().is_empty(), "{cycle:?}");
    }
}

/// APPLY-9, DELETE-1: what leaves a cycle stays until the member that it was attached to has let go of it.
#[test]
fn a_member_that_leaves_a_cycle_is_detached_first() {
    for cycle in CYCLES {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        bench.deployed(&cycle.program());
        let mut told = cycle.told();
        told.bindings.clear();
        let alone = program([told]);
        cloud.fail(&format!("apply [] {}", address(cycle.told).name()), FailureClass::Fatal);
        assert!(!bench.deploy(&alone).succeeded());
        assert_eq!(cloud.colours().len(), 2, "{cycle:?}: its payload is still attached");
        bench.deployed(&alone);
        assert_eq!(cloud.colours().len(), 1);
    }
}

/// BIND-4, CRASH-1: a stub whose answer was lost is found again, by its name or by its token.
#[test]
fn a_stub_that_may_exist_is_not_made_twice() {
    for cycle in CYCLES {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        cloud.fail_stub("stubbed", &FailureClass::Indeterminate);
        assert!(!bench.deploy(&cycle.program()).succeeded());
        cloud.forget_failures();
        assert_eq!(cloud.colours().len(), 1);
        bench.deployed(&cycle.program());
        assert_settled(&bench, &cloud, &cycle);
    }
}

/// BIND-4, RETRY-7: nor is one whose failure says that it may be repeated.
#[test]
fn a_stub_is_looked_for_before_it_is_repeated() {
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    cloud.fail_stub("stubbed", &FailureClass::Retryable);
    bench.deployed(&CYCLE.program());
    assert_settled(&bench, &cloud, &CYCLE);
}

/// BIND-4, CRASH-1: what came of a stub is deleted if nobody declares it any more.
#[test]
fn a_stub_that_may_exist_is_deleted_when_it_is_no_longer_declared() {
    for cycle in CYCLES {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        cloud.fail_stub("stubbed", &FailureClass::Indeterminate);
        assert!(!bench.deploy(&cycle.program()).succeeded());
        cloud.forget_failures();
        bench.deployed(&program([]));
        assert!(cloud.colours().is_empty() && bench.records().is_empty(), "{cycle:?}");
    }
}

/// BIND-4, CRASH-2: half a stub is an object all the same.
#[test]
fn half_a_stub_is_finished() {
    for class in [FailureClass::Fatal, FailureClass::Indeterminate, FailureClass::Retryable] {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        cloud.fail_stub("half a stub", &class);
        let _ = bench.deploy(&CYCLE.program());
        cloud.forget_failures();
        bench.deployed(&CYCLE.program());
        assert_settled(&bench, &cloud, &CYCLE);
    }
}

/// CRASH-2: a stub that cannot become what is wanted now is replaced.
#[test]
fn a_stub_is_replaced_when_a_replace_field_has_changed_since() {
    for fails in ["stubbed", "half a stub"] {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        cloud.fail_stub(fails, &FailureClass::Indeterminate);
        assert!(!bench.deploy(&CYCLE.program()).succeeded(), "{fails}");
        cloud.forget_failures();
        let changed = Cycle { colours: ["blue", "blue"], ..CYCLE };
        let plan = bench.plan(&changed.program());
        assert!(plan.contains("±"), "{fails}\n{plan}");
        bench.deployed(&changed.program());
        assert_settled(&bench, &cloud, &changed);
    }
}

/// RECONCILE-4: the members of a cycle are found after lost state, though the inputs of none are known before.
#[test]
fn a_cycle_is_found_after_lost_state() {
    for cycle in CYCLES.into_iter().filter(|cycle| !cycle.by_token) {
        let cloud = Cloud::default();
        bench(&cloud).deployed(&cycle.program());
        let lost = bench(&cloud);
        lost.deployed(&cycle.program());
        assert_settled(&lost, &cloud, &cycle);
    }
}

/// CRASH-7: created, changed or replaced, a cycle that is cut off anywhere is settled by one rerun.
#[test]
fn a_cycle_cut_off_anywhere_is_settled_by_one_rerun() {
    let changes = [["red", "red"], ["blue", "red"], ["red", "blue"], ["blue", "blue"]];
    for (cycle, (colours, is_new)) in
        CYCLES.into_iter().flat_map(|it| changes.map(|colours| (it, (colours, colours == it.colours))))
    {
        for waits in (0..).step_by(sized(4, 1)) {
            let cloud = Cloud::default();
            let bench = bench(&cloud);
            if !is_new {
                bench.deployed(&cycle.program());
            }
            let changed = Cycle { colours, ..cycle };
            let finished = bench.deploy_cut_off(&changed.program(), waits);
            let report = bench.deploy(&changed.program());
            assert!(report.succeeded(), "{changed:?}, {waits} waits: {:#?}", report.outcomes);
            assert_settled(&bench, &cloud, &changed);
            if finished {
                break;
            }
        }
    }
}

/// BIND-5: where what is recorded does not last until it is needed, a stub stands in.
#[test]
fn a_member_that_is_deleted_first_is_referred_to_as_a_stub() {
    let cycle = Cycle { told: "c_node.a", teller: "c_post.b", by: "host", ..CYCLE };
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    let with = |cycle: &Cycle| {
        let mut told = cycle.told();
        told.options.delete_first = Some(true);
        told
    };
    // Only one of the two is there: nothing is recorded that could stand in for the other.
    let mut alone = with(&cycle);
    alone.bindings.clear();
    bench.deployed(&program([alone]));
    let changed = Cycle { colours: ["blue", "red"], ..cycle };
    cloud.calls();
    bench.deployed(&program([with(&changed), changed.teller()]));
    let calls = cloud.calls();
    assert_eq!(calls[..2], ["delete a", "stub a"], "{calls:?}");
    assert_eq!(cloud.colours(), ["blue", "red"]);
}

/// BIND-5, UNKNOWN-8: a recorded object that may have to go first does not stand in for what replaces it either.
#[test]
fn a_member_that_may_be_deleted_first_is_referred_to_as_a_stub() {
    let cycle = Cycle { told: "c_node.a", teller: "c_post.b", by: "host", ..CYCLE };
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    let program_of = |size: u64, with_teller: bool| {
        let paint = resource("w_thing.paint", [("size", lit(size))]);
        let mut told = resource(cycle.told, [("colour", output("w_thing.paint", "url"))]);
        told.options.delete_first = Some(true);
        if !with_teller {
            return program([paint, told]);
        }
        told.bindings = cycle.told().bindings;
        program([paint, told, cycle.teller()])
    };
    bench.deployed(&program_of(1, false));
    let before = cloud.colours();
    cloud.calls();
    let plan = bench.plan(&program_of(2, true));
    assert!(plan.contains("± c_node.a delete first"), "{plan}");
    bench.deployed(&program_of(2, true));
    let calls = cloud.calls();
    assert_eq!(calls[..2], ["delete a", "stub a"], "{calls:?}");
    assert!(!cloud.colours().contains(&before[0]), "{:?}", cloud.colours());
    assert!(bench.plan(&program_of(2, true)).ends_with("No changes"));
}

/// BIND-5, CRUD-2: what is gone does not stand in for anything.
#[test]
fn a_member_that_is_gone_is_made_again_from_a_stub() {
    for cycle in CYCLES {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        bench.deployed(&cycle.program());
        cloud.lock().objects.clear();
        bench.deployed(&cycle.program());
        assert_settled(&bench, &cloud, &cycle);
    }
}

/// TARGET-1: what a target depends on comes along, also where the cycle was opened.
#[test]
fn a_target_takes_all_of_its_cycle_along() {
    for (cycle, at) in CYCLES.into_iter().flat_map(|cycle| [(cycle, cycle.told), (cycle, cycle.teller)]) {
        let cloud = Cloud::default();
        let mut bench = bench(&cloud);
        bench.options.plan.targets = vec![address(at).into()];
        bench.deployed(&cycle.program());
        bench.options.plan.targets.clear();
        assert_settled(&bench, &cloud, &cycle);
    }
}

/// TARGET-1
#[test]
fn an_exclusion_leaves_all_of_its_cycle_out() {
    for (cycle, at) in CYCLES.into_iter().flat_map(|cycle| [(cycle, cycle.told), (cycle, cycle.teller)]) {
        let cloud = Cloud::default();
        let mut bench = bench(&cloud);
        bench.options.plan.excludes = vec![address(at).into()];
        bench.deployed(&cycle.program());
        assert!(cloud.colours().is_empty() && bench.records().is_empty(), "{cycle:?} without {at}");
    }
}

/// Records two objects that depend on each other by inputs, as runs that were cut off at different times may leave them.
fn record_contradiction(bench: &Bench, ids: [&str; 2]) {
    let of = |at: usize| address(["c_node.a", "c_node.b"][at]);
    let writes = ids.iter().enumerate().map(|(at, id)| {
        let outputs = value!({ id: (*id), url: "somewhere" });
        let written = value!({ colour: "red", by_token: false });
        let inputs = Some(InputValues { effective: written.clone(), written });
        let object = State { inputs, outputs, private: Vec::new(), schema_version: 0, identity: None };
        let meta = Metadata { provider: "c".into(), dependencies: vec![of(1 - at)], ..Metadata::default() };
        let step = Step::Adopted {
            address: of(at),
            origin: of(at),
            meta,
            number: GenerationNumber::FIRST,
            slot: Slot::FIRST,
            object,
        };
        let entry = Entry::new(RecordId::from_bytes([at as u8; 16]), step);
        let record = transition(None, &entry).unwrap().map(Arc::new);
        Write { expected: None, entry, record }
    });
    let batch = Batch { writes: writes.collect(), ..Batch::default() };
    let (scope, nobody) = (Scope::new("stack", "test"), String::new);
    let holder = Holder { run: nobody(), user: nobody(), host: nobody(), reason: nobody() };
    bench.run(async {
        let taken = bench.store.acquire(&scope, &holder, bench.options.lease_term).await.unwrap();
        let Acquired::Lease(lease) = taken else { panic!("someone holds the lease") };
        bench.store.commit(&scope, lease.token, &batch).await.unwrap();
        bench.store.release(&scope, &lease).await.unwrap();
    });
}

/// DELETE-1: records that contradict each other do not keep anything from being deleted.
#[test]
fn records_that_depend_on_each_other_are_destroyed_all_the_same() {
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    let ids = ["a-1", "b-2"];
    ids.iter().for_each(|id| drop(cloud.lock().objects.insert((*id).to_owned(), Object::default())));
    record_contradiction(&bench, ids);
    assert!(bench.destroy().succeeded());
    assert!(cloud.colours().is_empty() && bench.records().is_empty());
}

/// REPLACE-2, REPLACE-5: an older generation that uses what is deleted first goes before it, though nothing else becomes of
/// its resource.
#[test]
fn what_is_deleted_first_waits_for_older_generations_that_use_it() {
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    let host = |colour: &str| {
        let mut host = resource("c_node.host", [("colour", lit(colour))]);
        host.options.delete_first = Some(true);
        host
    };
    bench
        .deployed(&program([host("red"), resource("c_node.guest", [("host", output("c_node.host", "id"))])]));
    cloud.fail("applied guest", FailureClass::Fatal);
    assert!(!bench.deploy(&program([host("red"), resource("c_node.guest", [])])).succeeded());
    let both = program([host("blue"), resource("c_node.guest", [])]);
    bench.deployed(&both);
    assert_eq!(cloud.colours(), ["blue", "red"]);
    assert!(bench.plan(&both).ends_with("No changes"));
}

/// REPLACE-2, DELETE-1: also where it is used through something that is no longer declared.
#[test]
fn what_is_deleted_first_waits_for_older_generations_that_use_it_through_something_removed() {
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    let first = |colour: &str| {
        let mut first = resource("c_node.a", [("colour", lit(colour))]);
        first.options.delete_first = Some(true);
        first
    };
    let on = |of: &str, host: &str| resource(of, [("host", output(host, "id"))]);
    let (middle, free) = (|| on("c_node.b", "c_node.a"), || resource("c_node.c", []));
    bench.deployed(&program([first("red"), middle(), on("c_node.c", "c_node.b")]));
    cloud.fail("delete c", FailureClass::Denied);
    assert!(!bench.deploy(&program([first("red"), middle(), free()])).succeeded());
    cloud.calls();
    let after = program([first("blue"), free()]);
    bench.deployed(&after);
    let mut calls = cloud.calls();
    calls.retain(|call| call.starts_with("delete"));
    assert_eq!(calls, ["delete c", "delete b", "delete a"]);
    assert!(bench.plan(&after).ends_with("No changes"));
}

/// DELETE-1: a replaced generation goes before what it uses, even if that depends on the resource's latest generation.
#[test]
fn after_a_dependency_was_turned_round_each_generation_goes_before_what_it_uses() {
    let hosted = || resource("c_node.b", [("host", output("c_node.a", "id"))]);
    let free = |colour: &str| resource("c_node.b", [("colour", lit(colour))]);
    let by_input =
        |colour: &str| resource("c_node.a", [("colour", lit(colour)), ("needs", output("c_node.b", "id"))]);
    let by_binding = |colour: &str| {
        let mut told = resource("c_node.a", [("colour", lit(colour))]);
        told.bindings.push(BindingDeclaration { key: "of".into(), payload: output("c_node.b", "url") });
        told
    };
    let delete_first = |mut declared: ResourceDeclaration| {
        declared.options.delete_first = Some(true);
        declared
    };
    let turned: [&dyn Fn(&str) -> ResourceDeclaration; 2] = [&by_input, &by_binding];
    for (turned, is_destroyed) in turned.into_iter().flat_map(|it| [(it, true), (it, false)]) {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        bench.deployed(&program([resource("c_node.a", []), hosted()]));
        cloud.fail("delete b", FailureClass::Denied);
        assert!(!bench.deploy(&program([turned("red"), free("red")])).succeeded());
        assert_eq!(bench.records()["b"].generations().count(), 2);
        cloud.calls();
        let report = match is_destroyed {
            true => bench.destroy(),
            false => bench.deploy(&program([delete_first(turned("blue")), delete_first(free("blue"))])),
        };
        assert!(report.succeeded(), "{:#?}", report.outcomes);
        let mut calls = cloud.calls();
        calls.retain(|call| call.starts_with("delete"));
        assert_eq!(calls, ["delete b", "delete a", "delete b"]);
    }
}

/// DELETE-1: also where only that which it uses is removed.
#[test]
fn after_a_dependency_was_turned_round_a_removed_resource_waits_for_the_clean_up() {
    for [used, user] in [["c_node.a", "c_node.b"], ["c_node.b", "c_node.a"]] {
        let cloud = Cloud::default();
        let bench = bench(&cloud);
        let on = |of: &str, input: &str, other: &str| resource(of, [(input, output(other, "id"))]);
        bench.deployed(&program([resource(used, []), on(user, "host", used)]));
        cloud.fail(&format!("delete {}", address(user).name()), FailureClass::Denied);
        assert!(!bench.deploy(&program([on(used, "needs", user), resource(user, [])])).succeeded());
        let after = program([resource(user, [])]);
        bench.deployed(&after);
        assert_eq!(cloud.colours().len(), 1);
        assert!(bench.plan(&after).ends_with("No changes"));
    }
}

/// DELETE-3: where a replaced generation cannot be deleted, what it uses and the rest of its resource stay.
#[test]
fn what_a_generation_uses_is_blocked_when_its_delete_fails() {
    let cloud = Cloud::default();
    let bench = bench(&cloud);
    let on = |of: &str, input: &str, other: &str| resource(of, [(input, output(other, "id"))]);
    let plain = |of: &str| resource(of, []);
    bench.deployed(&program([plain("c_node.a"), on("c_node.b", "host", "c_node.a")]));
    (0..2).for_each(|_| cloud.fail("delete b", FailureClass::Denied));
    assert!(!bench.deploy(&program([on("c_node.a", "needs", "c_node.b"), plain("c_node.b")])).succeeded());
    let outcomes = bench.destroy().outcomes;
    let [(_, Outcome::Skipped(cause)), (_, Outcome::Failed(_))] = &*outcomes else { panic!("{outcomes:#?}") };
    assert_eq!(*cause, address("c_node.b"));
    assert!(bench.destroy().succeeded());
    assert!(cloud.colours().is_empty() && bench.records().is_empty());
}
