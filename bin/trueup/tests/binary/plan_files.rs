//! Plans that are saved and carried out later, as pipelines do.

use trueup_cli_harness::Folder;

use crate::binary::{empty, stack};

const SITE: &str = r#"
stack {
  name = "site"
}

variable "title" {
  default = "Hello"
}

data "std_file" "names" {
  path = "names.txt"
}

resource "std_file" "index" {
  path    = "out/index.html"
  content = "<h1>${var.title}</h1>\n${file("motd.txt")}"
}

resource "std_file" "named" {
  for_each = toset(split(",", trimspace(data.std_file.names.content)))
  path     = "out/${each.key}.txt"
  content  = "${each.key} ${std_file.index.sha256} ${plantimestamp()}"
}

output "titles" {
  value = [var.title, length(std_file.named)]
}
"#;

fn site() -> Folder {
    let folder = stack(SITE);
    folder.write("motd.txt", "be kind\n");
    folder.write("names.txt", "ada,bob\n");
    folder
}

/// PLANFILE-1, PLANFILE-2: the way of a pipeline, with instances that are found in rounds.
#[test]
fn a_plan_is_saved_shown_and_carried_out_once() {
    let folder = site();
    let planned = folder.run("plan --stage ci --out site.plan --detailed-exitcode");
    assert_eq!(planned.code, 2, "{planned:?}");
    assert!(planned.err.contains("trueup deploy site.plan"), "{planned:?}");
    assert!(!folder.has(".trueup"), "planning writes nothing but the file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path().join("site.plan")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let body = |text: &str| text.split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(body(&folder.done("show site.plan").out), body(&planned.out), "it shows what plan showed");
    assert_eq!(folder.json("show site.plan --json"), folder_json(&folder, "plan --stage ci --json"));
    // What was looked at counts as it was, and so does the time.
    folder.write("names.txt", "eve\n");
    let deployed = folder.done("deploy site.plan");
    assert!(deployed.err.contains("3 created"), "{deployed:?}");
    assert!(folder.has("out/ada.txt") && folder.has("out/bob.txt") && !folder.has("out/eve.txt"));
    let again = folder.run("deploy site.plan");
    assert!(again.code == 1 && again.err.contains("carried out already"), "{again:?}");
}

/// PLANFILE-1: what is advised is what works.
#[test]
fn a_saved_plan_names_the_command_that_works() {
    let folder = stack(
        r#"
variable "title" {}

resource "std_file" "title" {
  path    = "title.txt"
  content = var.title
}

resource "std_exec" "late" {
  create = ["test", "-f", "ready"]
}
"#,
    );
    let with_title = |advised: &str| advised.replace("title=…", "title=Hi");
    let advised = |told: &str, before: &str| -> String {
        let line = told.lines().find_map(|line| line.split_once(before)).unwrap_or_else(|| panic!("{told}"));
        line.1.strip_prefix("trueup ").unwrap().to_owned()
    };
    folder.write("more.tfvars", "");
    let planned =
        folder.done("plan --stage t --out my.plan --no-drift --var title=Hi --var-file more.tfvars");
    let deploy = advised(&planned.err, "To carry it out: ");
    assert_eq!(deploy, "deploy my.plan --var title=… --var-file more.tfvars");
    let failed = folder.run(&with_title(&deploy));
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.err.contains("This plan is used up. To continue"), "{failed:?}");
    let plan = failed.err.lines().find_map(|line| line.strip_prefix("  trueup ")).unwrap();
    assert_eq!(plan, "plan --stage t --no-drift --out my.plan --var title=… --var-file more.tfvars");
    folder.write("ready", "");
    let planned = folder.done(&with_title(plan));
    let deployed = folder.done(&with_title(&advised(&planned.err, "To carry it out: ")));
    assert!(deployed.err.contains("Deployed"), "{deployed:?}");
}

/// The same plan, but for the time at which it was made.
fn folder_json(folder: &Folder, command: &str) -> serde_json::Value {
    let planned: serde_json::Value = folder.json("show site.plan --json");
    let mut now = folder.json(command);
    for (now, planned) in
        now["actions"].as_array_mut().unwrap().iter_mut().zip(planned["actions"].as_array().unwrap())
    {
        for side in ["inputs", "outputs"] {
            for field in ["content", "sha256"] {
                if now["address"].as_str().is_some_and(|it| it.contains("named"))
                    && !now[side][field].is_null()
                {
                    now[side][field] = planned[side][field].clone();
                }
            }
        }
    }
    now
}

