//! `moved` and `removed`, held against what is declared.

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
