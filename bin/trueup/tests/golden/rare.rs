//! Records that no built-in type leaves behind: binding cycles with a stub, pending operations, private bytes.

use serde_json::{Value as Json, json};

use crate::golden::Golden;
use crate::golden::place::Place;
use crate::golden::workplace::Workplace;
use crate::golden::write::take_stack;

/// Deploys the stack into a database, edits its records there, and moves them into each store. Returns the stack.
pub(crate) fn write(golden: &Golden, stores: &[String]) -> Workplace {
    let database = Place::in_postgres().unwrap();
    let workplace = Workplace::to_write(&database.address);
    workplace.put("key/key", golden.text("key"), 0o600);
    take_stack(&workplace, "rare");
    workplace.done("deploy --yes");
    for name in ["left", "right", "pending_create", "pending_update", "only_deposed", "private"] {
        let place = format!("WHERE address = 'std_exec.{name}'");
        let record = database.sql(&format!("SELECT body FROM trueup.records {place}"));
        let record = edited(name, serde_json::from_str(&record).unwrap());
        database.sql(&format!("UPDATE trueup.records SET body = $json${record}$json$ {place}"));
    }
    // Seals the secrets in their new places.
    workplace.done("state rekey --yes");
    for store in stores {
        workplace.done(&format!("state migrate --to {store} --yes"));
        let told = workplace.run("deploy --yes");
        let run = told.err.split("unlock ").nth(1).unwrap().split('`').next().unwrap();
        workplace.done(&format!("unlock {run} --yes"));
    }
    workplace
}

fn edited(name: &str, mut record: Json) -> Json {
    let secret = json!({ "$secret": true, "$value": "hush-51be7a" });
    let bindings = |key: &str| json!([{ "key": key, "payload": { "from": key, "token": secret } }]);
    let pending = json!({ "operation": "op-7", "polls": 3, "token": secret });
    let current = &mut record["current"];
    let inputs = current["object"]["inputs"].clone();
    let attempt = |status: &str, key: &str| {
        let token = "000102030405060708090a0b0c0d0e0f";
        json!({ "status": status, "inputs": inputs, "bindings": bindings(key), "token": token, "pending": pending })
    };
    match name {
        "left" => {
            current["bindings"] = bindings("right");
            record["meta"]["dependencies"] = json!(["std_exec.right"]);
        }
        // A stub: its inputs are known, and not yet those of the object.
        "right" => {
            current["status"] = attempt("creating", "left");
            current["status"].as_object_mut().unwrap().remove("pending");
            current["object"]["inputs"] = Json::Null;
            record["meta"]["dependencies"] = json!(["std_exec.left"]);
        }
        "pending_create" => {
            current["status"] = attempt("creating", "left");
            current["object"]["inputs"] = Json::Null;
        }
        "pending_update" => {
            current["status"] = attempt("updating", "right");
            current["bindings"] = bindings("left");
        }
        "only_deposed" => {
            current["status"] = json!({ "status": "deleting" });
            record["deposed"] = json!([current.take()]);
        }
        _ => {
            current["object"]["private"] = json!([0, 1, 127, 128, 255]);
            record["left_slots"] = json!([1, 3]);
        }
    }
    record
}