/// PLANFILE-2: each premise is told by its name, and nothing is changed.
#[test]
fn a_plan_is_refused_when_its_program_is_another() {
    let folder = site();
    folder.done("plan --stage ci --out site.plan");
    let refused = |arguments: &str, why: &str| {
        let told = folder.run(arguments);
        assert!(told.code == 1 && told.err.contains(why), "{arguments}: {told:?}");
    };
    refused("deploy site.plan --var title=Hi", "the variable `title`");
    refused("deploy site.plan --stage prod", "is for the stage ci, and --stage says prod");
    refused("deploy site.plan --target std_file.index", "cannot be used with");
    folder.write("motd.txt", "be brief\n");
    refused("deploy site.plan", "motd.txt");
    folder.write("motd.txt", "be kind\n");
    folder.write("more.tf", "# nothing\n");
    refused("deploy site.plan", "more.tf is new since the plan was made");
    folder.write("more.tf", "");
    std::fs::remove_file(folder.path().join("more.tf")).unwrap();
    folder.write("main.tf", &SITE.replace("\"site\"", "\"shop\""));
    refused("deploy site.plan", "is for the stack site, and here is shop");
    folder.write("main.tf", SITE);
    assert!(!folder.has("out"), "nothing was changed");
    folder.done("deploy site.plan");
}

/// PLANFILE-4.
#[test]
fn what_is_no_sound_plan_file_is_refused_with_the_reason() {
    let folder = site();
    folder.done("plan --stage ci --out site.plan");
    let whole = std::fs::read(folder.path().join("site.plan")).unwrap();
    let cases: [(&[u8], &str); 4] = [
        (b"{}", "it is not a plan file"),
        (b"trueup-plan 7\n{}", "it has format 7"),
        (&whole[..whole.len() / 2], "it is damaged"),
        (&[&whole[..40], b"x", &whole[41..]].concat(), "it is damaged"),
    ];
    for (bytes, why) in cases {
        std::fs::write(folder.path().join("bad.plan"), bytes).unwrap();
        for command in ["deploy bad.plan", "show ./bad.plan"] {
            let told = folder.run(command);
            assert!(told.code == 1 && told.err.contains(why), "{command}: {told:?}");
        }
    }
    let told = folder.run("deploy none.plan");
    assert!(told.err.contains("cannot read"), "{told:?}");
    // Elsewhere there is another stack.
    let other = empty();
    std::fs::copy(folder.path().join("site.plan"), other.path().join("site.plan")).unwrap();
    let told = other.run("deploy site.plan");
    assert!(told.code == 1 && told.err.contains("the stack site"), "{told:?}");
}

/// PLANFILE-2: a colleague deploys something unrelated in between.
#[test]
fn an_unrelated_deploy_does_not_spoil_a_plan() {
    let folder = site();
    folder.done("deploy --stage ci --yes");
    folder.write("motd.txt", "be brief\n");
    folder.done("plan --stage ci --out site.plan --target std_file.index");
    folder.write(
        "main.tf",
        &format!("{SITE}\nresource \"std_file\" \"mine\" {{\n  path = \"mine.txt\"\n  content = \"\"\n}}\n"),
    );
    folder.done("deploy --stage ci --yes --target std_file.mine");
    folder.write("main.tf", SITE);
    let told = folder.done("deploy site.plan");
    assert!(told.err.contains("1 updated"), "{told:?}");
    assert!(folder.has("mine.txt"), "it is not this plan's to remove");
    assert!(folder.read("out/index.html").contains("be brief"));
}

/// PLANFILE-1, DELETE-4.
#[test]
fn destruction_is_saved_but_not_that_of_a_protected_stage() {
    let folder = site();
    folder.done("deploy --stage ci --yes");
    folder.done("plan --stage ci --destroy --out end.plan");
    folder.done("deploy end.plan");
    assert!(!folder.has("out/index.html"));
    folder
        .write("main.tf", &SITE.replace("name = \"site\"", "name = \"site\"\n  protected_stages = [\"ci\"]"));
    let told = folder.run("plan --stage ci --destroy --out end.plan");
    assert!(told.code == 1 && told.err.contains("protected"), "{told:?}");
}

