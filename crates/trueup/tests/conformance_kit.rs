//! The kit finds what it is there to find: a type with any one of these bugs fails the check that is meant for it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shelf;

use shelf::{Shelf, Thing, id};
use tokio::task::yield_now;
use trueup::conformance::{CheckReport, Kit, Outcome};
use trueup::handler::State;
use trueup::{
    Context, Crud, Error, Found, Inputs, NativeProvider, Outputs, Ownership, Prior, Recovery, Result, Secret,
    Sightings, value,
};

/// What is wrong with the type; `None` for nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Bug {
    None,
    ReadInventsASize,
    AMirrorLies,
    AnOutputNeverSettles,
    UpdateMakesAnother,
    UpdateDoesNothing,
    CreateClearsTheShelf,
    DeleteMindsWhatIsGone,
    DeleteDoesNothing,
    GoneLooksPresent,
    ReadEchoesTheRecord,
    RepairForgetsTheSize,
    LookupFindsNothing,
    LookupClaimsWhatIsForeign,
    LookupIsPromisedAndMissing,
    CreateLeaksWhenCutOff,
    UpdateIsNotRepeatable,
    DeleteLeaksWhenCutOff,
    TheSecretIsAnOutput,
    TheSecretIsProgress,
    TheSecretIsInAnUpdate,
    TheSecretIsInALookup,
    TheSecretIsInAFailure,
    TheKeyIsAnOutput,
    TheKeyIsInAFailure,
    RepairBreaksItsPlan,
    TakingOverLeavesNoMark,
    ImportInventsASize,
}

impl Bug {
    /// The secret of a resource. The guard finds longer ones in what a type says and answers, so only a short one gets
    /// through.
    fn canary(self) -> &'static str {
        match self {
            Bug::TheSecretIsAnOutput
            | Bug::TheSecretIsProgress
            | Bug::TheSecretIsInAnUpdate
            | Bug::TheSecretIsInALookup
            | Bug::TheSecretIsInAFailure => "%@%",
            _ => "canary",
        }
    }

    /// The secret of the provider's configuration, to which the same applies.
    fn key(self) -> &'static str {
        match self {
            Bug::TheKeyIsAnOutput | Bug::TheKeyIsInAFailure => "!@!",
            _ => "key-of-the-shelf",
        }
    }
}

#[derive(Clone)]
struct World {
    bug: Bug,
    shelf: Shelf,
    key: String,
}

/// The provider's configuration.
#[derive(Inputs)]
struct Settings {
    key: Secret<String>,
}

#[derive(Inputs)]
struct Crate {
    #[trueup(identity, replace)]
    name: String,
    size: u64,
    password: Option<Secret<String>>,
    #[trueup(inject)]
    world: World,
}

#[derive(Outputs)]
struct CrateOutput {
    #[trueup(identity)]
    id: u64,
    #[trueup(mirrors = "name")]
    name: String,
    size: u64,
    noise: u64,
    hint: Option<String>,
    #[trueup(stable)]
    mended: u64,
}

impl Crate {
    fn has(&self, bug: Bug) -> bool {
        self.world.bug == bug
    }

    fn output(&self, id: u64, context: &Context<World>) -> Result<CrateOutput> {
        let thing = self.world.shelf.get(id)?;
        self.world.shelf.note("output");
        let noise =
            if self.has(Bug::AnOutputNeverSettles) { self.world.shelf.world().calls.len() as u64 } else { 0 };
        let password = self.password();
        if let (true, Some(password)) = (self.has(Bug::TheSecretIsProgress), &password) {
            context.report_progress(&format!("using {password}"));
        }
        let hint = match self.world.bug {
            Bug::TheSecretIsAnOutput => password,
            Bug::TheKeyIsAnOutput => Some(context.config().key.clone()),
            _ => None,
        };
        // Alone, it would be marked.
        let hint = hint.map(|secret| format!("it is {secret}"));
        let name = if self.has(Bug::AMirrorLies) { "another".to_owned() } else { self.name.clone() };
        Ok(CrateOutput { id, name, size: thing.size, noise, hint, mended: 0 })
    }

    fn password(&self) -> Option<String> {
        self.password.as_ref().map(|password| password.expose().clone())
    }

