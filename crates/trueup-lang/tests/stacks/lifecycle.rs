//! The words of `lifecycle`, and blocks that change what happens.

use crate::stacks::bench::{Bench, stack};

#[test]
fn changes_that_are_ignored_do_not_count() {
    let text = |input: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n input = \"{input}\"\n lifecycle {{\n ignore_changes = [input]\n }}\n}}"
        )
    };
    let bench = stack(&text("one"));
    bench.outputs();
    bench.write("main.tf", &text("two"));
    assert!(bench.plan().ends_with("No changes"));
    bench.write("main.tf", &text("two").replace("[input]", "all"));
    assert!(bench.plan().ends_with("No changes"));
}

#[test]
fn what_is_protected_is_not_destroyed() {
    let bench = stack("resource \"terraform_data\" \"a\" {\n lifecycle {\n prevent_destroy = true\n }\n}");
    bench.outputs();
    bench.write("main.tf", "");
    assert!(bench.refused().contains("protected"));
}

#[test]
fn conditions_are_held_against_real_values() {
    let bench = stack(
        r#"
        resource "terraform_data" "a" {
          input = "short"
          lifecycle {
            precondition {
              condition     = length("x") == 1
              error_message = "never"
            }
            postcondition {
              condition     = length(self.output) > 10
              error_message = "The output ${self.output} is too short."
            }
          }
        }
        resource "terraform_data" "user" { input = terraform_data.a.output }
        "#,
    );
    let report = bench.deploy();
    let outcomes = format!("{:?}", report.outcomes);
    assert!(outcomes.contains("The output short is too short."), "{outcomes}");
    assert!(outcomes.contains("Skipped"), "{outcomes}");
    // What is recorded is known at plan, and so is what is wrong with it.
    let told = bench.refused();
    assert!(told.contains("The output short is too short."), "{told}");
    assert!(told.contains("main.tf:10:"), "{told}");
}

