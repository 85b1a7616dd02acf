//! Ephemeral resources: opened when something needs them, renewed while a run lasts, closed at its end however it ends,
//! and never kept.

use std::io::BufRead;

use rustix::process::{Pid, Signal, kill_process};

use crate::plugins::bench::{Bench, unfolded, versions};

/// A ticket, with further arguments.
fn ticket(name: &str, more: &str) -> String {
    format!("ephemeral \"fixture_ticket\" \"{name}\" {{\n  purpose = \"{name}\"\n  {more}\n}}\n")
}

/// A thing that is given a ticket, with further arguments.
fn thing(ticket: &str, more: &str) -> String {
    format!(
        "resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n  password_wo = ephemeral.fixture_ticket.{ticket}.ticket\n  \
         {more}\n}}\n"
    )
}

impl Bench {
    /// What became of tickets, from the beginning or since this was last asked.
    fn tickets(&self) -> Vec<String> {
        let path = self.folder.path().join("objects/tickets.log");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        text.lines().map(str::to_owned).collect()
    }
}

/// SECRET-1, SECRET-6, SECRET-7
#[test]
fn a_ticket_is_open_while_something_needs_it_and_is_never_kept() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(&(ticket("entry", "") + &thing("entry", "")));
        bench.done("validate");
        assert!(bench.tickets().is_empty());
        let mut told = String::new();
        let mut done = |command: &str| {
            let done = bench.done(&bench.named(command));
            told.push_str(&done.out);
            told.push_str(&done.err);
        };
        done("plan");
        assert_eq!(bench.tickets(), ["open entry", "close entry"]);
        done("deploy --yes");
        assert_eq!(bench.tickets(), ["open entry", "close entry", "open entry", "close entry"]);
        assert_eq!(bench.object("thing/a")["password_length"], 16, "the provider had it");
        // Nothing is to be done, so nothing needs it but the plan.
        done("deploy --yes");
        assert_eq!(bench.tickets(), ["open entry", "close entry"]);
        done("plan --out saved");
        done("show fixture_thing.a");
        done("history");
        assert!(!told.contains("ticket for entry"), "{told}");
        for folder in [".", ".trueup"] {
            for file in std::fs::read_dir(bench.folder.path().join(folder)).unwrap().flatten() {
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                let found = bytes.windows(16).any(|window| window == b"ticket for entry");
                assert!(!found, "it is in {}", file.path().display());
            }
        }
        bench.tickets();
        bench.done("destroy --yes");
        assert!(bench.tickets().is_empty(), "no configuration needs it");
        assert!(bench.objects().is_empty());
    }
}

/// A configuration that needs a ticket has a new one whenever something is planned or carried out.
#[test]
fn a_provider_is_configured_with_what_is_open() {
    for version in versions() {
        let bench = Bench::new(version);
        let second = |name: &str| {
            let configured = "provider \"fixture\" {\n  alias = \"second\"\n  folder = \"second\"\n  prefix = \
                              substr(ephemeral.fixture_ticket.entry.ticket, 0, 6)\n}\n";
            let own = format!(
                "resource \"fixture_thing\" \"{name}\" {{\n  provider = fixture.second\n  name = \"{name}\"\n}}\n"
            );
            bench.write_configured(&(ticket("entry", "") + configured + &own));
        };
        second("b");
        bench.done("deploy --yes");
        assert_eq!(bench.objects_in("second").into_keys().collect::<Vec<_>>(), ["thing/ticketb"]);
        assert_eq!(bench.tickets(), ["open entry", "close entry", "open entry", "close entry"]);
        assert!(bench.actions().is_empty(), "it is read with its ticket");
        std::fs::remove_file(bench.folder.path().join("second/thing/ticketb.json")).unwrap();
        assert_eq!(bench.action("fixture_thing.b"), "create");
        bench.done("deploy --refresh-only --yes");
        assert!(bench.done("state list").out.trim().is_empty(), "what is gone is taken over");
        bench.done("deploy --yes");
        // What is no longer declared is deleted by the same configuration.
        second("c");
        bench.done("deploy --yes");
        assert_eq!(bench.objects_in("second").into_keys().collect::<Vec<_>>(), ["thing/ticketc"]);
        bench.tickets();
        bench.done("destroy --yes");
        assert!(bench.objects_in("second").is_empty());
        assert_eq!(bench.tickets(), ["open entry", "close entry", "open entry", "close entry"]);
    }
}

