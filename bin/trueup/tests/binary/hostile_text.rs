//! Text from outside stands on displays, in logs and in pull requests, and does nothing there.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value as Json;
use trueup_cli_harness::{Folder, Screen, Told};

use crate::binary::stack;

/// What each of these would do, and the text, as HCL, TOML and JSON spell it.
const HOSTILE: [(&str, &str); 16] = [
    ("colours", r"\u001b[35;7mPWN"),
    ("clears the screen", r"\u001b[2J\u001b[HPWN"),
    ("sets the title", r"\u001b]0;PWN\u0007"),
    ("links", r"\u001b]8;;http://evil.test\u001b\\PWN"),
    ("colours by C1", r"\u009b35mPWN"),
    ("sets the title by C1", r"\u009d0;PWN\u009c"),
    ("writes over the line", r"harmless\rPWN"),
    ("erases", r"harmless\b\b\u007fPWN"),
    ("reverses", r"\u202egpj.exe\u202c PWN"),
    ("isolates", r"\u2066PWN\u2069\u200e\u200f\u061c"),
    ("breaks lines", r"PWN\u2028PWN\u2029PWN"),
    ("hides", r"P\u200bW\u2060N\ufeff"),
    (
        "gives orders to CI",
        r"\n::set-output name=PWN::PWN\n ::add-mask::PWN\n##vso[task.setvariable variable=PWN]PWN",
    ),
    (
        "gives more of them",
        r"\n::stop-commands::4711\n\u00a0::4711::\n  ::error file=a,line=1::PWN\n##[group]PWN\n##[set-env name=A]PWN",
    ),
    (
        "gives orders to other CI",
        r"\n##teamcity[buildStop comment='PWN']\n a ##teamcity[setParameter name='PWN']",
    ),
    ("folds logs", r"\nsection_start:0:PWN[collapsed=true]\r\u001b[0KPWN\nsection_end:0:PWN\r\u001b[0K"),
];

fn hostile() -> String {
    serde_json::from_str(&format!("\"{}\"", spelled())).unwrap()
}

/// All of them in one text.
fn spelled() -> String {
    // HCL has no `\b`.
    HOSTILE.map(|(_, text)| text.replace(r"\b", r"\u0008")).join(" ")
}

/// What may stand in output: everything that shows, and the ends of lines.
fn check_harmless(what: &str, text: &str) {
    let acts = |char: char| {
        (char.is_control() && char != '\n')
            || matches!(char, '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if let Some(found) = text.chars().find(|char| acts(*char)) {
        let line = text.lines().find(|line| line.contains(found)).unwrap_or_default();
        panic!("{what}: {found:?} in {line:?}");
    }
    let is_order = |line: &str| {
        let begun = line.trim_start();
        begun.strip_prefix("::").is_some_and(|rest| rest.contains("::"))
            || ["##vso[", "##teamcity[", "##["].iter().any(|order| line.contains(order))
    };
    if let Some(line) = text.lines().find(|line| is_order(line)) {
        panic!("{what}: CI obeys {line:?}");
    }
}

/// Runs a command, and looks through all that it says. With colours, those that are not ours are looked for.
fn harmless(folder: &Folder, arguments: &[&str]) -> Told {
    let told = Told::by(&mut folder.command_of(arguments));
    let what = arguments.join(" ");
    check_harmless(&what, &told.out);
    check_harmless(&what, &told.err);
    let coloured = Told::by(folder.command_of(arguments).env("CLICOLOR_FORCE", "1"));
    for text in [coloured].map(|it| it.out + &it.err) {
        assert!(!text.contains("35;7m") || !text.contains("\x1b[35;7m"), "{what}: {text:?}");
        check_harmless(&what, &without_colours(&text));
    }
    told
}

/// The text without the sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut stretches = text.split("\x1b[");
    let mut plain = stretches.next().unwrap_or_default().to_owned();
    for stretch in stretches {
        let end = stretch.find(|char: char| !char.is_ascii_digit() && char != ';').unwrap_or(0);
        plain.push_str(if stretch[end..].starts_with('m') { &stretch[end + 1..] } else { "\x1b" });
    }
    plain
}

