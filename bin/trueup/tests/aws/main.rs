//! The examples for AWS, deployed to an emulator by the program as people have it: credentials, region and endpoint come
//! from the environment.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use trueup_cli_harness::{Folder, Started, Told};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};

/// An example in a folder of its own, and an account for it.
struct Example {
    folder: Folder,
    emulator: RunningEmulator,
}

impl Example {
    /// `None` if the test command said to do without the emulator.
    fn new(name: &str) -> Option<Self> {
        let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        for file in ["main.tu.hcl", "code/main.py"] {
            folder.write(file, &std::fs::read_to_string(example.join(file)).unwrap());
        }
        let emulator = Emulator::Ministack.start_with(&[("LOG_LEVEL", "ERROR")])?;
        Some(Example { folder, emulator })
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.emulator.endpoint()),
            ("AWS_REGION", "eu-central-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ]
    }

    fn run(&self, arguments: &str) -> Told {
        Told::of(self.folder.command(arguments).envs(self.environment()).output().unwrap())
    }

    fn done(&self, arguments: &str) -> String {
        let told = self.run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told.out + &told.err
    }

    fn start(&self, arguments: &str) -> Started {
        let environment = self.environment();
        let environment: Vec<(&str, &str)> =
            environment.iter().map(|(key, value)| (*key, value.as_str())).collect();
        self.folder.start_with(arguments, &environment)
    }

    /// What the emulator answers to a request that needs no signature there.
    fn ask(&self, request: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.emulator.port())).unwrap();
        let key = "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/lambda/aws4_request";
        let length = body.len();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\n{key}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn functions(&self) -> String {
        self.ask("GET /2015-03-31/functions", "")
    }
}

/// The name of the only function.
fn name_of(functions: &str) -> String {
    let (_, rest) = functions.split_once(r#""FunctionName": ""#).unwrap_or_else(|| panic!("{functions}"));
    rest.split('"').next().unwrap().to_owned()
}

/// DRIFT-2, ADOPT-2, DELETE-1
#[test]
fn a_function_behind_an_api_is_deployed_watched_found_again_and_destroyed() {
    let Some(example) = Example::new("aws-api") else { return };
    let deployed = example.done("deploy --stage test --yes");
    assert!(deployed.contains("7 created"), "{deployed}");
    assert!(example.done("plan").contains("No changes"));

    let name = name_of(&example.functions());
    example.ask(&format!("PUT /2015-03-31/functions/{name}/configuration"), r#"{"Timeout": 77}"#);
    let drifted = example.run("drift");
    assert_eq!(drifted.code, 3, "{drifted:?}");
    assert!(drifted.out.contains("timeout"), "{drifted:?}");
    example.done("deploy --yes");
    assert!(example.functions().contains(r#""Timeout": 5"#));

    example.folder.write("code/main.py", "def handler(event, context):\n    return 'other'\n");
    assert!(example.done("plan").contains("1 to update"));
    example.done("deploy --yes");

    std::fs::remove_dir_all(example.folder.path().join(".trueup")).unwrap();
    let found = example.done("deploy --stage test --yes");
    assert!(!found.contains("created"), "{found}");
    assert_eq!(name_of(&example.functions()), name);
    assert!(example.done("plan").contains("No changes"));

    let destroyed = example.done("destroy --yes");
    assert!(destroyed.contains("7 deleted"), "{destroyed}");
    assert!(!example.functions().contains("FunctionName"));
}

/// CRASH-7, REPLACE-1, BIND-1
#[test]
fn a_worker_is_killed_in_the_making_finished_rekeyed_and_destroyed() {
    let Some(example) = Example::new("aws-worker") else { return };
    let killed = example.start("deploy --stage test --yes");
    while !example.functions().contains("FunctionName") {}
    killed.kill();
    example.done("deploy --yes");
    assert!(example.done("plan").contains("No changes"));
    let functions = example.functions();
    for variable in ["JOBS_URL", "RESULTS_NAME", "COUNTS_NAME"] {
        assert!(functions.contains(variable), "{functions}");
    }
    let rekeyed = example.done("plan --var key=number");
    assert!(rekeyed.contains("1 to replace"), "{rekeyed}");
    example.done("deploy --var key=number --yes");
    assert!(example.done("plan --var key=number").contains("No changes"));
    let destroyed = example.done("destroy --yes");
    assert!(destroyed.contains("7 deleted"), "{destroyed}");
}