/// Where its arguments are not known yet it is opened at apply alone; several are told apart by their keys.
#[test]
fn a_ticket_waits_until_its_arguments_are_known() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(
            "resource \"fixture_thing\" \"first\" {\n  name = \"first\"\n}\n\
             ephemeral \"fixture_ticket\" \"each\" {\n  for_each = toset([\"x\", \"y\"])\n  \
             purpose = \"${each.key}${fixture_thing.first.serial}\"\n  lifecycle {\n    postcondition {\n      \
             condition = self.ticket != \"\"\n      error_message = \"no ticket\"\n    }\n  }\n}\n\
             locals {\n  tickets = [for it in ephemeral.fixture_ticket.each : it.ticket]\n}\n\
             resource \"fixture_thing\" \"second\" {\n  name = \"second\"\n  password_wo = join(\",\", local.tickets)\n}\n\
             output \"none\" {\n  value = ephemeralasnull(local.tickets)\n}\n",
        );
        bench.done("deploy --yes");
        let mut tickets = bench.tickets();
        tickets.sort();
        assert_eq!(tickets, ["close x1", "close y1", "open x1", "open y1"]);
        let both = "ticket for x1,ticket for y1".len();
        assert_eq!(bench.object("thing/second")["password_length"], both);
    }
}

/// SECRET-6
#[test]
fn a_saved_plan_holds_no_ticket_and_gets_another() {
    for version in versions() {
        let bench = Bench::new(version);
        let variable = "variable \"pin\" {\n  type = string\n  ephemeral = true\n}\n";
        let given = "resource \"fixture_thing\" \"b\" {\n  name = \"b\"\n  password_wo = \
                     \"${ephemeral.fixture_ticket.entry.serial}${var.pin}\"\n}\n";
        bench.write_configured(&(ticket("entry", "") + variable + given));
        let run = |arguments: &str, pin: &str| {
            let mut command = bench.command(arguments);
            let told = trueup_cli_harness::Told::by(command.env("TF_VAR_pin", pin));
            assert_eq!(told.code, 0, "{arguments}: {}\n{}", told.out, told.err);
        };
        run("plan --out saved", "one-pin");
        // Neither the ticket nor the variable has to be what it was.
        run("deploy saved", "another-pin");
        assert_eq!(bench.object("thing/b")["password_length"], 12);
        let plans = bench.tickets();
        assert_eq!(plans.iter().filter(|line| *line == "open entry").count(), 3, "{plans:?}");
        assert_eq!(plans.iter().filter(|line| *line == "close entry").count(), 3, "{plans:?}");
    }
}

/// SECRET-7
#[test]
fn a_ticket_is_closed_whatever_fails() {
    for version in versions() {
        let bench = Bench::new(version);
        for (trouble, apply) in [("fail-plan", false), ("fail-create", true)] {
            bench.write_configured(
                &(ticket("entry", "") + &thing("entry", &format!("trouble = \"{trouble}\""))),
            );
            bench.failed("deploy --yes");
            let tickets = bench.tickets();
            let (opened, closed) = (["open entry", "close entry"], usize::from(apply) + 1);
            assert_eq!(tickets, opened.repeat(closed), "{trouble}");
        }
        let failing = |more: &str, own: &str| {
            bench.write_configured(&(ticket("first", "") + &ticket("entry", more) + &thing("entry", own)));
            bench.failed("deploy --yes")
        };
        let told = failing("trouble = \"fail-open\"\n  depends_on = [ephemeral.fixture_ticket.first]", "");
        assert!(told.contains("There are no tickets"), "{told}");
        assert_eq!(bench.tickets(), ["open first", "close first"]);
        let told = failing("trouble = \"fail-close\"", "");
        assert!(
            told.contains("It is stuck")
                && told.contains(&bench.named("close ephemeral.fixture_ticket.entry")),
            "{told}"
        );
        assert!(bench.objects().is_empty());
    }
}

/// SECRET-7
#[test]
fn a_ticket_is_renewed_while_a_run_lasts() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(
            &(ticket("entry", "renew_in = 2") + &thing("entry", "trouble = \"wait-after\"")),
        );
        let (reached, go) = (bench.pipe("reached"), bench.pipe("go"));
        let run = bench.start("deploy --yes");
        assert_eq!(std::fs::read_to_string(reached).unwrap(), "reached\n");
        let log = bench.folder.path().join("objects/tickets.log");
        while !std::fs::read_to_string(&log).unwrap().contains("renew entry") {
            std::thread::yield_now();
        }
        std::fs::write(go, "go\n").unwrap();
        let told = run.wait_with_output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        assert_eq!(bench.tickets().last().unwrap(), "close entry");
        bench.left_alone();
    }
}

