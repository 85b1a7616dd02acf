//! The types in programs that are written in Rust.

use trueup_core::Secret;
use trueup_engine::Stack;
use trueup_program::{list, map};
use trueup_provider_std::{Exec, File, RandomPassword, RandomPet};

use crate::bench::Bench;

/// SECRET-1: fields take open values, secrets and references to either, and what is secret stays so.
#[test]
fn references_between_types_are_typed_and_keep_their_secrets() {
    let bench = Bench::new();
    let registry = bench.registry();
    let mut stack = Stack::new("stack", &registry);
    let password = stack.add("password", RandomPassword::args().length(16u64).special(false));
    let pet = stack.add("pet", RandomPet::args());
    let secret = stack.add("secret", File::args().path("secret").content(password.result()).mode("0600"));
    stack.add("open", File::args().path("open").content(pet.result()));
    stack.add("hash", File::args().path("hash").content(secret.sha256()));
    stack.add("given", File::args().path("given").content(Secret::new("hunter2".to_owned())));
    let command = list(["sh", "-c", "cat > /dev/null; printf '{\"length\": %s}' ${#PASSWORD}"]);
    let environment = map([("PASSWORD", password.result())]);
    let exec =
        stack.add("exec", Exec::args().create(command).update(list(["true"])).environment(environment));
    stack.output("name", pet.result());
    stack.output("exec", exec.result());
    let program = stack.build().unwrap();
    let report = bench.deployed(&program);
    assert!(bench.plan(&program).ends_with("No changes"));
    let drawn = bench.content("secret");
    assert_eq!((drawn.len(), bench.content("given").as_str()), (16, "hunter2"));
    assert_eq!(bench.content("hash").len(), 64);
    assert!(report.outputs.unwrap().to_string().contains(r#"exec = { length = 16 }"#));
    for secret in [drawn, bench.content("hash"), "hunter2".to_owned()] {
        assert!(!bench.told().contains(&secret));
    }
}
