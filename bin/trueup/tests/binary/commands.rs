//! Every command, once, on a real stack.

use std::io::Write;
use std::process::Stdio;

use trueup_cli_harness::{Folder, Told};

use crate::binary::{empty, stack};

const SITE: &str = r#"
stack {
  name = "site"
}

variable "title" {
  default = "Hello"
}

resource "std_file" "index" {
  path    = "out/index.html"
  content = "<h1>${var.title}</h1>\n"
}

resource "std_file" "sum" {
  path    = "out/sum.txt"
  content = std_file.index.sha256
}

output "where" {
  value = std_file.index.path
}

output "sizes" {
  value = [std_file.index.size, std_file.sum.size]
}
"#;

fn deployed() -> Folder {
    let folder = stack(SITE);
    folder.done("deploy --stage t --yes");
    folder
}

/// OUTPUT-13: the harness holds each document against its schema.
#[test]
fn every_command_that_looks_answers_in_json() {
    let folder = deployed();
    for command in [
        "plan --json",
        "drift --json",
        "output --json",
        "output sizes --json",
        "show std_file.index --json",
        "why std_file.index --json",
        "state list --json",
        "state show std_file.index --json",
        "history --json",
        "graph --json",
        "schema --json",
        "schema std_file --json",
        "schema data.std_http --json",
        "config --json",
        "validate --json",
        "version --json",
        "console std_file.index.size --json",
    ] {
        folder.json(command);
    }
    let told = folder.done("deploy --force --yes --json");
    assert!(told.out.lines().count() > 3, "{told:?}");
}

