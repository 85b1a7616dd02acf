//! The examples that are programs in Rust, as people run them.

use std::path::PathBuf;

use trueup_cli_harness::Folder;
use trueup_test_servers::emulator::Emulator;

/// A binary that Cargo built beside the tests.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}

/// DRIFT-2, DELETE-1
#[test]
fn programs_in_rust_are_deployed_and_destroyed() {
    let Some(emulator) = Emulator::Ministack.start_with(&[("LOG_LEVEL", "ERROR")]) else { return };
    let endpoint = emulator.endpoint();
    let environment = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ];
    for (name, resources) in [("worker", 7), ("api", 7)] {
        let folder = Folder::of(example(name));
        let done = |arguments: &str| {
            let told = folder.run_with(arguments, &environment);
            assert_eq!(told.code, 0, "{name} {arguments}: {told:?}");
            told.out + &told.err
        };
        let deployed = done("deploy --stage test --yes");
        assert!(deployed.contains(&format!("{resources} created")), "{deployed}");
        assert!(done("plan").contains("No changes"));
        let destroyed = done("destroy --yes");
        assert!(destroyed.contains(&format!("{resources} deleted")), "{destroyed}");
    }
}
