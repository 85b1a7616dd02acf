//! Deletes on a server that lags: new objects are not found yet, deleted ones stay for a while.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use trueup_engine::Outcome;
use trueup_program::ResourceDeclaration;
use trueup_provider::{
    Clock as _, Context, Converge, Current, DeleteEnd, Error, Inputs, NativeProvider, NoConfig, Outputs,
    Recovery, Registry, Result, Sightings, Traits,
};
use trueup_state::Status;

use crate::lifecycle::world::{Bench, lit, program, resource};

const WINDOW: Duration = Duration::from_secs(10);

thread_local! {
    static SERVER: RefCell<Server> = RefCell::default();
}

/// Objects by their numbers.
#[derive(Default)]
struct Server {
    objects: Vec<Object>,
    /// How long new objects are not found.
    late: Duration,
    /// How long deleted objects stay.
    lingering: Duration,
    reads: usize,
    /// Whether the next create is lost on its way.
    losing: bool,
    /// Whether reads are denied.
    denying: bool,
    /// Whether creates are answered with the object that is there.
    sharing: bool,
}

struct Object {
    name: String,
    found_from: SystemTime,
    gone_from: Option<SystemTime>,
}

impl Object {
    fn exists(&self, now: SystemTime) -> bool {
        self.gone_from.is_none_or(|gone| now < gone)
    }

    fn is_found(&self, now: SystemTime) -> bool {
        self.exists(now) && self.found_from <= now
    }
}

fn server<T>(use_it: impl FnOnce(&mut Server) -> T) -> T {
    SERVER.with_borrow_mut(use_it)
}

#[derive(Outputs)]
struct Row {
    #[trueup(identity)]
    id: u64,
}

#[derive(Inputs)]
struct Lagging {
    #[trueup(replace, default = "red")]
    colour: String,
    /// Seconds.
    #[trueup(default = 10)]
    window: u64,
    #[trueup(default = true)]
    readable: bool,
    /// Whether a delete leaves the object in place.
    #[trueup(default = false)]
    kept: bool,
    /// Whether a read may be unable to tell that the object is gone.
    #[trueup(default = false)]
    unsure: bool,
    /// Whether creates are repeated with their token.
    #[trueup(default = false)]
    token: bool,
}

impl Converge for Lagging {
    type Output = Row;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { consistency_window: WINDOW, ..Traits::default() }
    }

    fn consistency_window(&self) -> Duration {
        Duration::from_secs(self.window)
    }

    fn recovery(&self) -> Recovery {
        if self.token { Recovery::Token } else { Recovery::Lookup }
    }

    fn delete_end(&self) -> DeleteEnd {
        match (self.kept, self.unsure) {
            (true, _) => DeleteEnd::Answered,
            (false, true) => DeleteEnd::GoneOrAnswered,
            (false, false) => DeleteEnd::Gone,
        }
    }

    async fn reconcile(&self, context: &Context, current: &Current<Self>) -> Result<Row> {
        if let Some(known) = &current.output {
            return Ok(Row { id: known.id });
        }
        if server(|server| std::mem::take(&mut server.losing)) {
            return Err(Error::indeterminate("no answer"));
        }
        let (name, now) = (context.physical_name(), context.clock.now());
        Ok(server(|server| {
            let there = server.objects.iter().position(|it| it.exists(now));
            if let Some(id) = there.filter(|_| server.sharing) {
                return Row { id: id as u64 };
            }
            let found_from = now + server.late;
            server.objects.push(Object { name, found_from, gone_from: None });
            Row { id: server.objects.len() as u64 - 1 }
        }))
    }

    async fn read(&self, context: &Context, prior: Option<&Row>) -> Result<Sightings<Row>> {
        if !self.readable {
            return Ok(Sightings::unsupported());
        }
        if server(|server| server.denying) {
            return Err(Error::denied("not allowed"));
        }
        let (name, now) = (context.physical_name(), context.clock.now());
        let found = server(|server| {
            server.reads += 1;
            let mut objects = server.objects.iter().enumerate();
            objects
                .find(|(id, it)| match prior {
                    Some(prior) => *id as u64 == prior.id && it.is_found(now),
                    None => it.name == name && it.is_found(now),
                })
                .map(|(id, _)| id as u64)
        });
        Ok(found.map_or_else(Sightings::absent, |id| Sightings::owned(Row { id })))
    }

    async fn delete(&self, context: &Context, output: &Row) -> Result<()> {
        if self.kept {
            return Ok(());
        }
        let now = context.clock.now();
        server(|server| {
            let lingering = server.lingering;
            match server.objects.get_mut(output.id as usize).filter(|it| it.is_found(now)) {
                Some(object) => {
                    object.gone_from.get_or_insert(now + lingering);
                    Ok(())
                }
                None => Err(Error::not_found("there is none")),
            }
        })
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("x").converge::<Lagging>("row"));
    bench
}

