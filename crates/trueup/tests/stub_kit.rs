//! The kit's checks of stubs: a type with one of these bugs fails the check that is meant for it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shelf;

use shelf::{Shelf, Thing};
use tokio::task::yield_now;
use trueup::conformance::{CheckReport, Kit, Outcome};
use trueup::{
    Context, Converge, Current, Inputs, NativeProvider, Outputs, Recovery, Result, Sightings, Value, value,
};

/// What is wrong with the type; `None` for nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Bug {
    None,
    ReconcileMakesAnother,
    StubHasAnotherName,
    StubStaysAStub,
}

#[derive(Clone)]
struct World {
    bug: Bug,
    shelf: Shelf,
}

#[derive(Inputs)]
struct NoSettings {}

#[derive(Inputs)]
struct Peg {
    size: u64,
}

#[derive(Outputs)]
struct PegOutput {
    #[trueup(identity)]
    id: u64,
    #[trueup(mirrors = "size")]
    size: u64,
}

impl Converge for Peg {
    type Output = PegOutput;
    type Config = World;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn reconcile(&self, context: &Context<World>, current: &Current<Self>) -> Result<PegOutput> {
        let World { bug, shelf } = context.config();
        let thing = Thing { name: context.physical_name(), size: self.size, tags: context.tags() };
        let known = current.output.as_ref().map(|output| (output.id, output.size));
        yield_now().await;
        match known {
            Some((id, 0)) if *bug == Bug::StubStaysAStub => Ok(PegOutput { id, size: self.size }),
            Some((id, 0)) if *bug == Bug::ReconcileMakesAnother => {
                shelf.get(id)?;
                Ok(PegOutput { id: shelf.put(thing), size: self.size })
            }
            Some((id, _)) => {
                shelf.set(id, thing)?;
                Ok(PegOutput { id, size: self.size })
            }
            None => Ok(PegOutput { id: shelf.put(thing), size: self.size }),
        }
    }

    async fn read(
        &self,
        context: &Context<World>,
        prior: Option<&PegOutput>,
    ) -> Result<Sightings<PegOutput>> {
        let shelf = &context.config().shelf;
        let found = match prior {
            Some(prior) => Some((prior.id, shelf.get(prior.id)?)),
            None => shelf.named(&context.physical_name()),
        };
        Ok(found.map_or_else(Sightings::absent, |(id, thing)| {
            Sightings::recognised(PegOutput { id, size: thing.size }, context.recognise(&thing.tags))
        }))
    }

    fn stub(_: &PegView) -> Option<Value> {
        Some(value!({ size: 0 }))
    }

    async fn precreate(&self, context: &Context<World>) -> Result<PegOutput> {
        let World { bug, shelf } = context.config();
        let renamed = *bug == Bug::StubHasAnotherName;
        let name = if renamed { "stub".to_owned() } else { context.physical_name() };
        let id = shelf.put(Thing { name, size: 0, tags: context.tags() });
        yield_now().await;
        Ok(PegOutput { id, size: 0 })
    }

    async fn delete(&self, context: &Context<World>, output: &PegOutput) -> Result<()> {
        context.config().shelf.take(output.id)
    }
}

async fn report(bug: Bug) -> CheckReport {
    let shelf = Shelf::default();
    let world = World { bug, shelf: shelf.clone() };
    let configure = move |_: NoSettings| {
        let world = world.clone();
        async move { Ok(world) }
    };
    let provider = NativeProvider::configured("p", configure).converge::<Peg>("peg");
    let kit = Kit::new(provider, "p_peg", value!({ size: 1 })).await.unwrap();
    kit.counted_by(move || {
        let things = shelf.len();
        async move { things }
    })
    .run()
    .await
}

#[test]
fn each_bug_of_a_stub_fails_the_check_that_is_meant_for_it() {
    let (becomes, cut_off) = ("a_stub_becomes_the_object", "a_stub_cut_off_anywhere_is_recovered");
    let sound = trueup::run(report(Bug::None));
    assert_eq!(sound.outcome(becomes), Some(&Outcome::Passed), "{sound}");
    assert_eq!(sound.outcome(cut_off), Some(&Outcome::Passed), "{sound}");
    for (bug, check) in [
        (Bug::ReconcileMakesAnother, becomes),
        (Bug::StubStaysAStub, becomes),
        (Bug::StubHasAnotherName, cut_off),
    ] {
        let report = trueup::run(report(bug));
        assert!(matches!(report.outcome(check), Some(Outcome::Failed(_))), "{bug:?}: {report}");
    }
}