    fn thing(&self, context: &Context<World>) -> Thing {
        Thing { name: self.name.clone(), size: self.size, tags: context.tags() }
    }
}

impl Crud for Crate {
    type Output = CrateOutput;
    type Config = World;

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context<World>) -> Result<CrateOutput> {
        let shelf = &self.world.shelf;
        if self.has(Bug::CreateClearsTheShelf) {
            shelf.world().things.clear();
        }
        yield_now().await;
        let mut thing = self.thing(context);
        if self.has(Bug::CreateLeaksWhenCutOff) {
            thing.name = "named later".to_owned();
        }
        let id = shelf.put(thing);
        yield_now().await;
        shelf.set(id, self.thing(context))?;
        yield_now().await;
        self.output(id, context)
    }

    async fn read(&self, context: &Context<World>, prior: &CrateOutput) -> Result<CrateOutput> {
        let mut seen = match self.output(prior.id, context) {
            Err(_) if self.has(Bug::GoneLooksPresent) => {
                let name = self.name.clone();
                CrateOutput { id: prior.id, name, size: prior.size, noise: 0, hint: None, mended: 0 }
            }
            seen => seen?,
        };
        if self.has(Bug::ReadInventsASize) {
            seen.size += 1;
        }
        if self.has(Bug::ReadEchoesTheRecord) {
            seen.size = prior.size;
        }
        Ok(seen)
    }

    async fn update(&self, context: &Context<World>, prior: &Prior<Self>) -> Result<CrateOutput> {
        let shelf = &self.world.shelf;
        let repairs = prior.inputs.size == self.size;
        yield_now().await;
        if self.has(Bug::UpdateMakesAnother) {
            shelf.put(self.thing(context));
        }
        if self.has(Bug::UpdateIsNotRepeatable) && shelf.get(prior.outputs.id)?.size != prior.inputs.size {
            return Err(Error::conflict("it is not as I left it"));
        }
        let idle = self.has(Bug::UpdateDoesNothing) || (repairs && self.has(Bug::RepairForgetsTheSize));
        if !idle {
            let mut thing = self.thing(context);
            if self.has(Bug::TakingOverLeavesNoMark) {
                thing.tags = shelf.get(prior.outputs.id)?.tags;
            }
            let done = shelf.set(prior.outputs.id, thing);
            done.map_err(|error| match self.world.bug {
                Bug::TheSecretIsInAFailure => {
                    Error::fatal(format!("{error}, as {}", self.password().unwrap_or_default()))
                }
                Bug::TheKeyIsInAFailure => Error::fatal(format!("{error}, by {}", context.config().key)),
                _ => error,
            })?;
        }
        yield_now().await;
        let mut output = self.output(prior.outputs.id, context)?;
        if self.has(Bug::TheSecretIsInAnUpdate) {
            output.hint = self.password().map(|password| format!("it is {password}"));
        }
        if repairs && self.has(Bug::RepairBreaksItsPlan) {
            output.mended = 1;
        }
        Ok(output)
    }

    async fn delete(&self, _: &Context<World>, prior: &CrateOutput) -> Result<()> {
        let shelf = &self.world.shelf;
        if self.has(Bug::DeleteDoesNothing) {
            return Ok(());
        }
        if self.has(Bug::DeleteLeaksWhenCutOff) {
            let thing = shelf.get(prior.id)?;
            shelf.take(prior.id)?;
            // Moved aside first: cut off here, nobody knows where it went.
            let aside = shelf.put(thing);
            yield_now().await;
            return shelf.take(aside);
        }
        yield_now().await;
        match shelf.take(prior.id) {
            Err(_) if self.has(Bug::DeleteMindsWhatIsGone) => Err(Error::fatal("it is gone")),
            outcome => outcome,
        }
    }

    async fn lookup(&self, context: &Context<World>) -> Result<Sightings<Found<Self, CrateOutput>>> {
        if self.has(Bug::LookupIsPromisedAndMissing) {
            return Ok(Sightings::unsupported());
        }
        let found = self.world.shelf.named(&self.name).filter(|_| !self.has(Bug::LookupFindsNothing));
        let Some((id, thing)) = found else { return Ok(Sightings::absent()) };
        let ownership = match context.recognise(&thing.tags) {
            Ownership::Unowned if self.has(Bug::LookupClaimsWhatIsForeign) => {
                Ownership::Owned { generation: None }
            }
            ownership => ownership,
        };
        let inputs = Crate { name: thing.name, size: thing.size, password: None, world: self.world.clone() };
        let mut outputs = self.output(id, context)?;
        if self.has(Bug::TheSecretIsInALookup) {
            outputs.hint = self.password().map(|password| format!("it is {password}"));
        }
        Ok(Sightings::recognised(Found { inputs, outputs }, ownership))
    }

    async fn import(&self, context: &Context<World>, id: &str) -> Result<Found<Self, CrateOutput>> {
        let world = context.config().clone();
        let id = id.parse()?;
        let thing = world.shelf.get(id)?;
        let inputs = Crate { name: thing.name, size: thing.size, password: None, world };
        let mut outputs = inputs.output(id, context)?;
        if inputs.has(Bug::ImportInventsASize) {
            outputs.size += 1;
        }
        Ok(Found { inputs, outputs })
    }
}

