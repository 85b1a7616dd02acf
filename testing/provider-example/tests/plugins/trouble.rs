//! What goes wrong under Terraform.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value as Json, json};

use super::driver::Terraform;

fn terraform() -> Option<Terraform> {
    Terraform::find("notes", &super::binary())
}

fn apply(terraform: &Terraform) -> Result<String, String> {
    terraform.run(&["apply", "-input=false", "-auto-approve", "-no-color"])
}

/// Writes a configuration of one note.
fn write_note(terraform: &Terraform, inputs: &Json) {
    terraform.write(&json!({ "resource": { "notes_note": { "x": inputs } } }));
}

/// SERVE-4.
#[test]
fn a_create_that_fails_leaves_nothing() {
    let Some(terraform) = terraform() else { return };
    let full = json!({ "notes": { "folder": terraform.objects(), "capacity": 1 } });
    terraform.write(&json!({
        "provider": full,
        "resource": { "notes_note": {
            "x": { "title": "one", "body": "hello" },
            "y": { "title": "two", "body": "hello", "depends_on": ["notes_note.x"] },
        } },
    }));
    let error = apply(&terraform).unwrap_err();
    // Named, explained, with a place and with advice.
    for words in ["Cannot create notes_note", "The board is full.", "Raise `capacity`.", "main.tf.json line"]
    {
        assert!(error.contains(words), "{words}: {error}");
    }
    assert_eq!(terraform.values().keys().collect::<Vec<_>>(), ["notes_note.x"]);
}

/// SERVE-4.
#[test]
fn what_a_failed_create_made_is_kept_and_replaced() {
    let Some(terraform) = terraform() else { return };
    write_note(&terraform, &json!({ "title": "one", "body": "hello", "attachment": "/nowhere" }));
    let error = apply(&terraform).unwrap_err();
    assert!(error.contains("Cannot attach `/nowhere`"), "{error}");
    assert_eq!(terraform.values()["notes_note.x"]["size"], json!(5));
    write_note(&terraform, &json!({ "title": "one", "body": "hello" }));
    assert_eq!(terraform.plan().unwrap().action, "replace");
    terraform.apply().unwrap();
    assert_eq!(terraform.plan().unwrap().action, "no-op");
}

/// SERVE-4.
#[test]
fn an_update_that_fails_is_repeated() {
    let Some(terraform) = terraform() else { return };
    write_note(&terraform, &json!({ "title": "one", "body": "hello" }));
    apply(&terraform).unwrap();
    write_note(&terraform, &json!({ "title": "one", "body": "bye", "attachment": "/nowhere" }));
    for _ in 0..2 {
        let error = apply(&terraform).unwrap_err();
        assert!(error.contains("Cannot update notes_note"), "{error}");
    }
    write_note(&terraform, &json!({ "title": "one", "body": "bye" }));
    apply(&terraform).unwrap();
    assert_eq!(terraform.values()["notes_note.x"]["body"], json!("bye"));
    assert_eq!(terraform.plan().unwrap().action, "no-op");
}

/// Terraform while it applies.
struct Applying {
    process: Child,
    log: BufReader<ChildStderr>,
}

impl Applying {
    /// Whether it succeeded, and what it said from here on.
    fn end(&mut self) -> (bool, String) {
        let mut said = String::new();
        self.log.read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().success(), said)
    }
}

/// Applies until the provider says that the note waits for approval. What types report goes to Terraform's log.
fn waiting(terraform: &Terraform) -> Applying {
    let mut command = terraform.command(&["apply", "-input=false", "-auto-approve", "-no-color"]);
    command.env("TF_LOG_PROVIDER", "INFO").process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut log = BufReader::new(process.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("waiting for approval") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended before it waited");
    }
    Applying { process, log }
}

/// Interrupting Terraform at a terminal interrupts its plugins too. The wait ends, and what was made is in the state.
/// SERVE-4.
#[test]
fn an_interrupted_create_is_in_the_state() {
    let Some(terraform) = terraform() else { return };
    let approval = terraform.folder().join("approval");
    write_note(&terraform, &json!({ "title": "one", "body": "hello", "approval": approval }));
    let mut applying = waiting(&terraform);
    kill_process_group(Pid::from_child(&applying.process), Signal::INT).unwrap();
    let (succeeded, told) = applying.end();
    assert!(!succeeded, "{told}");
    assert!(told.contains("The note waits for approval"), "{told}");
    assert!(told.contains("(interrupted)"), "{told}");
    assert_eq!(terraform.values()["notes_note.x"]["title"], json!("one"));
    // Approved, it is made anew: Terraform takes an unfinished object for tainted.
    std::fs::write(&approval, "yes").unwrap();
    apply(&terraform).unwrap();
    assert_eq!(terraform.plan().unwrap().action, "no-op");
}

#[test]
fn what_takes_its_time_is_waited_for() {
    let Some(terraform) = terraform() else { return };
    let approval = terraform.folder().join("approval");
    write_note(&terraform, &json!({ "title": "one", "body": "hello", "approval": approval.clone() }));
    let mut applying = waiting(&terraform);
    std::fs::write(&approval, "yes").unwrap();
    let (succeeded, told) = applying.end();
    assert!(succeeded, "{told}");
    assert_eq!(terraform.plan().unwrap().action, "no-op");
}
