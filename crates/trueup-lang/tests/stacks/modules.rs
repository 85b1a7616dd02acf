//! Modules: calls, variables, outputs, instances, providers.

use crate::stacks::bench::Bench;

#[test]
fn modules_are_called_with_variables_and_give_outputs() {
    let bench = Bench::new([
        (
            "main.tf",
            r#"
            module "net" {
              source = "./net"
              for_each = { blue = 1, green = 2 }
              name   = each.key
              size   = each.value
            }
            module "after" {
              source     = "./leaf"
              text       = module.net["blue"].names[0]
              depends_on = [module.net]
            }
            output "names" { value = { for key, net in module.net : key => net.names } }
            output "leaf" { value = module.after.text }
            output "path" { value = module.net["green"].path }
            "#,
        ),
        (
            "net/main.tf",
            r#"
            variable "name" { type = string }
            variable "size" { type = number }
            locals { full = "net-${var.name}" }
            module "leaf" {
              source = "../leaf"
              count  = var.size
              text   = "${local.full}-${count.index}"
            }
            output "names" { value = module.leaf[*].text }
            output "path" { value = path.module }
            "#,
        ),
        (
            "leaf/main.tf",
            r#"
            variable "text" {}
            resource "terraform_data" "leaf" { input = var.text }
            output "text" { value = terraform_data.leaf.output }
            "#,
        ),
    ]);
    insta::assert_snapshot!(bench.plan(), @r#"
    + module.after.terraform_data.leaf (new)
    + module.net["blue"].module.leaf[0].terraform_data.leaf (new)
    + module.net["green"].module.leaf[0].terraform_data.leaf (new)
    + module.net["green"].module.leaf[1].terraform_data.leaf (new)
    Plan: 4 to create
    "#);
    insta::assert_snapshot!(bench.outputs(), @r#"{ leaf = "net-blue-0", names = { blue = ["net-blue-0"], green = ["net-green-0", "net-green-1"] }, path = "net" }"#);
    assert!(bench.plan().ends_with("No changes"));
}

#[test]
fn a_module_that_moves_keeps_its_objects() {
    let leaf = ("leaf/main.tf", "resource \"terraform_data\" \"leaf\" { input = 1 }");
    let bench = Bench::new([("main.tf", "module \"a\" {\n source = \"./leaf\"\n}"), leaf]);
    bench.outputs();
    bench.write(
        "main.tf",
        "module \"b\" {\n source = \"./leaf\"\n}\nmoved {\n from = module.a\n to = module.b\n}",
    );
    insta::assert_snapshot!(bench.plan(), @r"
    > module.a.terraform_data.leaf -> module.b.terraform_data.leaf
    • module.b.terraform_data.leaf (moved)
    Plan: 1 to move
    ");
}

#[test]
fn mistakes_in_calls_are_told_at_the_call() {
    let bench = Bench::new([
        (
            "main.tf",
            r#"
            module "net" {
              source = "./net"
              nmae   = "x"
            }
            module "far" { source = "hashicorp/consul/aws" }
            module "gone" { source = "./gone" }
            output "x" { value = module.net.nothing }
            "#,
        ),
        ("net/main.tf", "variable \"name\" {}\noutput \"name\" { value = var.name }"),
    ]);
    insta::assert_snapshot!(bench.refused(), @r#"
    error: the module source `hashicorp/consul/aws` is not supported
     --> main.tf:6:37
      |
    6 |             module "far" { source = "hashicorp/consul/aws" }
      |                                     ^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: modules come from local folders: copy it here and write `source = "./folder"`

    error: there is no folder `gone`
     --> main.tf:7:38
      |
    7 |             module "gone" { source = "./gone" }
      |                                      ^^^^^^^^
      |
      = help: check `source`

    2 errors
    "#);
    let circular = Bench::new([
        ("main.tf", "module \"a\" {\n source = \"./a\"\n}"),
        ("a/main.tf", "module \"b\" {\n source = \"../a\"\n}"),
    ]);
    insta::assert_snapshot!(circular.refused(), @r#"
    error: module `b` calls itself by way of `a`
     --> a/main.tf:2:11
      |
    2 |  source = "../a"
      |           ^^^^^^
      |
      = help: a module cannot contain itself

    1 error
    "#);
}

/// What is wrong with an argument is told at the call, not where its parts come from.
#[test]
fn arguments_that_do_not_fit_are_told_at_the_call() {
    let with = |argument: &str, variable: &str| {
        let bench = Bench::new([]);
        bench.write(
            "main.tf",
            &format!("locals {{ far = \"abc\" }}\nmodule \"m\" {{\n source = \"./m\"\n x = {argument}\n}}"),
        );
        bench.write("m/main.tf", &format!("variable \"x\" {{\n {variable}\n}}"));
        bench.refused()
    };
    let refused = with("local.far", "type = number");
    assert!(refused.contains("main.tf:4:6") && refused.contains("expected a number"), "{refused}");
    let refused = with("{ n = \"abc\" }", "type = object({ n = number })");
    assert!(refused.contains("main.tf:4:12"), "{refused}");
    let refused = with("null", "nullable = false");
    assert!(refused.contains("main.tf:4:6") && refused.contains("`x` must not be null"), "{refused}");
}

#[test]
fn defaults_must_fit_even_where_they_are_not_used() {
    let bench = Bench::new([
        ("main.tf", "module \"m\" {\n source = \"./m\"\n x = 1\n y = 2\n}"),
        (
            "m/main.tf",
            "variable \"x\" {\n type = number\n default = \"abc\"\n}\nvariable \"y\" {\n nullable = false\n default = null\n}",
        ),
    ]);
    let refused = bench.refused();
    assert!(refused.contains("m/main.tf:3:12") && refused.contains("m/main.tf:7:12"), "{refused}");
}

#[test]
fn what_only_the_root_module_may_say_is_refused_elsewhere() {
    for (text, told) in [
        (
            "resource \"terraform_data\" \"a\" {}\nimport {\n to = terraform_data.a\n id = \"x\"\n}",
            "`import` stands",
        ),
        ("stack {\n name = \"x\"\n}", "`stack` stands"),
    ] {
        let bench = Bench::new([("main.tf", "module \"m\" {\n source = \"./m\"\n}"), ("m/main.tf", text)]);
        let refused = bench.refused();
        assert!(refused.contains(told) && refused.contains("in the root module only"), "{refused}");
    }
}

/// A module may expect the configuration without an alias too, and has one with an alias if it says so, be it empty.
#[test]
fn modules_expect_configurations_and_have_their_own() {
    let module = |block: &str| {
        format!(
            "{block}\nresource \"std_file\" \"a\" {{\n provider = std.b\n path = \"a\"\n content = \"\"\n}}\n"
        )
    };
    let expects =
        module("terraform {\n required_providers {\n std = { configuration_aliases = [std, std.b] }\n }\n}");
    let root = |providers: &str| {
        format!(
            "provider \"std\" {{\n alias = \"x\"\n folder = \"x\"\n}}\nmodule \"m\" {{\n source = \"./m\"\n {providers}\n}}\n"
        )
    };
    let bench = Bench::new([
        ("main.tf", &root("providers = { std = std.x, std.b = std.x }")),
        ("m/main.tf", &expects),
    ]);
    let serves =
        |bench: &Bench| bench.program().resources[0].provider.clone().unwrap_or_default().to_string();
    assert_eq!(serves(&bench), "std.x");
    bench.write("main.tf", &root("providers = { std.b = std.x }"));
    let refused = bench.refused();
    assert!(refused.contains("module `m` expects the provider `std`"), "{refused}");
    bench.write("m/main.tf", &module("provider \"std\" {\n alias = \"b\"\n}"));
    assert_eq!(serves(&bench), "std.x");
    bench.write("main.tf", &root(""));
    assert_eq!(serves(&bench), "module.m.std.b");
}

/// BOUND-6: few folders, and more instances than anybody could wait for.
#[test]
fn modules_that_multiply_are_refused() {
    let bench = Bench::new([]);
    let calls = |at: usize| {
        let call = |name: &str| format!("module \"{name}\" {{\n source = \"../m{at}\"\n}}\n");
        [call("a"), call("b")].concat()
    };
    for at in 0..40 {
        bench.write(&format!("m{at}/main.tf"), &calls(at + 1));
    }
    bench.write("m40/main.tf", "locals {}\n");
    bench.write("main.tf", "module \"m\" {\n source = \"./m0\"\n}\n");
    let refused = bench.refused();
    assert!(refused.contains("there are more than 50000 instances of modules"), "{refused}");
}

/// BOUND-6: by way of links, a folder has paths without end.
#[cfg(unix)]
#[test]
fn modules_that_call_each_other_through_links_are_refused() {
    let bench = Bench::new([("main.tf", "module \"m\" {\n source = \"./m\"\n}\n")]);
    let call = |name: &str| format!("module \"{name}\" {{\n source = \"./{name}/m\"\n}}\n");
    bench.write("m/main.tf", &[call("a"), call("b")].concat());
    for name in ["a", "b"] {
        std::os::unix::fs::symlink("..", bench.folder.path().join("m").join(name)).unwrap();
    }
    let refused = bench.refused();
    assert!(refused.contains("module `a` calls itself by way of `m/a/m`"), "{refused}");
}
