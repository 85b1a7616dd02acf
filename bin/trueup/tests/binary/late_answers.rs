//! APIs that show what they made only a while later, and runs that are killed before they hear of it: the number of objects
//! is the judge.
#![allow(clippy::disallowed_methods, reason = "the API lags behind real time")]

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use trueup_cli_harness::Folder;
use trueup_test_servers::http::{Answer, HttpServer, Request};
use trueup_test_servers::sized;

use crate::binary::stack;

/// How long a new object stays out of sight.
const LAG: Duration = Duration::from_secs(3);

/// An API whose reads come from a replica.
struct Replica {
    server: HttpServer,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// When each object was made, and its name.
    things: Mutex<Vec<(Instant, String)>>,
    made: Condvar,
    /// Whether creates are answered.
    silent: Mutex<bool>,
}

impl Replica {
    fn start() -> Self {
        let shared: Arc<Shared> = Arc::default();
        let serving = shared.clone();
        Replica { server: HttpServer::start(move |request| answer(request, &serving)), shared }
    }

    /// A stack with one object here.
    fn stack(&self) -> Folder {
        let url = self.server.url();
        stack(&format!(
            r#"
            resource "std_http" "a" {{
              create {{
                url  = "{url}/things"
                body = {{ name = "{{name}}" }}
              }}
              read   {{ url = "{url}/things/{{name}}" }}
              lookup {{ url = "{url}/things/{{name}}" }}
              update {{
                method = "GET"
                url    = "{url}/things/{{name}}"
              }}
            }}
            "#
        ))
    }

    fn objects(&self) -> usize {
        self.shared.things.lock().unwrap().len()
    }

    fn be_silent(&self, silent: bool) {
        *self.shared.silent.lock().unwrap() = silent;
    }

    fn wait_for_an_object(&self) {
        let things = self.shared.things.lock().unwrap();
        drop(self.shared.made.wait_while(things, |things| things.is_empty()).unwrap());
    }
}

fn answer(request: &Request, shared: &Shared) -> Answer {
    let found = if request.method == "POST" {
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        let name = body["name"].as_str().unwrap().to_owned();
        shared.things.lock().unwrap().push((Instant::now(), name));
        shared.made.notify_all();
        if *shared.silent.lock().unwrap() {
            return Answer::Silence;
        }
        true
    } else {
        let asked = request.path.trim_start_matches("/things/");
        let things = shared.things.lock().unwrap();
        things.iter().any(|(made, name)| name == asked && made.elapsed() >= LAG)
    };
    let (status, text) = if found { (200, r#"{"id": "one"}"#) } else { (404, "{}") };
    Answer::Json(status, text.to_owned())
}

/// CRASH-1, CRASH-7, INV-2: the run is killed between effect and answer, and the lookup is late.
#[test]
fn a_killed_run_whose_object_is_shown_late_makes_no_second_one() {
    for _ in 0..sized(1, 5) {
        let replica = Replica::start();
        let folder = replica.stack();
        replica.be_silent(true);
        let run = folder.start("deploy --stage t --yes");
        replica.wait_for_an_object();
        run.kill();
        replica.be_silent(false);
        folder.done("deploy --yes");
        assert_eq!(replica.objects(), 1);
        assert!(folder.done("plan").out.contains("No changes"));
    }
}

/// DRIFT-10: the next run reads a replica that has not heard of the object.
#[test]
fn a_replica_that_lags_does_not_make_an_object_gone() {
    let replica = Replica::start();
    let folder = replica.stack();
    // The first run is killed as soon as it has recorded the answer, while it reads back.
    let run = folder.start("deploy --stage t --yes");
    replica.wait_for_an_object();
    while !folder.run("state show std_http.a --stage t").out.contains("one") {}
    run.kill();
    folder.done("deploy --yes");
    assert_eq!(replica.objects(), 1);
}

/// DRIFT-10: what was removed long after it was written is gone at once.
#[test]
fn a_settled_object_that_is_gone_is_not_waited_for() {
    let replica = Replica::start();
    let folder = replica.stack();
    let short = folder.read("main.tf").replace("lookup", "consistency_window = 0.001\nlookup");
    folder.write("main.tf", &short);
    folder.done("deploy --stage t --yes");
    replica.shared.things.lock().unwrap().clear();
    let told = folder.run("plan --json");
    assert!(told.out.contains("drift-recreate"), "{told:?}");
}