/// A row that cannot be read: nobody has waited for it to appear.
fn unread() -> ResourceDeclaration {
    resource("x_row.a", [("readable", lit(false))])
}

fn row() -> ResourceDeclaration {
    resource("x_row.a", [])
}

/// How many objects there are.
fn existing(bench: &Bench) -> usize {
    let now = bench.now();
    server(|server| server.objects.iter().filter(|it| it.exists(now)).count())
}

fn timed<T>(bench: &Bench, work: impl FnOnce() -> T) -> (T, Duration) {
    let before = bench.now();
    let done = work();
    (done, bench.now().duration_since(before).unwrap())
}

fn pass(bench: &Bench, time: Duration) {
    bench.run(async { bench.clock.sleep(time).await });
}

/// DELETE-2: an object that was just created used to be reported as deleted, and lived on.
#[test]
fn not_found_within_the_window_does_not_count_as_deleted() {
    let bench = bench();
    server(|server| server.late = Duration::from_secs(5));
    bench.deployed(&program([unread()]));
    let (report, took) = timed(&bench, || bench.destroy());
    assert!(report.succeeded());
    assert_eq!(existing(&bench), 0);
    assert!(took < WINDOW, "{took:?}");
    assert!(bench.records().is_empty());
}

/// DELETE-2: so does an older generation.
#[test]
fn a_replaced_object_is_not_left_behind_within_the_window() {
    let bench = bench();
    server(|server| server.late = Duration::from_secs(5));
    bench.deployed(&program([unread()]));
    bench.deployed(&program([resource("x_row.a", [("readable", lit(false)), ("colour", lit("blue"))])]));
    assert_eq!(existing(&bench), 1);
    assert!(bench.records()["a"].deposed.is_empty());
}

/// DELETE-2, CRASH-1: nor is one that a create just made that is repeated by its token, to learn what there is to delete.
#[test]
fn what_a_repeated_create_makes_is_deleted_within_its_window() {
    let bench = bench();
    server(|server| (server.late, server.losing) = (Duration::from_secs(5), true));
    let inputs = [("readable", lit(false)), ("token", lit(true))];
    assert!(!bench.deploy(&program([resource("x_row.a", inputs)])).succeeded());
    pass(&bench, Duration::from_secs(3600));
    assert!(bench.destroy().succeeded());
    assert_eq!(existing(&bench), 0);
    assert!(bench.records().is_empty());
}

/// DELETE-2: nor one that a killed run left unfinished, whatever the clock says of how long ago that was.
#[test]
fn an_unfinished_object_is_deleted_within_its_window_whatever_the_clock_says() {
    for waits in 0.. {
        let bench = bench();
        server(|server| server.objects.clear());
        let finished = bench.deploy_cut_off(&program([row()]), waits);
        if finished {
            break;
        }
        pass(&bench, Duration::from_secs(365 * 86_400));
        let found_from = bench.now() + Duration::from_secs(3);
        server(|server| server.objects.iter_mut().for_each(|it| it.found_from = found_from));
        assert!(bench.destroy().succeeded());
        assert_eq!(existing(&bench), 0, "after {waits} waits");
    }
}

/// DELETE-2: by the end of the window it is believed, and past it at once.
#[test]
fn not_found_past_the_window_counts_as_deleted_at_once() {
    let bench = bench();
    for (passed, left) in [(0, 10), (4, 6), (10, 0), (1000, 0)] {
        bench.deployed(&program([unread()]));
        server(|server| server.objects.last_mut().unwrap().gone_from = Some(SystemTime::UNIX_EPOCH));
        pass(&bench, Duration::from_secs(passed));
        let (report, took) = timed(&bench, || bench.destroy());
        assert!(report.succeeded() && bench.records().is_empty());
        assert_eq!(took.as_secs_f64().round() as u64, left);
    }
}

/// DELETE-12: an object that vanishes seconds after its delete used to be adopted by the next deploy.
#[test]
fn a_delete_is_over_when_the_object_is_gone() {
    let bench = bench();
    bench.deployed(&program([row()]));
    server(|server| server.lingering = Duration::from_secs(3));
    let (report, took) = timed(&bench, || bench.destroy());
    assert!(report.succeeded());
    assert_eq!(existing(&bench), 0);
    assert!(took >= Duration::from_secs(3) && took < WINDOW, "{took:?}");
    bench.deployed(&program([row()]));
    pass(&bench, WINDOW);
    assert_eq!(existing(&bench), 1);
}

