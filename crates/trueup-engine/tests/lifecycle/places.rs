//! DELETE-8, DELETE-11, DRIFT-11: providers whose configuration decides which objects are seen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use trueup_core::{Marks, Secret, Type, Value};
use trueup_engine::Outcome;
use trueup_program::{Expression, Node, Program, ProviderDeclaration, ResourceDeclaration};
use trueup_provider::{
    Context, Crud, Error, Found, GenerationNumber, Inputs, NativeProvider, Outputs, Ownership, Prior,
    Recovery, Registry, Result, Sightings, Traits,
};
use trueup_state::{Scope, Store};

use crate::lifecycle::world::{Bench, address, lit, program, resource};

/// What stands where: by region and name, with its size. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Regions(Arc<Mutex<Books>>);

#[derive(Default)]
pub(super) struct Books {
    pub(super) sites: BTreeMap<(String, String), Standing>,
    /// How many were ever built.
    built: u64,
    /// Passwords that no longer let anyone in.
    revoked: Vec<String>,
    /// Whether the connection breaks with the next create, after its effect.
    breaks: bool,
    broken: bool,
    /// Whether what was built cannot be seen yet.
    hidden: bool,
    /// Whether another site of the same name counts as another one when it is read.
    pub(super) told_by_serial: bool,
}

pub(super) struct Standing {
    pub(super) size: u64,
    serial: u64,
    foreign: bool,
    /// The generation that its marks name.
    pub(super) generation: Option<GenerationNumber>,
}

impl Books {
    fn build(&mut self, key: (String, String), size: u64, foreign: bool) -> u64 {
        let serial = match self.sites.get(&key) {
            Some(standing) => standing.serial,
            None => {
                self.built += 1;
                self.built
            }
        };
        let generation = self.sites.get(&key).and_then(|standing| standing.generation);
        self.sites.insert(key, Standing { size, serial, foreign, generation });
        serial
    }
}

impl Regions {
    /// Somebody else builds.
    pub(super) fn put(&self, region: &str, name: &str, size: u64) {
        self.books().build((region.to_owned(), name.to_owned()), size, true);
    }

    pub(super) fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }

    pub(super) fn shown(&self) -> Vec<String> {
        self.books().sites.iter().map(|((region, name), it)| format!("{region}/{name}={}", it.size)).collect()
    }
}

#[derive(Inputs)]
struct Settings {
    region: Option<String>,
    #[trueup(secret)]
    password: Option<Secret<String>>,
}

struct Account {
    regions: Regions,
    region: String,
    password: String,
    tells_places: bool,
}

#[derive(Inputs)]
struct Site {
    #[trueup(replace, identity)]
    name: String,
    #[trueup(replace, default)]
    style: String,
    #[trueup(default = 1)]
    size: u64,
}

#[derive(Outputs)]
struct SiteOutput {
    name: String,
    size: u64,
    #[trueup(stable)]
    serial: u64,
}

impl Site {
    fn key(&self, context: &Context<Account>) -> Result<(String, String)> {
        let account = context.config();
        let books = account.regions.books();
        if books.broken {
            return Err(Error::denied("the connection is broken"));
        }
        match books.revoked.contains(&account.password) {
            true => Err(Error::denied("the password is not valid")),
            false => Ok(self.spot(account)),
        }
    }

    /// Region and name, however they are spelled: `a` and `./a` are in the account's region, `/west/a` is in the west.
    fn spot(&self, account: &Account) -> (String, String) {
        let absolute = self.name.strip_prefix('/').and_then(|name| name.split_once('/'));
        let relative = self.name.strip_prefix("./").unwrap_or(&self.name);
        let (region, name) = absolute.unwrap_or((&account.region, relative));
        (region.to_owned(), name.to_owned())
    }

    fn put(&self, context: &Context<Account>) -> Result<SiteOutput> {
        let key = self.key(context)?;
        let serial = context.config().regions.books().build(key, self.size, false);
        Ok(SiteOutput { name: self.name.clone(), size: self.size, serial })
    }

    /// What is seen, and whose it is.
    fn see(&self, context: &Context<Account>) -> Result<Option<(SiteOutput, Ownership)>> {
        let key = self.key(context)?;
        let books = context.config().regions.books();
        let output = |it: &Standing| SiteOutput { name: self.name.clone(), size: it.size, serial: it.serial };
        let ownership = |it: &Standing| match it.foreign {
            true => Ownership::Unowned,
            false => Ownership::Owned { generation: it.generation },
        };
        Ok(books.sites.get(&key).filter(|_| !books.hidden).map(|it| (output(it), ownership(it))))
    }
}

