//! A stack in a folder of its own, and an account for it at an emulator, which is asked what there is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;
use trueup_cli_harness::{Folder, Started, Told};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};

/// How many objects of each kind there are.
#[derive(PartialEq, Eq, Debug, Default)]
pub(crate) struct Census {
    pub(crate) queues: usize,
    pub(crate) buckets: usize,
    pub(crate) tables: usize,
    pub(crate) roles: usize,
    pub(crate) policies: usize,
    pub(crate) log_groups: usize,
    pub(crate) functions: usize,
    pub(crate) apis: usize,
}

pub(crate) struct Account {
    pub(crate) folder: Folder,
    emulator: RunningEmulator,
}

impl Account {
    /// With what is in a folder, as `examples/aws-api`; `None` if the test command said to do without the emulator.
    pub(crate) fn new(stack: &str) -> Option<Self> {
        let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
        let stack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(stack);
        for file in ["main.tu.hcl", "code/main.py"] {
            folder.write(file, &std::fs::read_to_string(stack.join(file)).unwrap());
        }
        let emulator = Emulator::Ministack.start_with(&[("LOG_LEVEL", "ERROR")])?;
        Some(Account { folder, emulator })
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.emulator.endpoint()),
            ("AWS_REGION", "eu-central-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ]
    }

    pub(crate) fn run(&self, arguments: &str) -> Told {
        Told::by(self.folder.command(arguments).envs(self.environment()))
    }

    /// Runs what must succeed.
    pub(crate) fn done(&self, arguments: &str) -> String {
        let told = self.run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told.out + &told.err
    }

    /// Starts a command, waits until there is what it is to be killed at, and kills it.
    pub(crate) fn killed(&self, arguments: &str, at: impl Fn(&Self) -> bool) {
        let environment = self.environment();
        let environment: Vec<(&str, &str)> =
            environment.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let mut started: Started = self.folder.start_with(arguments, &environment);
        while !at(self) {
            if started.has_ended() {
                panic!("`{arguments}` did not come as far as it was to be killed: {:?}", started.ended());
            }
        }
        started.kill();
    }

    /// Loses all that is recorded.
    pub(crate) fn lose_state(&self) {
        std::fs::remove_dir_all(self.folder.path().join(".trueup")).unwrap();
    }

    pub(crate) fn census(&self) -> Census {
        let count = |listed: &Value| listed.as_array().map_or(0, Vec::len);
        Census {
            queues: self.queues(),
            buckets: self.ask("s3", "GET /", "", "").matches("<Bucket>").count(),
            tables: count(&self.asked("dynamodb", "DynamoDB_20120810.ListTables")["TableNames"]),
            roles: self.asked_iam("ListRoles").matches("<RoleName>").count(),
            policies: self.asked_iam("ListPolicies&Scope=Local").matches("<PolicyName>").count(),
            log_groups: count(&self.asked("logs", "Logs_20140328.DescribeLogGroups")["logGroups"]),
            functions: self.functions().len(),
            apis: count(&json(&self.ask("apigateway", "GET /v2/apis", "", ""))["items"]),
        }
    }

    pub(crate) fn queues(&self) -> usize {
        self.asked("sqs", "AmazonSQS.ListQueues")["QueueUrls"].as_array().map_or(0, Vec::len)
    }

    /// All functions, as Lambda tells of them.
    pub(crate) fn functions(&self) -> Vec<Value> {
        json(&self.ask("lambda", "GET /2015-03-31/functions", "", ""))["Functions"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// Changes a function's timeout behind the program's back.
    pub(crate) fn set_timeout(&self, function: &Value, seconds: u32) {
        let name = function["FunctionName"].as_str().unwrap();
        let request = format!("PUT /2015-03-31/functions/{name}/configuration");
        self.ask("lambda", &request, "", &format!(r#"{{"Timeout": {seconds}}}"#));
    }

    /// The inline policies of the role that a function has.
    pub(crate) fn policies_of(&self, function: &Value) -> String {
        let role = function["Role"].as_str().unwrap().rsplit('/').next().unwrap();
        let listed = self.asked_iam(&format!("ListRolePolicies&RoleName={role}"));
        let names = listed.split("<member>").skip(1).map(|rest| rest.split("</member>").next().unwrap());
        let read = |name| self.asked_iam(&format!("GetRolePolicy&RoleName={role}&PolicyName={name}"));
        names.map(read).collect::<String>().replace("%3A", ":").replace("%22", "\"")
    }

    fn asked(&self, service: &str, target: &str) -> Value {
        let headers = format!("X-Amz-Target: {target}\r\nContent-Type: application/x-amz-json-1.0\r\n");
        json(&self.ask(service, "POST /", &headers, "{}"))
    }

    fn asked_iam(&self, action: &str) -> String {
        let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
        self.ask("iam", "POST /", headers, &format!("Version=2010-05-08&Action={action}"))
    }

    /// What the emulator answers to a request, which needs no signature there.
    fn ask(&self, service: &str, request: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.emulator.port())).unwrap();
        let scope = format!("Credential=test/20260101/eu-central-1/{service}/aws4_request");
        let length = body.len();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: AWS4-HMAC-SHA256 {scope}\r\n{headers}\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

fn json(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