/// OUTPUT-1, OUTPUT-2, OUTPUT-3: values, names, keys and outputs.
#[test]
fn values_and_keys_do_nothing_to_a_display() {
    let text = spelled();
    let folder = stack(&format!(
        r#"
        resource "terraform_data" "keyed" {{
          for_each = toset(["{text}"])
          input    = "{text}\nnext line: {text}"
        }}

        resource "terraform_data" "after" {{
          input      = {{ "{text}" = "{text}", code = "```</details><script>" }}
          depends_on = [terraform_data.keyed]
        }}

        output "hostile" {{
          value = "{text}"
        }}
        "#
    ));
    harmless(&folder, &["plan", "--stage", "t"]);
    harmless(&folder, &["plan", "--stage", "t", "--full", "--unchanged"]);
    folder.done("plan --stage t --out t.plan");
    harmless(&folder, &["show", "t.plan"]);
    let markdown = harmless(&folder, &["show", "t.plan", "--markdown"]).out;
    assert!(markdown.contains("&#92;u{202e}") && markdown.contains("````diff"), "{markdown}");
    let deployed = folder.run_with("deploy --stage t --yes --log-file log.txt", &[("TRUEUP_LOG", "trace")]);
    assert_eq!(deployed.code, 0, "{deployed:?}");
    check_harmless("deploy", &(deployed.out + &deployed.err));
    check_harmless("the log", &folder.read("log.txt"));
    let run = folder.json("history --json")["runs"][0]["run"].as_str().unwrap().to_owned();
    for command in [
        &["output"][..],
        &["output", "hostile"],
        &["show", "terraform_data.keyed"],
        &["state", "show", "terraform_data.after"],
        &["state", "list"],
        &["history", &run],
        &["console", "output.hostile"],
        &["console", "terraform_data.after.output"],
        &["graph"],
        &["graph", "--format", "mermaid"],
        &["graph", "--format", "svg"],
        &["drift"],
        &["plan", "--full", "--unchanged"],
        &["show", "terraform_data.\u{1b}[35;7mnone"],
        &["\u{1b}[35;7mplan"],
    ] {
        harmless(&folder, command);
    }
    for command in [
        &["plan", "--json"][..],
        &["show", "terraform_data.keyed", "--json"],
        &["state", "export"],
        &["history", &run, "--json"],
        &["output", "--json"],
        &["graph", "--json"],
        &["show", "t.plan", "--json"],
    ] {
        let told = harmless(&folder, command);
        let lines = if command[0] == "history" { told.out.lines().collect() } else { vec![&*told.out] };
        let parsed: Vec<Json> = lines.into_iter().map(|it| serde_json::from_str(it).unwrap()).collect();
        let again = serde_json::to_string(&parsed).unwrap();
        assert!(command[0] == "history" || again.contains('\u{202e}'), "{command:?} says the same: {again}");
    }
    // Whoever asks for the bare value has it, byte for byte.
    assert_eq!(folder.done("output --raw hostile").out, hostile());
    assert_eq!(folder.json("output hostile --json"), hostile());
}