/// DELETE-12: an object that could not be read after its delete was taken for gone at once, and adopted by the next deploy
/// while it vanished.
#[test]
fn a_delete_that_cannot_be_confirmed_is_over_with_the_window() {
    let bench = bench();
    bench.deployed(&program([row()]));
    server(|server| (server.lingering, server.denying) = (Duration::from_secs(8), true));
    let (report, took) = timed(&bench, || bench.destroy());
    assert!(report.succeeded() && took >= Duration::from_secs(8), "{took:?}");
    server(|server| server.denying = false);
    bench.deployed(&program([row()]));
    pass(&bench, WINDOW);
    assert_eq!(existing(&bench), 1);
}

/// DELETE-9, CRASH-1: a create is repeated to learn what there is to delete, and its object turns out to be another resource's.
/// That one used to lose it.
#[test]
fn what_a_repeated_create_shares_with_another_resource_stays() {
    let bench = bench();
    let of = |name: &str| resource(&format!("x_row.{name}"), [("token", lit(true))]);
    server(|server| server.sharing = true);
    bench.deployed(&program([of("a")]));
    server(|server| server.losing = true);
    assert!(!bench.deploy(&program([of("a"), of("b")])).succeeded());
    bench.deployed(&program([of("a")]));
    assert_eq!(existing(&bench), 1);
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["a"]);
    assert!(bench.destroy().succeeded());
    assert_eq!(existing(&bench), 0);
}

/// DELETE-12, DELETE-5: what outlasts the window stays recorded. The next run asks once more and then believes the answer,
/// so that an object which its API shows for good is no obstacle.
#[test]
fn what_outlasts_its_delete_stays_recorded_for_one_more_run() {
    let bench = bench();
    bench.deployed(&program([row()]));
    server(|server| server.lingering = Duration::from_secs(1_000_000));
    let (report, took) = timed(&bench, || bench.destroy());
    let Some(Outcome::Failed(failure)) = report.outcome("x_row.a") else { panic!("{report:?}") };
    assert!(failure.to_string().contains("still there"), "{failure}");
    assert_eq!(took, WINDOW);
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().status, Status::Deleting);
    let report = bench.destroy();
    assert!(report.succeeded() && bench.records().is_empty());
    assert!(format!("{:?}", report.warnings).contains("still there"), "{:?}", report.warnings);
}

/// DELETE-12: where a read may be unable to tell, the delete is not asked for twice. Such a destroy used to fail once.
#[test]
fn the_answer_to_a_delete_counts_where_reads_may_be_unable_to_tell() {
    let bench = bench();
    let unsure = || resource("x_row.a", [("unsure", lit(true))]);
    bench.deployed(&program([unsure()]));
    server(|server| server.lingering = Duration::from_secs(1_000_000));
    let (report, took) = timed(&bench, || bench.destroy());
    assert!(report.succeeded() && bench.records().is_empty(), "{report:?}");
    assert_eq!(took, WINDOW);
    assert!(format!("{:?}", report.warnings).contains("still there"), "{:?}", report.warnings);
    // Where it can tell, the delete waits no longer than that takes.
    server(|server| {
        server.objects.clear();
        server.lingering = Duration::from_secs(3);
    });
    bench.deployed(&program([unsure()]));
    let (report, took) = timed(&bench, || bench.destroy());
    assert!(report.succeeded() && report.warnings.is_empty() && took < WINDOW, "{took:?}");
}

/// DELETE-12, DELETE-5: declared again, it is made anew beside what is being deleted.
#[test]
fn what_is_declared_again_while_it_vanishes_is_made_anew() {
    let bench = bench();
    bench.deployed(&program([row()]));
    server(|server| server.lingering = Duration::from_secs(14));
    assert!(!bench.destroy().succeeded());
    bench.deployed(&program([row()]));
    pass(&bench, WINDOW * 2);
    assert_eq!(existing(&bench), 1);
    assert!(bench.plan(&program([row()])).ends_with("No changes"));
}

/// DELETE-12: types without a window are read no more than before, nor are those that cannot read or leave the object.
#[test]
fn only_types_with_a_window_confirm_their_deletes() {
    for inputs in [("window", lit(0)), ("readable", lit(false)), ("kept", lit(true))] {
        let bench = bench();
        bench.deployed(&program([resource("x_row.a", [inputs])]));
        server(|server| (server.lingering, server.reads) = (WINDOW / 2, 0));
        let (report, took) = timed(&bench, || bench.destroy());
        assert!(report.succeeded());
        assert_eq!((server(|server| server.reads), took), (0, Duration::ZERO));
    }
}