/// APPLY-11, SECRET-7
#[test]
fn a_ticket_is_closed_when_a_run_is_interrupted() {
    for version in versions() {
        let interrupt = |bench: &Bench| {
            let reached = bench.pipe("reached");
            let run = bench.start("deploy --yes");
            assert_eq!(std::fs::read_to_string(reached).unwrap(), "reached\n");
            kill_process(Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap(), Signal::INT).unwrap();
            run
        };
        // While it is planned: another ticket never comes.
        let bench = Bench::new(version);
        let second =
            ticket("second", "trouble = \"hang-open\"\n  depends_on = [ephemeral.fixture_ticket.entry]");
        bench.write_configured(&(ticket("entry", "") + &second + &thing("entry", "")));
        let told = interrupt(&bench).wait_with_output().unwrap();
        assert_eq!(told.status.code(), Some(130), "{}", unfolded(&String::from_utf8_lossy(&told.stderr)));
        assert_eq!(bench.tickets(), ["open entry", "close entry"]);
        bench.left_alone();
        // While it is carried out: what is under way is finished first.
        let bench = Bench::new(version);
        let later = "resource \"fixture_thing\" \"later\" {\n  name = \"later\"\n  depends_on = [fixture_thing.a]\n}\n";
        bench.write_configured(&(ticket("entry", "") + &thing("entry", "trouble = \"wait-after\"") + later));
        let go = bench.pipe("go");
        let mut run = interrupt(&bench);
        // Only when it is heard of may the operation come to its end.
        let mut told = std::io::BufReader::new(run.stderr.take().unwrap()).lines();
        assert!(told.any(|line| line.unwrap().contains("Finishing 1 operation")));
        std::fs::write(go, "go\n").unwrap();
        let rest: Vec<String> = told.map(Result::unwrap).collect();
        assert_eq!(run.wait().unwrap().code(), Some(130), "{rest:?}");
        assert_eq!(bench.tickets(), ["open entry", "close entry", "open entry", "close entry"]);
        assert_eq!(bench.objects().len(), 1);
        bench.left_alone();
    }
}

/// SECRET-6: each where it is written, and before anything is opened.
#[test]
fn ephemeral_values_go_nowhere_where_they_would_be_kept() {
    let bench = Bench::new(6);
    let used = "ephemeral.fixture_ticket.entry.ticket";
    let resource = |argument: &str| {
        format!("resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n  {argument}\n}}\n")
            .replace("TICKET", used)
    };
    let all = [
        (
            resource("secret = TICKET"),
            "ephemeral value not allowed: `secret` in fixture6_thing.a is recorded",
        ),
        (resource("tags = { x = upper(TICKET) }"), "`tags` in fixture6_thing.a is recorded"),
        (resource("count = TICKET == \"\" ? 1 : 2"), "`count` decides what is recorded"),
        (resource("for_each = toset([TICKET])"), "`for_each` decides what is recorded"),
        (format!("output \"o\" {{\n  value = [{used}]\n}}\n"), "this output is not said to be ephemeral"),
        (
            format!("output \"o\" {{\n  ephemeral = true\n  value = {used}\n}}\n"),
            "of the root module cannot be ephemeral",
        ),
        (
            format!("data \"fixture_thing\" \"d\" {{\n  name = {used}\n}}\n"),
            "`name` in data.fixture6_thing.d is recorded",
        ),
        (
            format!("module \"m\" {{\n  source = \"./m\"\n  open = {used}\n}}\n"),
            "the variable `open` is not said to be ephemeral",
        ),
    ];
    bench.folder.write("m/main.tf", "variable \"open\" {\n  default = null\n}\n");
    for (text, why) in all {
        bench.write_configured(&(ticket("entry", "") + &text));
        for command in ["validate", "plan"] {
            let told = bench.failed(command);
            assert!(told.contains(why), "{text}\n{told}");
            assert!(told.contains("main.tf:"), "{told}");
        }
        assert!(bench.tickets().is_empty(), "{text}");
    }
    bench.folder.write(
        "m/main.tf",
        "variable \"given\" {\n  ephemeral = true\n}\noutput \"passed\" {\n  ephemeral = true\n  value = \
         \"<${var.given}>\"\n}\n",
    );
    let module = format!("module \"m\" {{\n  source = \"./m\"\n  given = {used}\n}}\n");
    bench.write_configured(&(ticket("entry", "") + &module + &resource("password_wo = module.m.passed")));
    bench.done("deploy --yes");
    assert_eq!(bench.object("thing/a")["password_length"], "<ticket for entry>".len());
    bench.write_configured("ephemeral \"fixture_tickets\" \"t\" {}\n");
    let told = bench.failed("plan");
    assert!(
        told.contains("has no ephemeral resource `fixture6_tickets`") && told.contains("fixture6_ticket`?"),
        "{told}"
    );
}

/// It is true while a plan is carried out, and so of one run alone.
#[test]
fn a_program_can_tell_a_plan_from_its_execution() {
    let bench = Bench::new(6);
    bench.write_configured(
        "provider \"fixture\" {\n  alias = \"second\"\n  folder = \"second\"\n  prefix = terraform.applying ? \"real-\" : \
         \"plan-\"\n}\nresource \"fixture_thing\" \"a\" {\n  provider = fixture.second\n  name = \"a\"\n}\n",
    );
    bench.done("deploy --yes");
    assert_eq!(bench.objects_in("second").into_keys().collect::<Vec<_>>(), ["thing/real-a"]);
    bench.write_configured("output \"o\" {\n  value = terraform.applying\n}\n");
    let told = bench.failed("plan");
    assert!(told.contains("ephemeral value not allowed"), "{told}");
}