/// The kit for a type with a bug, told everything but how to count.
async fn kit_without_census(bug: Bug, shelf: &Shelf) -> Kit {
    let world = World { bug, shelf: shelf.clone(), key: String::new() };
    let configured = world.clone();
    let configure = move |Settings { key }: Settings| {
        let world = World { key: key.expose().clone(), ..configured.clone() };
        async move { Ok(world) }
    };
    let provider =
        NativeProvider::configured("z", configure).crud_with::<Crate>("crate", move || world.clone());
    let (tamper, remove, taken) = (shelf.clone(), shelf.clone(), shelf.clone());
    let inputs = |size: u64| value!({ name: "a", size: size, password: (bug.canary()) });
    let config = value!({ key: (bug.key()) });
    let kit = Kit::configured(provider, &config, "z_crate", inputs(1)).await.unwrap();
    kit.updated(inputs(2))
        .replaced(value!({ name: "b", size: 1 }))
        .secret(bug.canary())
        .tampered_by(move |state: State| {
            let thing = tamper.get(id(&state.outputs)).unwrap();
            tamper.set(id(&state.outputs), Thing { size: 99, ..thing }).unwrap();
            async {}
        })
        .removed_by(move |state: State| {
            remove.take(id(&state.outputs)).unwrap();
            async {}
        })
        .marked()
        .imported_as(|state| id(&state.outputs).to_string())
        .taken_by(move |_, _| {
            taken.put(Thing { name: "a".to_owned(), ..Thing::default() });
            async {}
        })
}

async fn report(bug: Bug) -> CheckReport {
    let shelf = Shelf::default();
    let kit = kit_without_census(bug, &shelf).await;
    let counted = kit.counted_by(move || {
        let things = shelf.len();
        async move { things }
    });
    counted.run().await
}

/// What exists in state alone still reads as present after it was deleted, and only the author can say so.
#[test]
fn a_type_kept_in_state_need_not_be_seen_to_be_gone() {
    trueup::run(async {
        let kit = kit_without_census(Bug::DeleteDoesNothing, &Shelf::default()).await.kept_in_state();
        assert_eq!(kit.run().await.outcome("deleting_twice_succeeds"), Some(&Outcome::Passed));
    });
}

#[test]
fn a_sound_type_passes_every_check() {
    let report = trueup::run(report(Bug::None));
    assert!(report.checks.iter().all(|(_, outcome)| *outcome == Outcome::Passed), "{report}");
}

