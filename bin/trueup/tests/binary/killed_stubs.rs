//! Runs that are killed while they make the stub of a cycle: the number of objects is the judge.

use std::sync::{Arc, Condvar, Mutex};

use trueup_cli_harness::Folder;
use trueup_test_servers::http::{Answer, HttpServer, Request};

use crate::binary::empty;
use crate::binary::gate::pipe;

/// A folder with a stack; Terraform's own files know no bindings.
fn stack(text: &str) -> Folder {
    let folder = empty();
    folder.write("main.tu.hcl", text);
    folder
}

// Commands.

/// A stack in which each of two objects needs the other's id.
const CYCLE: &str = r#"
resource "std_exec" "left" {
  precreate = ["sh", "reserve.sh"]
  create    = ["sh", "make.sh"]
  update    = ["sh", "finish.sh"]
  delete    = ["sh", "remove.sh"]
  lookup    = ["sh", "find.sh"]
  # A list in a file is never late.
  consistency_window = 0
}

resource "std_exec" "right" {
  create = ["sh", "make.sh"]
  delete = ["sh", "remove.sh"]
  lookup = ["sh", "find.sh"]
  input  = { peer = std_exec.left.result.id }
  consistency_window = 0

  bind "right" {
    to      = std_exec.left
    payload = { id = self.result.id }
  }
}
"#;

/// Where the stub waits in the first run.
const WAIT: &str = "if test ! -e second; then echo $$ > reached; cat gate > /dev/null; fi";
const RECORD: &str = "cat > told.$TRUEUP_ADDRESS; echo $TRUEUP_NAME >> objects";
const ANSWER: &str = r#"echo "{\"id\": \"$TRUEUP_NAME\"}""#;

fn commands(reserve: &[&str]) -> Folder {
    let folder = stack(CYCLE);
    folder.write("reserve.sh", &reserve.join("\n"));
    folder.write("make.sh", &[RECORD, ANSWER].join("\n"));
    folder.write("finish.sh", "cat > told.$TRUEUP_ADDRESS");
    folder.write("remove.sh", "cat > /dev/null; grep -vx $TRUEUP_NAME objects > kept; mv kept objects");
    let find = format!("cat > /dev/null; if grep -qx $TRUEUP_NAME objects 2> /dev/null; then {ANSWER}; fi");
    folder.write("find.sh", &find);
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    folder
}

fn objects(folder: &Folder) -> usize {
    std::fs::read_to_string(folder.path().join("objects")).unwrap_or_default().lines().count()
}