/// PLAN-18, APPLY-12: a changed output alone is a change, is told, and is stored.
#[test]
fn a_changed_output_is_a_change() {
    let folder = stack("output \"a\" {\n  value = 1\n}\n");
    folder.done("deploy --stage t --yes");
    assert_eq!(folder.run("plan --detailed-exitcode").code, 0);
    folder.write("main.tf", "output \"a\" {\n  value = 2\n}\noutput \"b\" {\n  value = \"new\"\n}\n");
    let planned = folder.run("plan --detailed-exitcode");
    assert_eq!(planned.code, 2, "{planned:?}");
    insta::assert_snapshot!(planned.out.split_once("\n\n").unwrap().1, @r#"
      Outputs
        a  1 → 2
        b  "new"

    Plan: 2 outputs to change
    "#);
    folder.done("deploy --yes");
    assert_eq!(folder.done("output --raw a").out, "2");
    assert_eq!(folder.run("plan --detailed-exitcode").code, 0);
}

#[test]
fn a_plan_as_markdown_folds_its_fields_and_stays_small() {
    let folder = site();
    folder.done("plan --stage ci --out site.plan");
    let text = folder.done("show site.plan --markdown").out;
    insta::assert_snapshot!(text.lines().take(13).collect::<Vec<_>>().join("\n"), @r#"
    ### `site` · stage `ci`

    **Plan: 3 to create**

    <details><summary>+ <code>std_file.index</code>: create</summary>

    ```diff
    content  | <h1>Hello</h1>
             | be kind
    path     "out/index.html"
    ```

    </details>
    "#);
    let many: String = (0..2000)
        .map(|at| {
            format!(
                "resource \"std_file\" \"f{at}\" {{\n  path = \"f{at}\"\n  content = \"```</details>\"\n}}\n"
            )
        })
        .collect();
    folder.write("main.tf", &many);
    folder.done("plan --stage ci --out many.plan");
    let text = folder.done("show many.plan --markdown").out;
    assert!(text.len() < 62_000, "{}", text.len());
    assert!(text.contains("more that do not fit here"));
}

const SECRET: &str = r#"
stack {
  name = "site"
}

variable "password" {
  sensitive = true
  default   = "canary-1d7"
}

resource "std_file" "a" {
  path    = "a.txt"
  content = var.password
}
"#;

/// PLANFILE-4, SECRET-3: a plan with a secret is sealed, and opens by the key alone.
#[test]
fn a_plan_with_secrets_needs_the_key() {
    let folder = stack(SECRET);
    folder.done("plan --stage t --out s.plan");
    let bytes = std::fs::read(folder.path().join("s.plan")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("canary"));
    assert!(folder.done("show s.plan --full --unchanged").out.contains("(secret)"));
    let other = empty();
    let environment = [("XDG_CONFIG_HOME", other.path().to_str().unwrap())];
    for command in ["show s.plan", "deploy s.plan"] {
        let told = folder.run_with(command, &environment);
        assert!(told.code == 1 && told.err.contains("key"), "{command}: {told:?}");
    }
    assert!(!folder.has("a.txt"));
    folder.done("deploy s.plan");
    assert_eq!(folder.read("a.txt"), "canary-1d7");
}

/// PLANFILE-4: where a stage has a key, a plan without secrets is signed; a changed one, and one that is not, is refused.
#[test]
fn a_plan_of_a_stage_with_a_key_is_signed() {
    let folder = stack(SECRET);
    folder.done("deploy --stage t --yes");
    let plain = r#"
        stack { name = "site" }
        resource "std_file" "b" {
          path    = "b.txt"
          content = "plain"
        }
    "#;
    folder.write("main.tf", plain);
    folder.done("plan --stage t --target std_file.b --out b.plan");
    let path = folder.path().join("b.plan");
    let signed = std::fs::read(&path).unwrap();
    assert!(String::from_utf8_lossy(&signed).contains("\"signed\""));
    // Whoever changes it can make the digest anew, but not the signature.
    let at = signed.windows(5).position(|at| at == b"plain").unwrap();
    let mut changed = signed[..signed.len() - 32].to_vec();
    changed[at..at + 5].copy_from_slice(b"pluck");
    let digest = blake3::hash(&changed);
    changed.extend(digest.as_bytes());
    std::fs::write(&path, changed).unwrap();
    let told = folder.run("deploy b.plan");
    assert!(told.code == 1 && told.err.contains("it was changed"), "{told:?}");
    // Nor is one believed that says it needs none.
    let unsigned = stack(plain);
    unsigned.done("plan --stage t --target std_file.b --out b.plan");
    std::fs::copy(unsigned.path().join("b.plan"), &path).unwrap();
    let told = folder.run("deploy b.plan");
    assert!(told.code == 1 && told.err.contains("is not signed"), "{told:?}");
    std::fs::write(&path, signed).unwrap();
    folder.done("deploy b.plan");
    assert_eq!(folder.read("b.txt"), "plain");
}