/// RECONCILE-3, CRASH-7, DELETE-2, DRIFT-2: the kit sees a type that breaks them.
#[test]
fn each_bug_fails_the_check_that_is_meant_for_it() {
    let meant = [
        (Bug::ReadInventsASize, "what_create_answers_is_what_read_finds"),
        (Bug::AMirrorLies, "planned_outputs_come_true"),
        (Bug::AnOutputNeverSettles, "a_plan_after_create_is_empty"),
        (Bug::UpdateMakesAnother, "applying_twice_changes_nothing"),
        (Bug::UpdateDoesNothing, "an_update_reaches_the_new_inputs"),
        (Bug::CreateClearsTheShelf, "a_replacement_makes_another_object"),
        (Bug::DeleteMindsWhatIsGone, "deleting_twice_succeeds"),
        (Bug::DeleteDoesNothing, "deleting_twice_succeeds"),
        (Bug::GoneLooksPresent, "a_vanished_object_is_seen_as_gone"),
        (Bug::ReadEchoesTheRecord, "a_changed_object_is_seen_and_repaired"),
        (Bug::RepairForgetsTheSize, "a_changed_object_is_seen_and_repaired"),
        (Bug::LookupFindsNothing, "ones_own_object_is_found_as_owned"),
        (Bug::LookupFindsNothing, "a_create_whose_answer_was_lost_is_recovered"),
        (Bug::LookupClaimsWhatIsForeign, "a_foreign_object_is_found_as_unowned"),
        (Bug::LookupIsPromisedAndMissing, "nothing_is_found_before_it_exists"),
        (Bug::CreateLeaksWhenCutOff, "a_create_cut_off_anywhere_is_recovered"),
        (Bug::UpdateIsNotRepeatable, "an_update_cut_off_anywhere_is_repeated"),
        (Bug::DeleteLeaksWhenCutOff, "a_delete_cut_off_anywhere_is_repeated"),
        (Bug::TheSecretIsAnOutput, "secrets_are_marked_and_never_told"),
        (Bug::TheSecretIsProgress, "secrets_are_marked_and_never_told"),
        (Bug::TheSecretIsInAnUpdate, "secrets_are_marked_and_never_told"),
        (Bug::TheSecretIsInALookup, "secrets_are_marked_and_never_told"),
        (Bug::TheSecretIsInAFailure, "secrets_are_marked_and_never_told"),
        (Bug::TheKeyIsAnOutput, "secrets_are_marked_and_never_told"),
        (Bug::TheKeyIsInAFailure, "secrets_are_marked_and_never_told"),
        (Bug::RepairBreaksItsPlan, "a_changed_object_is_seen_and_repaired"),
        (Bug::TakingOverLeavesNoMark, "a_foreign_object_that_is_taken_over_is_ones_own"),
        (Bug::ImportInventsASize, "an_object_is_imported_by_its_id"),
    ];
    for (bug, check) in meant {
        let report = trueup::run(report(bug));
        assert!(
            matches!(report.outcome(check), Some(Outcome::Failed(_))),
            "{bug:?} was not caught:\n{report}"
        );
    }
}

/// Whether something leaked or was made twice shows only when someone counts.
#[test]
fn without_a_census_nothing_counts_as_recovered() {
    trueup::run(async {
        for bug in
            [Bug::None, Bug::CreateLeaksWhenCutOff, Bug::LookupFindsNothing, Bug::DeleteLeaksWhenCutOff]
        {
            let shelf = Shelf::default();
            let report = kit_without_census(bug, &shelf).await.run().await;
            for check in [
                "a_create_cut_off_anywhere_is_recovered",
                "a_create_whose_answer_was_lost_is_recovered",
                "a_delete_cut_off_anywhere_is_repeated",
            ] {
                let why = "the kit was not told how to count objects, without which a leak goes unseen";
                assert_eq!(
                    report.outcome(check),
                    Some(&Outcome::Skipped(why.to_owned())),
                    "{bug:?}:\n{report}"
                );
            }
        }
    });
}

/// The check of secrets provokes failures; a type that leaks one is still left with nothing to clean up.
#[test]
fn the_check_of_secrets_leaves_nothing_behind() {
    trueup::run(async {
        for bug in
            [Bug::None, Bug::TheSecretIsInAnUpdate, Bug::TheSecretIsInALookup, Bug::TheSecretIsInAFailure]
        {
            let shelf = Shelf::default();
            kit_without_census(bug, &shelf).await.run().await;
            assert_eq!(shelf.len(), 0, "{bug:?}");
        }
    });
}

#[test]
fn a_report_of_nothing_but_skips_has_not_passed() {
    let skipped = || Outcome::Skipped("no help".to_owned());
    let report = |checks| CheckReport { checks };
    assert!(!report(vec![]).passed());
    assert!(!report(vec![("a", skipped())]).passed());
    assert!(report(vec![("a", skipped()), ("b", Outcome::Passed)]).passed());
    assert!(!report(vec![("a", Outcome::Failed("no".to_owned())), ("b", Outcome::Passed)]).passed());
}