/// BIND-10, CRASH-7, CRASH-9: between the intent and the effect, and between the effect and its answer.
#[test]
fn a_stub_command_that_is_killed_leaves_one_object() {
    for reserve in [[WAIT, RECORD, ANSWER], [RECORD, WAIT, ANSWER]] {
        let folder = commands(&reserve);
        let run = folder.start("deploy --stage t --yes");
        folder.read("reached");
        run.kill();
        folder.write("second", "");
        folder.done("deploy --yes");
        assert_eq!(objects(&folder), 2, "{reserve:?}");
        assert!(folder.done("plan").out.contains("No changes"));
        let id = |of: &str| folder.done(&format!("state show std_exec.{of}")).out;
        let told = folder.read("told.std_exec.left");
        let name = told.split(r#""id":""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert!(id("right").contains(name), "{told}");
        folder.done("destroy --yes");
        assert_eq!(objects(&folder), 0, "{reserve:?}");
    }
}

/// BIND-4: a cycle works on a new stage as on a live one, and each stage has its own objects.
#[test]
fn a_cycle_of_commands_is_deployed_on_each_stage() {
    let folder = commands(&[RECORD, ANSWER]);
    for (stages, stage) in [(1, "dev"), (2, "prod")] {
        folder.done(&format!("deploy --stage {stage} --yes"));
        assert_eq!(objects(&folder), 2 * stages);
        assert!(folder.done(&format!("deploy --stage {stage} --yes")).out.contains("No changes"));
        assert_eq!(objects(&folder), 2 * stages);
    }
}

/// BIND-4: a stub that needs what waits for it opens no cycle; one that can do without it does.
#[test]
fn a_stub_that_needs_the_other_one_is_refused_before_anything_is_made() {
    let needing = |input: &str| {
        format!(
            r#"
            resource "std_exec" "left" {{
              precreate   = ["sh", "reserve.sh"]
              create      = ["sh", "make.sh"]
              update      = ["sh", "finish.sh"]
              lookup      = ["sh", "find.sh"]
              {input}

              bind "left" {{
                to      = std_exec.right
                payload = {{ id = self.result.id }}
              }}
            }}

            resource "std_exec" "right" {{
              create = ["sh", "make.sh"]
              update = ["sh", "finish.sh"]
              lookup = ["sh", "find.sh"]
            }}
            "#
        )
    };
    let folder = commands(&[RECORD, ANSWER]);
    folder.write("main.tu.hcl", &needing("environment = { PEER = std_exec.right.result.id }"));
    let told = folder.run("deploy --stage t --yes");
    assert!(told.code != 0 && told.err.contains("are bound in a cycle"), "{told:?}");
    assert_eq!(objects(&folder), 0);
    folder.write("main.tu.hcl", &needing("input = { peer = std_exec.right.result.id }"));
    folder.done("deploy --stage t --yes");
    assert_eq!(objects(&folder), 2);
    assert!(folder.done("plan").out.contains("No changes"));
}

// Requests.

/// An API with things that have a name and a peer.
struct Api {
    server: HttpServer,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    things: Mutex<Vec<serde_json::Value>>,
    made: Condvar,
    /// Whether what makes a thing is answered.
    silent: Mutex<bool>,
}

impl Api {
    fn start() -> Self {
        let shared: Arc<Shared> = Arc::default();
        let serving = shared.clone();
        Api { server: HttpServer::start(move |request| answer(request, &serving)), shared }
    }

    fn stack(&self) -> Folder {
        let url = self.server.url();
        stack(&format!(
            r#"
            resource "std_http" "left" {{
              precreate {{
                url  = "{url}/things"
                body = {{ name = "{{name}}", peer = "none yet" }}
              }}
              create {{
                url  = "{url}/things"
                body = {{ name = "{{name}}", peer = "{{bindings.right.id}}" }}
              }}
              read   {{ url = "{url}/things/{{name}}" }}
              update {{
                url  = "{url}/things/{{name}}"
                body = {{ name = "{{name}}", peer = "{{bindings.right.id}}" }}
              }}
              delete {{ url = "{url}/things/{{name}}" }}
              lookup {{ url = "{url}/things/{{name}}" }}
              consistency_window = 0
            }}

            resource "std_http" "right" {{
              create {{
                url  = "{url}/things"
                body = {{ name = "{{name}}", peer = std_http.left.id }}
              }}
              read   {{ url = "{url}/things/{{name}}" }}
              delete {{ url = "{url}/things/{{name}}" }}
              lookup {{ url = "{url}/things/{{name}}" }}
              consistency_window = 0

              bind "right" {{
                to      = std_http.left
                payload = {{ id = self.id }}
              }}
            }}
            "#
        ))
    }

    fn things(&self) -> Vec<serde_json::Value> {
        self.shared.things.lock().unwrap().clone()
    }
}

fn answer(request: &Request, shared: &Shared) -> Answer {
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let name = request.path.trim_start_matches("/things/");
    let mut things = shared.things.lock().unwrap();
    let found = things.iter().position(|thing| thing["name"] == name);
    let answer = match (request.method.as_str(), found) {
        ("POST", _) => {
            let mut thing = body;
            thing["id"] = format!("thing-{}", things.len() + 1).into();
            things.push(thing.clone());
            shared.made.notify_all();
            if *shared.silent.lock().unwrap() {
                return Answer::Silence;
            }
            Some(thing)
        }
        ("PUT", Some(at)) => {
            things[at]["peer"] = body["peer"].clone();
            Some(things[at].clone())
        }
        ("DELETE", Some(at)) => Some(things.remove(at)),
        (_, found) => found.map(|at| things[at].clone()),
    };
    answer.map_or_else(|| Answer::Json(404, "{}".to_owned()), |thing| Answer::Json(200, thing.to_string()))
}

/// BIND-10, CRASH-1, CRASH-7: the run is killed between the effect and its answer.
#[test]
fn a_stub_request_of_a_killed_run_leaves_one_object() {
    let api = Api::start();
    let folder = api.stack();
    *api.shared.silent.lock().unwrap() = true;
    let run = folder.start("deploy --stage t --yes");
    let things = api.shared.things.lock().unwrap();
    drop(api.shared.made.wait_while(things, |things| things.is_empty()).unwrap());
    run.kill();
    *api.shared.silent.lock().unwrap() = false;
    folder.done("deploy --yes");
    let things = api.things();
    assert_eq!(things.len(), 2, "{things:?}");
    assert_eq!((&things[0]["peer"], &things[1]["peer"]), (&things[1]["id"], &things[0]["id"]));
    assert!(folder.done("plan").out.contains("No changes"));
    folder.done("destroy --yes");
    assert!(api.things().is_empty());
}
