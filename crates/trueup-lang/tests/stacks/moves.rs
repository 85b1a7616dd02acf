//! `moved`, `removed` and `import`, held against what is declared.

use trueup_program::{Expression, Node};

use crate::stacks::bench::{Bench, stack};

#[test]
fn what_is_still_declared_has_neither_moved_nor_gone() {
    let module = ("m/main.tf", "resource \"terraform_data\" \"a\" {}");
    for (text, told) in [
        (
            "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\nmoved {\n from = terraform_data.a\n to = terraform_data.b\n}",
            "terraform_data.a is said to be moved and still declared",
        ),
        (
            "module \"m\" {\n source = \"./m\"\n}\nremoved {\n from = module.m.terraform_data.a\n}",
            "module.m.terraform_data.a is said to be removed and still declared",
        ),
        (
            "module \"m\" {\n source = \"./m\"\n}\nmodule \"n\" {\n source = \"./m\"\n}\nmoved {\n from = module.m\n to = module.n\n}",
            "module.m is said to be moved and still declared",
        ),
    ] {
        let refused = Bench::new([("main.tf", text), module]).refused();
        assert!(refused.contains(told), "{text}: {refused}");
    }
}

/// Only the whole path says what is removed: its last name may well be declared elsewhere.
#[test]
fn a_module_is_removed_by_its_whole_path() {
    let bench = Bench::new([
        (
            "main.tf",
            "module \"a\" {\n source = \"./m\"\n}\nmodule \"b\" {\n source = \"./m\"\n}\nremoved {\n from = module.a.module.b\n}",
        ),
        ("m/main.tf", "resource \"terraform_data\" \"a\" {}"),
    ]);
    assert!(bench.plan().contains("Plan: 2 to create"));
}

#[test]
fn what_is_repeated_in_another_way_moves_within_its_name() {
    let bench = stack("resource \"terraform_data\" \"a\" { input = 1 }");
    bench.outputs();
    for (repetition, from, to) in
        [("count = 1", "", "[0]"), ("for_each = { k = 1 }", "[0]", "[\"k\"]"), ("", "[\"k\"]", "")]
    {
        bench.write(
            "main.tf",
            &format!(
                "resource \"terraform_data\" \"a\" {{\n {repetition}\n input = 1\n}}\nmoved {{\n from = terraform_data.a{from}\n to = terraform_data.a{to}\n}}"
            ),
        );
        assert!(bench.plan().ends_with("Plan: 1 to move"), "{}", bench.plan());
        bench.outputs();
    }
}

/// ADOPT-7: as in Terraform, imports go through any collection, and each names what it adopts.
#[test]
fn imports_go_through_any_collection() {
    let bench = stack(
        r#"
        resource "terraform_data" "listed" { count = 2 }
        resource "terraform_data" "keyed" { for_each = toset(["x"]) }
        resource "terraform_data" "alone" {}
        import {
          for_each = ["m0", "m1"]
          to       = terraform_data.listed[each.key]
          id       = each.value
        }
        import {
          for_each = toset([{ key = "x", id = 7 }])
          to       = terraform_data.keyed[each.value.key]
          id       = each.key.id
        }
        import {
          for_each = { "i" = [] }
          to       = terraform_data.alone
          id       = each.key
        }
        import {
          for_each = null
          to       = terraform_data.alone
          id       = each.key
        }
        "#,
    );
    let imports = bench.program().imports;
    let id = |id: &Expression| match id.node() {
        Node::Literal(id) => id.to_string(),
        other => panic!("{other:?} is known"),
    };
    let told: Vec<_> = imports.iter().map(|it| format!("{} by {}", it.to, id(&it.id))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    terraform_data.listed[0] by "m0"
    terraform_data.listed[1] by "m1"
    terraform_data.keyed["x"] by 7
    terraform_data.alone by "i"
    "#);
    for (for_each, expected) in
        [("\"x\"", "takes a collection, not"), ("sensitive([\"x\"])", "address is expected")]
    {
        let text = format!(
            "resource \"terraform_data\" \"a\" {{\n  for_each = toset([\"x\"])\n}}\nimport {{\n  for_each = {for_each}\n  \
             to = terraform_data.a[each.value]\n  id = \"x\"\n}}\n"
        );
        let told = stack(&text).refused();
        assert!(told.contains(expected), "{told}");
    }
}

/// ADOPT-11
#[test]
fn an_import_needs_what_it_goes_into() {
    for (to, for_each, expected) in [
        ("terraform_data.b", "[1]", "terraform_data.b is to be imported, and is not declared"),
        ("terraform_data.b[each.key]", "[]", "terraform_data.b is to be imported, and is not declared"),
        (
            "module.m.terraform_data.a",
            "[1]",
            "module.m.terraform_data.a is to be imported, and is not declared",
        ),
        ("terraform_data.a[each.key]", "[1]", "terraform_data.a[0] is to be imported, and is not declared"),
        ("terraform_data.a", "[1, 2]", "two imports name terraform_data.a"),
    ] {
        let text = format!(
            "resource \"terraform_data\" \"a\" {{}}\nimport {{\n  for_each = {for_each}\n  to = {to}\n  id = \"x\"\n}}\n"
        );
        let told = stack(&text).refused();
        assert!(told.contains(expected) && told.contains("main.tf:"), "{told}");
    }
}