#[test]
fn a_replacement_is_triggered_by_what_changes_elsewhere() {
    let text = |input: u32| {
        format!(
            r#"
            resource "terraform_data" "version" {{ input = {input} }}
            resource "terraform_data" "whole" {{
              lifecycle {{ replace_triggered_by = [terraform_data.version] }}
            }}
            resource "terraform_data" "part" {{
              lifecycle {{ replace_triggered_by = [terraform_data.version.id] }}
            }}
            "#
        )
    };
    let bench = stack(&text(1));
    bench.outputs();
    assert!(bench.plan().ends_with("No changes"));
    bench.write("main.tf", &text(2));
    insta::assert_snapshot!(bench.plan(), @r"
    • terraform_data.part
    ~ terraform_data.version (inputs)
        input: 1 -> 2
    ± terraform_data.whole create first (triggered)
    Plan: 1 to update, 1 to replace
    ");
    bench.outputs();
    assert!(bench.plan().ends_with("No changes"));
}

#[test]
fn what_is_removed_may_be_left_where_it_is() {
    let bench = stack("resource \"std_file\" \"a\" {\n path = \"a.txt\"\n content = \"x\"\n}");
    bench.outputs();
    bench.write("main.tf", "removed {\n from = std_file.a\n lifecycle {\n destroy = false\n }\n}");
    insta::assert_snapshot!(bench.plan(), @r"
    x std_file.a (undeclared)
    Plan: 1 to forget
    ");
    bench.outputs();
    assert!(bench.folder.path().join("a.txt").exists());
}

/// CHECK-1: one that does not hold, and one that cannot be evaluated.
#[test]
fn checks_warn_and_stop_nothing() {
    let bench = stack(
        r#"
        resource "terraform_data" "a" { input = 1 }
        check "size" {
          assert {
            condition     = terraform_data.a.output > 1
            error_message = "The size is ${terraform_data.a.output}."
          }
        }
        check "share" {
          assert {
            condition     = 1 / (terraform_data.a.output - 1) > 0
            error_message = "There is no share."
          }
        }
        "#,
    );
    let warned_of_both = |told: &[String]| {
        let warned = |part: &str| told.iter().any(|it| it.contains(part));
        assert!(warned("The size is 1.") && warned("zero"), "{told:?}");
    };
    let report = bench.deploy();
    assert!(report.succeeded());
    warned_of_both(&report.warnings);
    let plan = bench.try_plan().unwrap();
    assert!(plan.is_empty());
    warned_of_both(&plan.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
}

#[test]
fn our_files_add_our_words_to_what_terraform_files_declare() {
    let bench = Bench::new([
        ("main.tf", "resource \"std_file\" \"a\" {\n path = \"a.txt\"\n content = \"x\"\n}"),
        (
            "ours.tu.hcl",
            "resource \"std_file\" \"a\" {\n lifecycle {\n retain = true\n drift = \"warn\"\n }\n}",
        ),
    ]);
    bench.outputs();
    bench.write("main.tf", "");
    std::fs::remove_file(bench.folder.path().join("ours.tu.hcl")).unwrap();
    insta::assert_snapshot!(bench.plan(), @r"
    x std_file.a (undeclared)
    Plan: 1 to forget
    ");
    bench.write("main.tf", "resource \"std_file\" \"a\" {\n path = \"a.txt\"\n content = \"x\"\n}");
    bench.write("ours.tu.hcl", "resource \"std_file\" \"a\" {\n content = \"y\"\n}");
    assert!(bench.refused().contains("here it may only get `lifecycle` and `bind`"));
}

/// RETRY-2
#[test]
fn retry_in_stack_is_for_all_or_one_type() {
    let bench = stack(
        r#"
        stack {
          timeout = "30m"
          retry {
            attempts = 5
          }
          retry "terraform_data" {
            backoff = "10s"
          }
        }
        resource "terraform_data" "a" {}
        "#,
    );
    let of_type = bench.program().type_retries["terraform_data"];
    assert_eq!((of_type.attempts_max, of_type.backoff.unwrap().as_secs()), (None, 10));
    bench.write("main.tf", "stack {\n retry \"a\" \"b\" {}\n}");
    assert!(bench.refused().contains("`retry` takes one label at most"));
}

#[test]
fn timeouts_and_retries_are_set_per_resource() {
    let bench = stack(
        r#"
        stack { limits = { frail = 2 } }
        resource "terraform_data" "a" {
          lifecycle {
            timeout = "10m"
            timeouts { create = "1h30m" }
            retry {
              attempts = 3
              backoff  = "250ms"
            }
            limit        = "frail"
            delete_first = true
            adopt        = false
          }
        }
        "#,
    );
    let options = bench.program().resources[0].options.clone();
    let timeouts = options.timeouts.unwrap();
    assert_eq!(timeouts.create.unwrap().as_secs(), 5400);
    assert_eq!(timeouts.delete.unwrap().as_secs(), 600);
    assert_eq!(options.retry.attempts_max, Some(3));
    assert_eq!(options.retry.backoff.unwrap().as_millis(), 250);
    assert_eq!(options.retry.backoff_max, None, "it is set elsewhere");
    assert_eq!((options.delete_first, options.adopt), (Some(true), Some(false)));
    assert_eq!(options.parallelism_class.as_deref(), Some("frail"));
    bench.outputs();
    bench.write("main.tf", "resource \"terraform_data\" \"a\" {\n lifecycle {\n timeout = \"soon\"\n }\n}");
    assert!(bench.refused().contains("write it like \"90s\""));
}

/// JSON writes references as texts.
#[test]
fn each_instance_has_triggers_of_its_own() {
    let text = |inputs: &str| {
        format!(
            r#"
            locals {{ inputs = {inputs} }}
            resource "terraform_data" "a" {{
              count = 2
              input = local.inputs[count.index]
            }}
            resource "terraform_data" "b" {{
              for_each = {{ x = local.inputs[0], y = local.inputs[1] }}
              input    = each.value
            }}
            "#
        )
    };
    let bench = Bench::new([
        ("main.tf", text("[1, 1]").as_str()),
        (
            "triggered.tf.json",
            r#"{ "resource": { "terraform_data": {
                "c": { "count": 2, "lifecycle": { "replace_triggered_by": ["terraform_data.a[count.index]"] } },
                "d": { "for_each": { "x": 1, "y": 1 }, "lifecycle": { "replace_triggered_by": ["terraform_data.b[each.key].output"] } }
            } } }"#,
        ),
    ]);
    bench.outputs();
    bench.write("main.tf", &text("[1, 2]"));
    insta::assert_snapshot!(bench.plan(), @r#"
    • terraform_data.a[0]
    ~ terraform_data.a[1] (inputs)
        input: 1 -> 2
    • terraform_data.b["x"]
    ~ terraform_data.b["y"] (inputs)
        input: 1 -> 2
    • terraform_data.c[0]
    ± terraform_data.c[1] create first (triggered)
    • terraform_data.d["x"]
    ± terraform_data.d["y"] create first (triggered)
    Plan: 2 to update, 2 to replace
    "#);
}

/// CHECK-2
#[test]
fn what_a_check_reads_warns_and_stops_nothing() {
    let text = |path: &str, more: &str| {
        format!(
            r#"
            resource "std_file" "a" {{
              path    = "a.txt"
              content = "hello"
            }}
            check "size" {{
              data "std_file" "a" {{
                path = "{path}"
              }}
              assert {{
                condition     = data.std_file.a.size > 10
                error_message = "The size is ${{data.std_file.a.size}}."
              }}
            }}
            {more}
            "#
        )
    };
    // It is read when all else is as it should be.
    let bench = stack(&text("a.txt", ""));
    let report = bench.deploy();
    assert!(report.succeeded());
    assert!(report.warnings.iter().any(|it| it.contains("The size is 5.")), "{:?}", report.warnings);
    bench.write("main.tf", &text("b.txt", ""));
    assert!(bench.plan().ends_with("No changes"), "{}", bench.plan());
    bench.write("main.tf", &text("b.txt", "").replace("hello", "hello again"));
    let report = bench.deploy();
    assert!(report.succeeded());
    assert!(report.warnings.iter().any(|it| it.contains("cannot read")), "{:?}", report.warnings);
    assert!(!report.warnings.iter().any(|it| it.contains("The size")), "{:?}", report.warnings);
    bench.write("main.tf", &text("a.txt", "output \"x\" {\n value = data.std_file.a.size\n}"));
    let refused = bench.refused();
    assert!(refused.contains("data.std_file.a is known in the check `size` only"), "{refused}");
    bench.write(
        "main.tf",
        &text("a.txt", "").replace("data \"std_file\" \"a\" {", "data \"std_file\" \"a\" {\n count = 2"),
    );
    let refused = bench.refused();
    assert!(refused.contains("`count` cannot stand in a data source of a `check`"), "{refused}");
}