impl Crud for Site {
    type Output = SiteOutput;
    type Config = Account;

    fn traits() -> Traits {
        Traits { tells_place: true, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    fn place(&self, account: &Account) -> Option<Value> {
        let (region, name) = self.spot(account);
        account.tells_places.then(|| Value::from(format!("{region}/{name}")))
    }

    async fn create(&self, context: &Context<Account>) -> Result<SiteOutput> {
        if self.see(context)?.is_some() {
            return Err(Error::already_exists("a site of this name stands there"));
        }
        let made = self.put(context)?;
        // Whoever cuts a run off may do so between the effect and the answer.
        tokio::task::yield_now().await;
        let mut books = context.config().regions.books();
        books.broken = std::mem::take(&mut books.breaks);
        if books.broken { Err(Error::indeterminate("no answer")) } else { Ok(made) }
    }

    async fn read(&self, context: &Context<Account>, known: &SiteOutput) -> Result<SiteOutput> {
        let told_by_serial = context.config().regions.books().told_by_serial;
        let seen = self.see(context)?.map(|(seen, _)| seen);
        seen.filter(|seen| !told_by_serial || seen.serial == known.serial)
            .ok_or_else(|| Error::not_found("no such site"))
    }

    async fn update(&self, context: &Context<Account>, _: &Prior<Self>) -> Result<SiteOutput> {
        self.put(context)
    }

    async fn delete(&self, context: &Context<Account>, _: &SiteOutput) -> Result<()> {
        let key = self.key(context)?;
        let gone = context.config().regions.books().sites.remove(&key);
        tokio::task::yield_now().await;
        gone.map(drop).ok_or_else(|| Error::not_found("no such site"))
    }

    async fn lookup(&self, context: &Context<Account>) -> Result<Sightings<Found<Self, SiteOutput>>> {
        Ok(match self.see(context)? {
            Some((outputs, ownership)) => {
                let inputs = Site { name: self.name.clone(), style: self.style.clone(), size: outputs.size };
                Sightings::recognised(Found { inputs, outputs }, ownership)
            }
            None => Sightings::absent(),
        })
    }
}

/// A bench with the provider `p`.
pub(super) fn bench() -> (Bench, Regions) {
    bench_of(false)
}

/// Two benches: of types that tell places, and of those that do not.
pub(super) fn benches() -> [(Bench, Regions); 2] {
    [true, false].map(bench_of)
}

pub(super) fn bench_of(tells_places: bool) -> (Bench, Regions) {
    let mut bench = Bench::new();
    let regions = Regions::default();
    let of = regions.clone();
    let provider = NativeProvider::configured("p", move |settings: Settings| {
        let regions = of.clone();
        async move {
            let region = settings.region.unwrap_or_else(|| "home".to_owned());
            let password = settings.password.map(|it| it.expose().clone()).unwrap_or_default();
            Ok(Account { regions, region, password, tells_places })
        }
    });
    bench.others = Registry::new().with(provider.crud::<Site>("site"));
    (bench, regions)
}

pub(super) fn site(name: &str, size: u64) -> ResourceDeclaration {
    resource(&format!("p_site.{name}"), [("name", lit(name)), ("size", lit(size))])
}

/// The same program with a block `provider "p"`.
pub(super) fn configured<const N: usize>(mut program: Program, config: [(&str, Expression); N]) -> Program {
    let entries = config.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let config = Expression::new(Node::Object(entries));
    program.providers.push(ProviderDeclaration { name: "p".into(), config });
    program
}

fn unknown() -> Expression {
    Value::unknown(Type::String).into()
}

/// DELETE-11: the block went, and the object is deleted where it was made.
#[test]
fn what_was_made_by_a_block_that_went_is_deleted_where_it_is() {
    for destroyed in [false, true] {
        let (bench, regions) = bench();
        bench.deployed(&configured(program([site("a", 1)]), [("region", lit("west"))]));
        regions.put("home", "a", 7);
        match destroyed {
            true => assert!(bench.destroy().succeeded()),
            false => drop(bench.deployed(&program([]))),
        }
        assert_eq!(regions.shown(), ["home/a=7"], "what is elsewhere is somebody else's");
        assert!(bench.records().is_empty());
        let snapshot = bench.run(bench.store.load(&Scope::new("stack", "test"))).unwrap();
        assert!(snapshot.configurations.is_empty(), "nothing uses it any more");
    }
}

/// DELETE-11: the block leads elsewhere by now; *not found* there proves nothing.
#[test]
fn what_a_changed_block_does_not_find_is_deleted_where_it_was_made() {
    for destroyed in [false, true] {
        let (bench, regions) = bench();
        bench.deployed(&configured(program([site("a", 1)]), [("region", lit("west"))]));
        let east = configured(program([]), [("region", lit("east"))]);
        match destroyed {
            true => assert!(bench.destroy_of(&east).succeeded()),
            false => drop(bench.deployed(&east)),
        }
        assert_eq!(regions.shown(), [""; 0]);
        assert!(bench.records().is_empty());
    }
}

/// DELETE-11, DRIFT-10: an object that is too new to be seen anywhere is deleted where it was made.
#[test]
fn what_neither_block_sees_yet_is_deleted_where_it_was_made() {
    for destroyed in [false, true] {
        let (bench, regions) = bench();
        bench.deployed(&configured(program([site("a", 1)]), [("region", lit("west"))]));
        regions.books().hidden = true;
        let east = configured(program([]), [("region", lit("east"))]);
        match destroyed {
            true => assert!(bench.destroy_of(&east).succeeded()),
            false => drop(bench.deployed(&east)),
        }
        assert_eq!(regions.shown(), [""; 0]);
        assert!(bench.records().is_empty());
    }
}

/// DRIFT-11: what is declared moves with its provider, and nothing stays behind.
#[test]
fn what_is_declared_moves_to_where_its_provider_leads() {
    let (bench, regions) = bench();
    bench.deployed(&configured(program([site("a", 1)]), [("region", lit("west"))]));
    let east = configured(program([site("a", 2)]), [("region", lit("east"))]);
    let plan = bench.plan(&east);
    assert!(plan.contains("provider-changed"), "{plan}");
    bench.deployed(&east);
    assert_eq!(regions.shown(), ["east/a=2"]);
    assert!(bench.plan(&east).ends_with("No changes"));
    bench.deployed(&program([site("a", 2)]));
    assert_eq!(regions.shown(), ["home/a=2"]);
}

/// DRIFT-11: what was removed outside is made again, where the program says.
#[test]
fn what_is_in_neither_place_is_made_again() {
    let (bench, regions) = bench();
    bench.deployed(&configured(program([site("a", 1)]), [("region", lit("west"))]));
    regions.books().sites.clear();
    let report = bench.deployed(&configured(program([site("a", 1)]), [("region", lit("east"))]));
    assert!(report.plan.to_string().contains("gone"), "{}", report.plan);
    assert_eq!(regions.shown(), ["east/a=1"]);
}

/// DELETE-8: the variables of a provider block need not be given to destroy.
#[test]
fn a_destroy_needs_no_variables_of_provider_blocks() {
    let (bench, regions) = bench();
    let declared = |region| configured(program([site("a", 1), site("b", 1)]), [("region", region)]);
    bench.deployed(&declared(lit("west")));
    assert!(bench.destroy_of(&declared(unknown())).succeeded());
    assert_eq!(regions.shown(), [""; 0]);
    assert!(bench.records().is_empty());
}

/// DELETE-11: values of one run alone are not recorded; whoever needs them is told, and nothing is touched.
#[test]
fn what_is_missing_to_delete_is_told_before_anything_is_deleted() {
    let (bench, regions) = bench();
    let password = || lit(Value::from("of-one-run").with_marks(Marks::EPHEMERAL));
    let declared = |region: Expression, password: Expression| {
        configured(program([site("a", 1)]), [("region", region), ("password", password)])
    };
    bench.deployed(&declared(lit("west"), password()));
    let recorded = bench.run(bench.store.load(&Scope::new("stack", "test"))).unwrap();
    assert!(!format!("{:?}", recorded.configurations).contains("of-one-run"));

    let told = bench.try_destroy(&program([])).unwrap_err().to_string();
    assert!(told.contains("without `password`, which was ephemeral"), "{told}");
    assert!(told.contains("put its `provider` block back"), "{told}");
    let told = bench.try_destroy(&declared(unknown(), unknown())).unwrap_err().to_string();
    assert!(told.contains("give the variables that its `provider` block uses"), "{told}");
    assert_eq!((regions.shown(), bench.records().len()), (vec!["west/a=1".to_owned()], 1));

    // Where the program says enough, that is enough.
    assert!(bench.destroy_of(&declared(lit("west"), password())).succeeded());
    assert_eq!(regions.shown(), [""; 0]);
}

/// DELETE-11: another password is no other place: one that is not valid any more is in nobody's way.
#[test]
fn a_new_password_is_no_other_place() {
    let (bench, regions) = bench();
    let declared = |password: &str, size| {
        let secret = lit(Value::from(password).into_secret());
        configured(program([site("a", size)]), [("region", lit("west")), ("password", secret)])
    };
    bench.deployed(&declared("first-password", 1));
    regions.books().revoked.push("first-password".to_owned());
    assert!(bench.plan(&declared("second-password", 1)).ends_with("No changes"));
    regions.books().sites.clear();
    bench.deployed(&declared("second-password", 1));
    assert_eq!(regions.shown(), ["west/a=1"]);

    // Of another place nobody knows, if it cannot be looked at.
    regions.books().revoked.push("second-password".to_owned());
    let east = configured(program([site("a", 1)]), [("region", lit("east"))]);
    let told = bench.refused(&east);
    assert!(told.contains("the configuration of provider `p` changed since it was made"), "{told}");
    let report = bench.deploy(&configured(program([]), [("region", lit("east"))]));
    assert!(matches!(report.outcome("p_site.a"), Some(Outcome::Failed(_))), "{:?}", report.outcomes);
    assert_eq!(bench.records().len(), 1);
}

/// DELETE-11, CRASH-1: what came of a create is where the create was sent.
#[test]
fn what_an_interrupted_create_left_elsewhere_goes() {
    for declared in [false, true] {
        let (bench, regions) = bench();
        regions.books().breaks = true;
        let west = configured(program([site("a", 1)]), [("region", lit("west"))]);
        assert!(!bench.deploy(&west).succeeded());
        regions.books().broken = false;
        assert_eq!(regions.shown(), ["west/a=1"]);
        let next = if declared { program([site("a", 1)]) } else { program([]) };
        bench.deployed(&configured(next, [("region", lit("east"))]));
        let expected: &[&str] = if declared { &["east/a=1"] } else { &[] };
        assert_eq!(regions.shown(), expected);
    }
}

/// DELETE-11, REPLACE-2: an object that an interrupted create may have left in another place has users there.
#[test]
fn users_of_what_an_interrupted_create_left_elsewhere_go_before_it() {
    let (bench, regions) = bench();
    let called = |address: &str, name: &str| resource(address, [("name", lit(name))]);
    let used = |name: &str| called("p_site.used", name);
    let user = |name: &str| {
        let depends_on = vec![address("p_site.used")];
        ResourceDeclaration { depends_on, ..called("p_site.user", name) }
    };
    bench.deployed(&west([used("a"), user("b")]));
    // A person deletes it, and the create that follows breaks off after its effect.
    regions.books().sites.remove(&("west".into(), "a".into()));
    regions.books().breaks = true;
    assert!(!bench.deploy(&west([used("a"), user("b")])).succeeded());
    regions.books().broken = false;
    assert_eq!(regions.shown(), ["west/a=1", "west/b=1"]);
    let moved = east([used("c"), user("d")]);
    let plan = bench.plan(&moved);
    assert!(plan.contains("± p_site.used delete first (recovered, provider-changed)"), "{plan}");
    assert!(plan.contains("± p_site.user delete first (provider-changed, upstream-replaced)"), "{plan}");
    bench.deployed(&moved);
    assert_eq!(regions.shown(), ["east/c=1", "east/d=1"]);
}

fn west<const N: usize>(sites: [ResourceDeclaration; N]) -> Program {
    configured(program(sites), [("region", lit("west"))])
}

fn east<const N: usize>(sites: [ResourceDeclaration; N]) -> Program {
    configured(program(sites), [("region", lit("east"))])
}

/// DRIFT-11, ADOPT-3: what stands where the block leads now is somebody else's, however like ours it is.
#[test]
fn what_a_changed_block_finds_of_somebody_else_is_left_alone() {
    for size in [1, 7] {
        for (bench, regions) in benches() {
            bench.deployed(&west([site("a", 1)]));
            regions.put("east", "a", size);
            let plan = bench.plan(&east([site("a", 1)]));
            assert!(plan.contains("provider-changed"), "{plan}");
            assert!(!bench.deploy(&east([site("a", 1)])).succeeded());
            assert!(regions.shown().contains(&format!("east/a={size}")), "{:?}", regions.shown());
            assert!(bench.destroy_of(&east([site("a", 1)])).succeeded());
            assert_eq!(regions.shown(), [format!("east/a={size}")]);
        }
    }
}

/// DELETE-11, ADOPT-3
#[test]
fn what_is_removed_with_a_changed_block_goes_where_it_was_made() {
    for (bench, regions) in benches() {
        bench.deployed(&west([site("a", 1)]));
        regions.put("east", "a", 1);
        bench.deployed(&east([]));
        assert_eq!(regions.shown(), ["east/a=1"]);
    }
}

/// DRIFT-11: a place is no matter of drift.
#[test]
fn what_is_elsewhere_is_replaced_even_if_nobody_looks_for_drift() {
    for (mut bench, regions) in benches() {
        bench.deployed(&west([site("a", 1)]));
        bench.options.plan.drift = false;
        bench.deployed(&east([site("a", 2)]));
        assert_eq!(regions.shown(), ["east/a=2"]);
    }
}

/// DRIFT-11, REPLACE-2: in two places both can exist at once.
#[test]
fn what_moves_to_another_place_is_created_first() {
    let (bench, regions) = bench_of(true);
    bench.deployed(&west([site("a", 1)]));
    let plan = bench.plan(&east([site("a", 1)]));
    assert!(plan.contains("create-first") || plan.contains("create first"), "{plan}");
    let mut kept = site("a", 1);
    kept.options.retain = true;
    bench.deployed(&east([kept]));
    assert_eq!(regions.shown(), ["east/a=1", "west/a=1"]);
}

/// DELETE-9: the same identity in another place is another object.
#[test]
fn names_that_are_swapped_in_another_place_leave_nothing_behind() {
    let (bench, regions) = bench_of(true);
    let named = |address: &str, name: &str| resource(address, [("name", lit(name)), ("size", lit(1u64))]);
    bench.deployed(&west([named("p_site.x", "f"), named("p_site.y", "g")]));
    bench.deployed(&east([named("p_site.x", "g"), named("p_site.y", "f")]));
    assert_eq!(regions.shown(), ["east/f=1", "east/g=1"]);
}

/// ADOPT-4: two configurations of different names lead to one object.
#[test]
fn an_object_has_one_holder_whatever_its_configuration_is_called() {
    for (bench, regions) in benches() {
        let mut twice = west([site("a", 1), resource("p_site.twin", [("name", lit("a"))])]);
        let again = ProviderDeclaration { name: "p.again".into(), ..twice.providers[0].clone() };
        twice.providers.push(again);
        twice.resources[1].provider = Some("p.again".into());
        let told = bench.refused(&twice);
        assert!(told.contains("have one identity"), "{told}");
        assert_eq!(regions.shown(), [""; 0]);
    }
}

/// DELETE-11: a place that is secret, or of one run alone, is a place all the same.
#[test]
fn a_place_that_is_secret_is_a_place() {
    for (bench, regions) in benches() {
        let secret = |region: &str| lit(Value::from(region).into_secret());
        regions.books().breaks = true;
        assert!(
            !bench.deploy(&configured(program([site("a", 1)]), [("region", secret("west"))])).succeeded()
        );
        regions.books().broken = false;
        assert_eq!(regions.shown(), ["west/a=1"]);
        bench.deployed(&configured(program([site("a", 1)]), [("region", secret("east"))]));
        assert_eq!(regions.shown(), ["east/a=1"]);
    }
}

/// DELETE-11: what is of one run alone is not recorded, so nobody can tell whether it was another place.
#[test]
fn a_place_that_is_of_one_run_alone_is_not_taken_for_another() {
    let (bench, regions) = bench_of(true);
    let of_one_run = |region: &str| lit(Value::from(region).with_marks(Marks::EPHEMERAL));
    bench.deployed(&configured(program([site("a", 1)]), [("region", of_one_run("west"))]));
    let told = bench.refused(&configured(program([site("a", 1)]), [("region", of_one_run("east"))]));
    assert!(told.contains("without `region`, which was ephemeral"), "{told}");
    assert!(!bench.destroy_of(&configured(program([]), [("region", of_one_run("east"))])).succeeded());
    assert_eq!(regions.shown(), ["west/a=1"]);
}
