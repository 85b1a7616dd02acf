//! `count`, `for_each` and `dynamic`.

use crate::stacks::bench::stack;

#[test]
fn a_counted_resource_has_as_many_instances() {
    let bench = stack(
        r#"
        variable "n" { default = 3 }
        resource "terraform_data" "many" {
          count = var.n
          input = "no ${count.index}"
        }
        output "all" { value = terraform_data.many[*].output }
        output "last" { value = terraform_data.many[2].output }
        "#,
    );
    assert!(bench.plan().contains("Plan: 3 to create"));
    insta::assert_snapshot!(bench.outputs(), @r#"{ all = ["no 0", "no 1", "no 2"], last = "no 2" }"#);
    let fewer = bench.var("n", "1");
    fewer.write(
        "main.tf",
        &std::fs::read_to_string(fewer.folder.path().join("main.tf")).unwrap().replace("[2]", "[0]"),
    );
    assert!(fewer.plan().contains("2 to delete"));
}

#[test]
fn for_each_gives_each_key_its_own_instance() {
    let bench = stack(
        r#"
        locals { sizes = { small = 1, large = 9 } }
        resource "terraform_data" "by_key" {
          for_each = local.sizes
          input    = "${each.key}=${each.value}"
        }
        resource "terraform_data" "chained" {
          for_each = terraform_data.by_key
          input    = each.value.output
        }
        resource "terraform_data" "of_set" {
          for_each = toset(["a", "b"])
          input    = each.value
        }
        output "chained" { value = { for key, it in terraform_data.chained : key => it.output } }
        output "one" { value = terraform_data.by_key["small"].output }
        output "set" { value = values(terraform_data.of_set)[*].output }
        "#,
    );
    insta::assert_snapshot!(bench.outputs(), @r#"{ chained = { large = "large=9", small = "small=1" }, one = "small=1", set = ["a", "b"] }"#);
    assert!(bench.plan().ends_with("No changes"));
}

/// How many there are may depend on what a data source or a recorded output says.
#[test]
fn instances_may_depend_on_what_a_plan_knows() {
    let bench = stack(
        r#"
        data "std_file" "names" { path = "names.txt" }
        resource "terraform_data" "named" {
          for_each = toset(split(",", trimspace(data.std_file.names.content)))
          input    = each.key
        }
        resource "terraform_data" "user" { input = keys(terraform_data.named) }
        output "names" { value = terraform_data.user.output }
        "#,
    );
    bench.write("names.txt", "ada,grace\n");
    insta::assert_snapshot!(bench.output("names"), @r#"["ada", "grace"]"#);
    bench.write("names.txt", "ada\n");
    insta::assert_snapshot!(bench.plan(), @r#"
    • terraform_data.named["ada"]
    - terraform_data.named["grace"] (undeclared)
    ~ terraform_data.user (inputs)
        input[1]: "grace" -> absent
    Plan: 1 to update, 1 to delete
    "#);
}

#[test]
fn instances_that_are_known_only_after_a_deploy_are_refused() {
    let bench = stack(
        r#"
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" {
          for_each = toset([terraform_data.a.id])
        }
        "#,
    );
    insta::assert_snapshot!(bench.refused(), @r"
    error: how many there are depends on what is known only after a deploy
     --> main.tf:4:22
      |
    4 |           for_each = toset([terraform_data.a.id])
      |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: deploy what it depends on first, with `--target`; or use keys that are known

    1 error
    ");
}

#[test]
fn a_dynamic_block_is_multiplied() {
    let with = |requests: &str| {
        stack(&format!(
            r#"
            resource "std_http" "page" {{
              dynamic "create" {{
                for_each = {requests}
                iterator = it
                content {{
                  method = "POST"
                  url    = "http://127.0.0.1:1/${{it.key}}/${{it.value}}"
                }}
              }}
            }}
            "#
        ))
    };
    let program = with("[\"a\"]").program();
    let inputs = program.resources[0].inputs.evaluate(&()).value;
    insta::assert_snapshot!(inputs, @r#"{ create = { method = "POST", url = "http://127.0.0.1:1/0/a" } }"#);
    assert!(with("{}").refused().contains("missing"));
    assert!(with("[1, 2]").refused().contains("`create` may stand only once"));
    assert!(with("5").refused().contains("`for_each` cannot go through this"));
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    for (repetition, told) in [
        ("count = -1", "must be a whole number"),
        ("count = 1.5", "must be a whole number"),
        ("count = null", "must not be null"),
        ("count = \"x\"", "must be a whole number"),
        ("for_each = [\"a\"]", "write `toset(…)`"),
        ("for_each = null", "takes a map or a set"),
        ("for_each = sensitive({ a = 1 })", "must not be secret"),
        ("for_each = toset([1])", "takes a set of texts"),
        ("for_each = toset([{}])", "takes a set of texts"),
        ("count = 1\n for_each = {}", "cannot stand together"),
    ] {
        let bench = stack(&format!("resource \"terraform_data\" \"a\" {{\n {repetition}\n}}"));
        let refused = bench.refused();
        assert!(refused.contains(told), "{repetition}: {refused}");
        assert!(refused.contains("main.tf:2:") || refused.contains("main.tf:3:"), "{refused}");
    }
}
