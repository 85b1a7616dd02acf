//! Objects without ownership marks, found by their names alone after the state was lost.

use trueup_core::{Failure, FailureClass};
use trueup_program::{Program, ResourceDeclaration};
use trueup_provider::{
    Context, Converge, Current, Error, Inputs, NativeProvider, NoConfig, Outputs, Registry, Result, Sightings,
};

use crate::lifecycle::world::{Bench, Thing, World, lit, program, resource};

#[derive(Outputs)]
struct Plate {
    #[trueup(identity, stable)]
    name: Option<String>,
    colour: String,
}

/// A type whose objects bear a name and no marks.
#[derive(Inputs)]
struct Bare {
    #[trueup(replace, default = "red")]
    colour: String,
    /// How its lookup goes by the name.
    #[trueup(default = "exact")]
    lookup: String,
    #[trueup(inject)]
    world: World,
}

impl Bare {
    fn output(&self, name: &str, colour: &str) -> Plate {
        let name = (self.lookup != "nameless").then(|| name.to_owned());
        Plate { name, colour: colour.to_owned() }
    }

    /// The thing of this name, or any if the lookup ignores names.
    fn find(&self, context: &Context) -> Option<Plate> {
        let name = context.physical_name();
        let is_it = |it: &&Thing| self.lookup == "any" || it.name == name;
        self.world.cloud().things.values().find(is_it).map(|it| self.output(&name, &it.colour))
    }
}

impl Converge for Bare {
    type Output = Plate;
    type Config = NoConfig;

    async fn reconcile(&self, context: &Context, current: &Current<Self>) -> Result<Plate> {
        self.world.call("reconcile", context)?;
        let (name, colour) = (context.physical_name(), self.colour.clone());
        if current.output.is_none() {
            let thing = Thing { name: name.clone(), size: 1, colour, tags: Default::default() };
            self.world.put(thing);
        }
        Ok(self.output(&name, &self.colour))
    }

    async fn read(&self, context: &Context, prior: Option<&Plate>) -> Result<Sightings<Plate>> {
        let operation = if prior.is_some() { "read" } else { "lookup" };
        self.world.call(operation, context)?;
        Ok(self.find(context).map_or_else(Sightings::absent, Sightings::owned))
    }

    async fn delete(&self, context: &Context, _: &Plate) -> Result<()> {
        self.world.call("delete", context)?;
        let name = context.physical_name();
        let mut cloud = self.world.cloud();
        let before = cloud.things.len();
        cloud.things.retain(|_, it| it.name != name);
        if cloud.things.len() < before { Ok(()) } else { Err(Error::not_found("it is gone")) }
    }
}

fn bench(world: &World) -> Bench {
    let mut bench = Bench::in_world(world.clone());
    let of = world.clone();
    let provider = NativeProvider::new("x").converge_with::<Bare>("bare", move || of.clone());
    bench.others = Registry::new().with(provider);
    bench
}

fn bare(colour: &str, lookup: &str) -> ResourceDeclaration {
    resource("x_bare.a", [("colour", lit(colour)), ("lookup", lit(lookup))])
}

/// A cloud where the delete of what was replaced failed: both names are taken.
fn replaced_halfway(lookup: &str) -> (World, Program) {
    let world = World::default();
    let bench = bench(&world);
    bench.deployed(&program([bare("red", lookup)]));
    world.fail("delete a", Failure::new(FailureClass::Conflict, "it is in use"));
    let wanted = program([bare("blue", lookup)]);
    assert!(!bench.deploy(&wanted).succeeded());
    assert_eq!(world.cloud().things.len(), 2);
    world.calls();
    (world, wanted)
}

/// RECONCILE-4: the search used to end under the first name, and the old object was adopted in place of the live one.
#[test]
fn two_objects_without_marks_stop_the_run() {
    for lookup in ["exact", "nameless"] {
        let (world, wanted) = replaced_halfway(lookup);
        let lost = bench(&world);
        let refused = lost.refused(&wanted);
        assert!(refused.contains("2 objects could be x_bare.a"), "{refused}");
        assert!(refused.contains("trueup import x_bare.a ID"), "{refused}");
        let names: Vec<String> = world.cloud().things.values().map(|it| it.name.clone()).collect();
        assert_eq!(names.iter().all(|name| refused.contains(name)), lookup == "exact", "{refused}");
        assert!(lost.try_deploy(&wanted).is_err());
        assert_eq!(world.cloud().things.len(), 2);
        assert!(lost.records().is_empty());
        // The old one is deleted by hand, and the live one is found.
        world.cloud().things.retain(|_, it| it.colour == "blue");
        lost.deployed(&wanted);
        assert_eq!(world.cloud().things.len(), 1);
        assert!(lost.plan(&wanted).ends_with("No changes"));
    }
}

/// RECONCILE-4: also where the search is left to apply, because an input is not known before (ADOPT-6).
#[test]
fn two_objects_without_marks_stop_a_late_search() {
    use crate::lifecycle::world::{output, thing};
    let world = World::default();
    let first = bench(&world);
    first.deployed(&program([thing("up", 1), bare("red", "exact")]));
    world.fail("delete a", Failure::new(FailureClass::Conflict, "it is in use"));
    let url = || ("colour", output("w_thing.up", "url"));
    let wanted = program([thing("up", 2), resource("x_bare.a", [url(), ("lookup", lit("exact"))])]);
    assert!(!first.deploy(&wanted).succeeded());
    let lost = bench(&world);
    let grown = program([thing("up", 3), resource("x_bare.a", [url(), ("lookup", lit("exact"))])]);
    let report = lost.deploy(&grown);
    assert!(format!("{:?}", report.outcome("x_bare.a")).contains("2 objects could be"), "{report:?}");
    assert_eq!(world.cloud().things.len(), 3);
}

/// RECONCILE-4: a lookup that ignores the name finds one object under every name. It counts once.
#[test]
fn an_object_that_is_found_under_every_name_is_one() {
    let world = World::default();
    let wanted = program([bare("red", "any")]);
    bench(&world).deployed(&wanted);
    let lost = bench(&world);
    assert!(lost.plan(&wanted).contains("adopted"));
    lost.deployed(&wanted);
    assert_eq!(world.cloud().things.len(), 1);
}

/// RECONCILE-4: the second name is looked under once, and no others are.
#[test]
fn one_object_without_marks_is_adopted() {
    let world = World::default();
    let wanted = program([bare("red", "exact")]);
    bench(&world).deployed(&wanted);
    world.calls();
    let lost = bench(&world);
    assert!(lost.plan(&wanted).contains("adopted"));
    assert_eq!(world.calls(), ["lookup a", "lookup a"]);
}