/// OUTPUT-1, OUTPUT-2: what commands, servers and policies say, and what files are called.
#[test]
fn what_others_say_does_nothing_to_a_display() {
    let folder = stack(
        r#"
        resource "std_exec" "failing" {
          create = ["sh", "-c", "cat said >&2; exit 1"]
        }
        "#,
    );
    folder.write("said", &format!("{}\nerror: forged\n{}", hostile(), hostile()));
    let told = harmless(&folder, &["deploy", "--stage", "t", "--yes"]);
    assert!(told.code == 1 && told.err.contains("PWN"), "{told:?}");
    assert!(!told.err.lines().any(|line| line.starts_with("error: forged")), "{told:?}");
    let run = folder.json("history --json")["runs"][0]["run"].as_str().unwrap().to_owned();
    let listed = harmless(&folder, &["history", &run]).out;
    assert!(
        listed.contains("PWN") && !listed.lines().any(|line| line.starts_with("error: forged")),
        "{listed}"
    );
    harmless(&folder, &["deploy", "--yes", "--json"]);

    let (url, server) = serve(4);
    folder.write("main.tf", &format!("data \"std_http\" \"failing\" {{\n  url = \"{url}\"\n}}\n"));
    let told = harmless(&folder, &["plan"]);
    assert!(told.code == 1 && told.err.contains("PWN"), "{told:?}");
    harmless(&folder, &["plan", "--json"]);
    drop(folder);
    server.join().unwrap();

    let folder = stack("resource \"terraform_data\" \"a\" {\n}\n");
    let policy = format!("[[policy]]\nname = \"p\"\nwhen = 'true'\nmessage = \"{}\"\n", spelled());
    folder.write("policies/p.toml", &policy);
    let told = harmless(&folder, &["plan", "--stage", "t"]);
    assert!(told.code == 1 && told.err.contains("PWN"), "{told:?}");
    std::fs::remove_dir_all(folder.path().join("policies")).unwrap();

    let name = "a\u{1b}[35;7mPWN\u{9b}35m\u{202e}\r\nerror: forged.tf";
    folder.write(name, "resource \"terraform_data\" \"b\" {\n  \u{1b}[35;7m\u{9b}\u{202e} =\n}\n");
    for command in [&["plan"][..], &["validate"], &["validate", "--json"], &["fmt", "--check"]] {
        let told = harmless(&folder, command);
        // Where a mistake is, JSON says by numbers.
        let named = command.contains(&"--json") || (told.out.clone() + &told.err).contains("PWN");
        assert!(told.code == 1 && named, "{command:?}: {told:?}");
    }
    std::fs::remove_file(folder.path().join(name)).unwrap();
    // The folder's name is that of the stack.
    let inside = folder.path().join(name);
    std::fs::create_dir(&inside).unwrap();
    std::fs::rename(folder.path().join("main.tf"), inside.join("main.tf")).unwrap();
    for command in
        ["plan", "validate", "deploy --yes", "config", "show p.plan", "plan --out p.plan", "show p.plan"]
    {
        let words: Vec<&str> =
            ["-C", name].into_iter().chain(command.split(' ')).chain(["--stage", "t"]).collect();
        let told = harmless(&folder, &words);
        let forged = |line: &str| line.starts_with("error: forged");
        assert!(!told.out.lines().chain(told.err.lines()).any(forged), "{command}: {told:?}");
    }
    std::fs::remove_dir_all(&inside).unwrap();
    harmless(&folder, &["state", "import", name]);
    harmless(&folder, &["plan", "--out", name]);
    harmless(&folder, &["state", "export", "--to", name]);
}

/// OUTPUT-1: stages become part of names and paths, and are shown first of all.
#[test]
fn only_names_are_stages() {
    let folder = stack("resource \"terraform_data\" \"a\" {\n}\n");
    for name in ["../../up", "a/b", "a\nerror: forged", "\u{1b}[2J"] {
        let told = folder.run_with("plan", &[("TRUEUP_STAGE", name)]);
        assert!(told.code == 1 && told.err.contains("TRUEUP_STAGE is not the name"), "{name:?}: {told:?}");
        let memory = serde_json::json!({ "version": 1, "stage": name });
        folder.write(".trueup/folder.json", &memory.to_string());
        let told = folder.done("plan");
        assert!(told.out.lines().next().unwrap().contains("stage dev_"), "{name:?}: {told:?}");
    }
}

/// A server that refuses so many requests, and says why.
fn serve(requests: usize) -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        for _ in 0..requests {
            let (mut connection, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).unwrap();
            let body = hostile();
            let head =
                format!("HTTP/1.1 400 Bad\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            connection.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    (url, serving)
}

/// OUTPUT-1: in a real terminal, while lines at its bottom change.
#[test]
fn a_terminal_shows_hostile_text_and_keeps_what_it_showed() {
    let folder = stack(
        r#"
        resource "terraform_data" "first" {
          input = "\u001b[2J\u001b[H\u009b2J"
        }

        resource "std_exec" "failing" {
          create     = ["sh", "-c", "printf '\\033[2J\\033[Hwhat it said\\302\\2332J' >&2; exit 1"]
          depends_on = [terraform_data.first]
        }
        "#,
    );
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    assert_eq!(screen.ended(), 1);
    let text = screen.text();
    assert!(text.contains("Plan: 2 to create"), "{text}");
    assert!(text.contains(r#"input  "\u{1b}[2J\u{1b}[H\u{9b}2J""#), "{text}");
    assert!(text.contains(r"\u{1b}[2J\u{1b}[Hwhat it"), "{text}");
}