/// OUTPUT-12, OUTPUT-10
#[test]
fn outputs_have_a_form_for_scripts_and_that_of_terraform() {
    let folder = stack(
        r#"
output "name" { value = "shop" }
output "tags" { value = tomap({ team = "web", "$secret" = "no" }) }
output "zones" { value = toset(["b", "a"]) }
output "mixed" { value = [1, true] }
output "key" {
  value     = "s3cret"
  sensitive = true
}
output "login" { value = { user = "ada", password = sensitive("s3cret") } }
"#,
    );
    folder.done("deploy --stage t --yes");
    let shown = |arguments: &str| folder.done(arguments).out;
    insta::assert_snapshot!(shown("output --json"), @r#"{"key":{"$secret":true},"login":{"password":{"$secret":true},"user":"ada"},"mixed":[1,true],"name":"shop","tags":{"$$secret":"no","team":"web"},"zones":["a","b"]}"#);
    insta::assert_snapshot!(shown("output -json"), @r#"{"key":{"sensitive":true,"type":"dynamic"},"login":{"sensitive":true,"type":"dynamic"},"mixed":{"sensitive":false,"type":["tuple",["number","bool"]],"value":[1,true]},"name":{"sensitive":false,"type":"string","value":"shop"},"tags":{"sensitive":false,"type":["map","string"],"value":{"$secret":"no","team":"web"}},"zones":{"sensitive":false,"type":["set","string"],"value":["a","b"]}}"#);
    assert_eq!(shown("output --json=terraform"), shown("output -json"));
    for one in ["output tags --json", "output tags -json", "output -json tags"] {
        assert_eq!(shown(one), "{\"$secret\":\"no\",\"team\":\"web\"}\n", "{one}");
    }
    assert_eq!(shown("output --json key"), "\"s3cret\"\n");
    assert_eq!(shown("output -json login"), "{\"password\":\"s3cret\",\"user\":\"ada\"}\n");
    insta::assert_snapshot!(shown("output --json --show-secrets"), @r#"{"key":"s3cret","login":{"password":"s3cret","user":"ada"},"mixed":[1,true],"name":"shop","tags":{"$secret":"no","team":"web"},"zones":["a","b"]}"#);
    let open: serde_json::Value = serde_json::from_str(&shown("output -json -show-secrets")).unwrap();
    assert_eq!(open["key"], serde_json::json!({ "sensitive": true, "type": "string", "value": "s3cret" }));
    assert!(shown("output --show-secrets").contains("key   = \"s3cret\""));
    assert!(!shown("output").contains("s3cret") && !shown("output key").contains("s3cret"));
    assert_eq!(shown("output key --show-secrets"), "\"s3cret\"\n");
    let told = folder.run("output nmae -json");
    let json: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((told.code, &json["error"]), (1, &"there is no output `nmae`".into()));
}

/// Their JSON says what is wrong, too.
#[test]
fn what_is_wrong_is_json_for_machines() {
    let folder = stack("resource \"std_file\" \"a\" {\n");
    let told = folder.run("validate --json");
    let json: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((told.code, &json["valid"]), (1, &false.into()));
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 1, "{json}");
}

/// OUTPUT-11: of what is wrong with the text, with the program, with a plan, and of what failed in a run.
#[test]
fn diagnostics_in_json_have_lines_and_columns() {
    let folder = stack("locals {\n  ä = { größe = file(\"none\") }\n}\noutput \"a\" { value = local.ä }\n");
    let place = |json: &serde_json::Value| {
        let names = ["file", "line", "column", "end_line", "end_column"];
        names.map(|name| json[name].to_string()).join(" ")
    };
    let of_first = |json: &serde_json::Value| place(&json["diagnostics"][0]);
    for command in ["validate --json", "plan --stage t --json"] {
        assert_eq!(of_first(&folder.json(command)), r#""main.tf" 2 22 2 28"#, "{command}");
    }
    folder.write("main.tf", "resource \"std_exec\" \"a\" {\n  create = [\"false\"]\n}\n");
    let told = folder.run("deploy --stage t --yes --json --retry 1");
    let run: serde_json::Value = serde_json::from_str(told.out.lines().last().unwrap()).unwrap();
    assert_eq!(of_first(&run), r#""main.tf" 1 1 1 24"#, "{run}");
}

/// OUTPUT-14: whatever is wrong, and however early; what people are told is the same.
#[test]
fn a_mistake_in_the_command_line_is_json_for_machines() {
    let folder = empty();
    for (arguments, error) in [
        ("plan --json --nonsense", "unexpected argument '--nonsense' found"),
        ("plna --json", "unrecognized subcommand 'plna'"),
        ("why --json", "the following required arguments were not provided: <ADDRESS>"),
        ("output -json a b", "unexpected argument 'b' found"),
        ("plan --json --parallelism many", "invalid value 'many' for '--parallelism <COUNT>': a number"),
        ("plan --json --profile none", "there is no profile `none`"),
        ("plan --json --chdir none", "cannot work in "),
        ("plan --json --env-file none", "cannot read none: "),
    ] {
        let told = folder.run(arguments);
        assert_eq!(told.code, 1, "{arguments}: {told:?}");
        let json: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        assert!(json["error"].as_str().unwrap().starts_with(error), "{arguments}: {json}");
        assert!(!told.err.is_empty(), "{arguments}");
    }
    let hints = &folder.json("plna --json")["diagnostics"][0]["hints"];
    assert_eq!(hints[0], "a similar subcommand exists: 'plan'");
}

/// OUTPUT-14: one document for each line, so that answers stay beside their questions.
#[test]
fn a_wrong_line_of_the_console_is_json_for_machines() {
    let folder = stack("");
    folder.write("lines", "1 + 1\nnonsense\n\"a\"\n");
    let mut console = folder.command("console --stage t --json");
    let told = Told::by(console.stdin(std::fs::File::open(folder.path().join("lines")).unwrap()));
    let answers = told.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let kinds: Vec<_> = answers.map(|it| it["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        (told.code, kinds),
        (1, ["value", "error", "value"].map(str::to_owned).to_vec()),
        "{}",
        told.err
    );
}

/// A range goes without saying where a narrower one follows, and a default reads as a program would have it.
#[test]
fn schemas_say_what_a_program_would() {
    let schema = stack("").json("schema std_exec --json");
    let attributes = &schema["inputs"]["attributes"];
    assert_eq!(attributes["timeout"]["conditions"], serde_json::json!(["from 0.001 to 86400"]));
    assert_eq!(attributes["environment"]["default"], "{}");
}

#[test]
fn help_is_there_for_every_command() {
    let folder = empty();
    let commands = |told: &Told| -> Vec<String> {
        let listed = told.out.lines().skip_while(|line| *line != "Commands:").skip(1);
        let listed = listed.take_while(|line| line.starts_with(' '));
        // What is further in belongs to the line above.
        let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let all = commands(&folder.done("--help"));
    assert!(all.len() > 20, "{all:?}");
    for command in &all {
        for help in ["--help", "-h", "-help"] {
            let told = folder.done(&format!("{command} {help}"));
            assert!(told.out.contains("Usage: trueup"), "{command}: {told:?}");
            assert!(told.out.lines().all(|line| line.chars().count() <= 100), "{command}: {}", told.out);
        }
    }
    for command in commands(&folder.done("state --help")) {
        assert!(folder.done(&format!("state {command} --help")).out.contains("xample"), "{command}");
    }
    let told = folder.run("depoly");
    assert!(told.code == 1 && told.err.contains("deploy"), "{told:?}");
}

#[test]
fn init_writes_a_stack_that_deploys() {
    let folder = empty();
    folder.done("init hello");
    folder.done("fmt --check");
    folder.done("validate");
    folder.done("deploy --stage t --yes");
    assert_eq!(folder.read("out/hello.txt"), "Hello from hello, stage t.\n");
    assert_eq!(folder.done("output --raw file").out, "out/hello.txt");
    assert!(folder.done("init").err.contains("nothing to install"));
    assert_eq!(folder.run("init other").code, 1);
    folder.done("destroy --yes");
    assert!(!folder.has("out/hello.txt"));
}

#[test]
fn outputs_are_bare_for_scripts() {
    let folder = deployed();
    assert_eq!(folder.done("output --raw where").out, "out/index.html");
    assert_eq!(folder.done("output where").out, "\"out/index.html\"\n");
    assert_eq!(folder.json("output --json")["sizes"], serde_json::json!([15, 64]));
    assert_eq!(folder.run("output --raw sizes").code, 1);
    let told = folder.run("output wher");
    assert!(told.code == 1 && told.err.contains("did you mean `where`?"), "{told:?}");
}

#[test]
fn the_console_evaluates_with_what_is_deployed() {
    let folder = deployed();
    assert_eq!(folder.done("console std_file.index.size+1").out, "16\n");
    let mut console = folder.command("console").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = "upper(var.title)\n[for n in range(3) : n * n]\nstd_file.index.path\n";
    console.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = console.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "\"HELLO\"\n[0, 1, 4]\n\"out/index.html\"\n");
    let told = folder.run("console nonsense.x");
    assert!(told.code == 1 && told.err.contains("nonsense"), "{told:?}");
}

#[test]
fn texts_are_laid_out() {
    let folder = stack("output   \"a\" {\nvalue=1   # why\n}\n");
    let told = folder.run("fmt --check");
    assert!(told.code == 1 && (told.out + &told.err).contains("main.tf"));
    folder.done("fmt");
    assert_eq!(folder.read("main.tf"), "output \"a\" {\n  value = 1 # why\n}\n");
    folder.done("fmt --check");
    std::fs::write(folder.path().join("picture.png"), [0xff, 0xfe]).unwrap();
    folder.done("fmt --check");
}

#[test]
fn broken_files_keep_no_others_from_being_laid_out() {
    let folder = stack("output   \"a\" {\nvalue=1\n}\n");
    std::fs::write(folder.path().join("broken.tf"), [0xff, 0xfe]).unwrap();
    folder.write("a.tf", "a = = 1\n");
    folder.write("secret.tfvars", "token = hunter2 hunter3\n");
    let told = folder.run("fmt");
    assert_eq!(told.code, 1, "{told:?}");
    for place in ["broken.tf", "a.tf:1:5", "a = = 1", "secret.tfvars:1:"] {
        assert!(told.err.contains(place), "{place}: {}", told.err);
    }
    assert!(!told.err.contains("hunter"), "{}", told.err);
    assert_eq!(folder.read("main.tf"), "output \"a\" {\n  value = 1\n}\n");
}

#[test]
fn graphs_are_drawn() {
    let folder = deployed();
    let svg = folder.done("graph --format svg").out;
    well_formed(&svg);
    assert!(svg.starts_with("<svg") && svg.contains("std_file.index"), "{svg}");
    assert!(folder.done("graph").out.starts_with("digraph"));
    assert!(folder.done("graph --format mermaid").out.contains("std_file.sum"));
}

/// As far as a picture needs it: every element that is opened is closed, in order, and no `<` or `&` stands alone.
fn well_formed(xml: &str) {
    let mut open = Vec::new();
    let mut rest = xml.trim();
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(open.is_empty() || !text.contains('>') || text.contains("&gt;"), "{text}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["lt", "gt", "amp", "quot", "apos"].contains(&name) || name.starts_with('#'), "{entity}");
        }
        let end = start + rest[start..].find('>').unwrap_or_else(|| panic!("{}", &rest[start..]));
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match (tag.strip_prefix('/'), tag.ends_with('/') || tag.starts_with(['?', '!'])) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name)),
            (None, true) => {}
            (None, false) => open.push(tag.split_whitespace().next().unwrap()),
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
}

#[test]
fn resources_are_explained() {
    let folder = deployed();
    let told = folder.done("show std_file.index");
    assert!(told.out.contains("out/index.html") && told.out.contains("std_file.sum"), "{told:?}");
    folder.write("main.tf", &SITE.replace("Hello", "Moin"));
    let told = folder.done("why std_file.sum");
    assert!(told.out.contains("std_file.index"), "{told:?}");
    let told = folder.done("schema std_file");
    assert!(told.out.contains("content_base64") && told.out.contains("sha256"), "{told:?}");
    let told = folder.run("schema std_fil");
    assert!(told.code == 1 && told.err.contains("std_file"), "{told:?}");
}

/// STATE-8
#[test]
fn history_tells_every_run() {
    let folder = deployed();
    folder.write("main.tf", &SITE.replace("Hello", "Moin"));
    folder.done("deploy --yes");
    let runs = folder.json("history --json");
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let run = runs[0]["run"].as_str().unwrap();
    let told = folder.done(&format!("history {}", &run[..8]));
    assert!(told.out.contains("update completed") && told.out.contains("std_file.index"), "{told:?}");
}

/// STATE-9, ADOPT-7, MOVE-3
#[test]
fn records_are_changed_by_hand() {
    let folder = deployed();
    folder.done("state mv std_file.sum std_file.total --yes");
    folder.write(
        "main.tf",
        &SITE.replace("std_file\" \"sum\"", "std_file\" \"total\"").replace("std_file.sum", "std_file.total"),
    );
    assert!(folder.done("plan").out.contains("No changes"));
    let exported = folder.done("state export").out;
    folder.done("state rm std_file.total --yes");
    assert!(folder.has("out/sum.txt"), "its object stays");
    assert!(!folder.done("state list").out.contains("std_file.total"));
    folder.done("import std_file.total out/sum.txt --yes");
    assert!(folder.done("state list").out.contains("std_file.total"));
    assert!(folder.done("plan").out.contains("No changes"));
    assert!(exported.contains("std_file.total"));
    assert_eq!(folder.run("state rm std_file.total").code, 1, "nobody approved it");
}

#[test]
fn shells_complete() {
    let folder = deployed();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(folder.done(&format!("completions {shell}")).out.contains("trueup"), "{shell}");
    }
    folder.done("man pages");
    assert!(folder.read("pages/trueup-deploy.1").contains(".TH"));
    assert!(folder.done("version").out.starts_with("trueup "));
}

/// OUTPUT-1: what completes is put into the command line as it is, and a shell would run it.
#[test]
fn shells_complete_nothing_that_they_would_run() {
    let keys = r#"["a b", "a;b", "a'b", "$(touch x)", "`touch x`", "$HOME", "!!", "a\"b", "a\\"]"#;
    let folder = stack(&format!("resource \"terraform_data\" \"a\" {{\n  for_each = toset({keys})\n}}\n"));
    folder.done("deploy --stage t --yes");
    let mut command = folder.command("-- trueup why terraform");
    command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2").env("_CLAP_IFS", "\n");
    let completed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let mut completed: Vec<&str> = completed.lines().collect();
    completed.sort_unstable();
    let expected = [r#"["a b"]"#, r#"["a'b"]"#, r#"["a;b"]"#, r#"["a\"b"]"#, r#"["a\\"]"#];
    assert_eq!(completed, expected.map(|key| format!("terraform_data.a{key}")));
}
