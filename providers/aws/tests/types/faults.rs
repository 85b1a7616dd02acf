//! What the provider makes of AWS's own words: the documents are those that AWS sends.

use serde_json::json;
use trueup_core::{FailureClass, FieldType, Value, value};
use trueup_engine::Outcome;
use trueup_program::Program;
use trueup_provider_aws::{Bucket, Function, Queue, Role, Table};

use crate::bench::{Bench, failures};
use crate::iam::TRUST;
use crate::proxy::Answer;
use crate::world::World;

/// An error of a service that speaks JSON.
fn json_error(status: u16, code: &str, message: &str) -> Answer {
    Answer::Document {
        status,
        headers: vec![
            ("content-type", "application/x-amz-json-1.0".to_owned()),
            ("x-amzn-errortype", code.to_owned()),
            ("x-amzn-requestid", "7d3f0c5e-2b0a-5d8b-9d0e-5a3b6f2c1d4e".to_owned()),
        ],
        body: format!(r#"{{"__type":"com.amazonaws#{code}","message":"{message}","Message":"{message}"}}"#),
    }
}

/// An error of a service that speaks XML, such as IAM.
fn query(status: u16, code: &str, message: &str) -> Answer {
    Answer::Document {
        status,
        headers: vec![("content-type", "text/xml".to_owned())],
        body: format!(
            "<ErrorResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><Error><Type>Sender</Type>\
             <Code>{code}</Code><Message>{message}</Message></Error><RequestId>7d3f0c5e</RequestId></ErrorResponse>"
        ),
    }
}

/// An error of S3.
fn s3(status: u16, code: &str, message: &str) -> Answer {
    Answer::Document {
        status,
        headers: vec![
            ("content-type", "application/xml".to_owned()),
            ("x-amz-request-id", "4442587FB7D0A2F9".to_owned()),
        ],
        body: format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code><Message>{message}</Message>\
             <RequestId>4442587FB7D0A2F9</RequestId><HostId>x</HostId></Error>"
        ),
    }
}

fn queue(bench: &Bench<'_>) -> Program {
    bench.program(|stack| drop(stack.add("jobs", Queue::args())))
}

fn bucket(bench: &Bench<'_>) -> Program {
    bench.program(|stack| drop(stack.add("files", Bucket::args().bucket("pictures"))))
}

fn role(bench: &Bench<'_>) -> Program {
    bench.program(|stack| drop(stack.add("worker", Role::args().assume_role_policy(TRUST))))
}

/// The one failure of a deploy: its class, and all that is said of it.
async fn failure(bench: &Bench<'_>, program: &Program) -> (FailureClass, String) {
    let report = bench.deploy(program).await;
    let class = report.outcomes.iter().find_map(|(_, outcome)| match outcome {
        Outcome::Failed(failure) => Some(failure.class.clone()),
        _ => None,
    });
    (class.unwrap_or_else(|| panic!("{:?}", report.outcomes)), failures(&report).join("\n"))
}

#[track_caller]
fn assert_told(told: &str, parts: &[&str]) {
    for part in parts {
        assert!(told.contains(part), "`{part}` is missing in:\n{told}");
    }
}

/// RETRY-1, RETRY-3: what repeating cannot help fails at once, with its class, its resource and what to do.
#[tokio::test]
async fn each_refusal_is_told_with_its_resource_and_what_to_do() {
    let Some(world) = World::emulated().await else { return };
    let bench = Bench::new(&world);
    let denied = "User: arn:aws:iam::123456789012:user/ada is not authorized to perform: sqs:createqueue";
    let region = "The unspecified location constraint is incompatible for the region specific endpoint this request was sent to.";
    let cases: Vec<(Program, &str, Answer, FailureClass, Vec<&str>)> = vec![
        (
            queue(&bench),
            "AmazonSQS.CreateQueue",
            json_error(400, "AccessDeniedException", denied),
            FailureClass::Denied,
            vec!["awsn_sqs_queue.jobs", "not authorized to perform: sqs:createqueue", "let the credentials"],
        ),
        (
            queue(&bench),
            "AmazonSQS.CreateQueue",
            json_error(403, "ExpiredTokenException", "The security token included in the request is expired"),
            FailureClass::Denied,
            vec!["awsn_sqs_queue.jobs", "expired: sign in again"],
        ),
        (
            queue(&bench),
            "AmazonSQS.CreateQueue",
            json_error(403, "InvalidClientTokenId", "The security token included in the request is invalid."),
            FailureClass::Denied,
            vec!["awsn_sqs_queue.jobs", "check AWS_PROFILE"],
        ),
        (
            bucket(&bench),
            "PUT /pictures",
            s3(409, "BucketAlreadyExists", "The requested bucket name is not available."),
            FailureClass::AlreadyExists,
            vec!["awsn_s3_bucket.files", "unique in the world"],
        ),
        (
            bucket(&bench),
            "PUT /pictures",
            s3(400, "IllegalLocationConstraintException", region),
            FailureClass::Invalid,
            vec!["awsn_s3_bucket.files", "AWS_REGION"],
        ),
        (
            role(&bench),
            "Action=CreateRole",
            query(400, "MalformedPolicyDocument", "This policy contains invalid Json"),
            FailureClass::Invalid,
            vec!["awsn_iam_role.worker", "jsonencode"],
        ),
        (
            role(&bench),
            "Action=CreateRole",
            query(409, "LimitExceeded", "Cannot exceed quota for RolesPerAccount: 1000"),
            FailureClass::Invalid,
            vec!["awsn_iam_role.worker", "RolesPerAccount"],
        ),
    ];
    for (program, on, answer, class, told) in cases {
        let before = world.proxy().heard(on);
        world.proxy().fault(on, 1, answer);
        let (seen, said) = failure(&bench, &program).await;
        assert_eq!(seen, class, "{said}");
        assert_told(&said, &told);
        assert_eq!(world.proxy().heard(on), before + 1, "{said}");
    }
    assert_eq!(world.account().census().await, 0);
}

/// RETRY-1, RETRY-2: what passes by itself is tried again, and the deploy succeeds.
#[tokio::test]
async fn what_passes_by_itself_is_tried_again() {
    let Some(world) = World::emulated().await else { return };
    world.write_code("code", "def handler(event, context):\n    return 1\n");
    let bench = Bench::new(&world);
    let program = bench.program(|stack| {
        let role = stack.add("worker", Role::args().assume_role_policy(TRUST));
        let function =
            Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code("code");
        stack.add("worker", function);
        stack.add("jobs", Queue::args());
        stack.add("items", Table::args().hash_key("id"));
    });
    let mut throttled = json_error(400, "ThrottlingException", "Rate exceeded");
    if let Answer::Document { headers, .. } = &mut throttled {
        headers.push(("retry-after", "0".to_owned()));
    }
    world.proxy().fault("AmazonSQS.CreateQueue", 2, throttled);
    world.proxy().fault(
        "DynamoDB_20120810.CreateTable",
        1,
        json_error(500, "InternalServerError", "Internal error"),
    );
    let spreading = "The role defined for the function cannot be assumed by Lambda.";
    world.proxy().fault(
        "POST /2015-03-31/functions",
        2,
        json_error(400, "InvalidParameterValueException", spreading),
    );
    bench.deployed(&program).await;
    assert_eq!(world.proxy().heard("AmazonSQS.CreateQueue"), 3);
    assert!(bench.plan(&program).await.ends_with("No changes"));
    bench.destroyed(&program).await;
    assert_eq!(world.account().census().await, 0);
}

/// RETRY-1, RETRY-2: what does not pass in all attempts is told with its resource and what to do; nothing else suffers, and
/// the next run goes on.
#[tokio::test]
async fn what_does_not_pass_is_told_in_the_end() {
    let Some(world) = World::emulated().await else { return };
    world.write_code("code", "def handler(event, context):\n    return 1\n");
    let bench = Bench::new(&world);
    let program = bench.program(|stack| {
        let role = stack.add("worker", Role::args().assume_role_policy(TRUST));
        let function =
            Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code("code");
        stack.add("worker", function);
    });
    let spreading = "The role defined for the function cannot be assumed by Lambda.";
    let on = "POST /2015-03-31/functions";
    world.proxy().fault(on, 4, json_error(400, "InvalidParameterValueException", spreading));
    let (class, said) = failure(&bench, &program).await;
    assert_eq!(class, FailureClass::Retryable, "{said}");
    assert_told(&said, &["awsn_lambda_function.worker", spreading, "trust policy"]);
    assert_eq!(world.proxy().heard(on), 4);
    bench.deployed(&program).await;

    let jobs = queue(&bench);
    world.proxy().fault("AmazonSQS.CreateQueue", 4, json_error(400, "ThrottlingException", "Rate exceeded"));
    let (class, said) = failure(&bench, &jobs).await;
    assert!(matches!(class, FailureClass::Throttled { .. }), "{said}");
    assert_told(&said, &["awsn_sqs_queue.jobs", "Rate exceeded"]);
}

/// CRASH-1, RETRY-1: a lost answer is never taken for a failure: the next run looks, and nothing is made twice.
#[tokio::test]
async fn an_answer_that_is_lost_is_looked_for() {
    let Some(world) = World::emulated().await else { return };
    let bench = Bench::new(&world);
    for (program, on) in [(queue(&bench), "AmazonSQS.CreateQueue"), (role(&bench), "Action=CreateRole")] {
        world.proxy().fault(on, 1, Answer::Lost);
        let (class, said) = failure(&bench, &program).await;
        assert_eq!(class, FailureClass::Indeterminate, "{said}");
        let plan = bench.plan(&program).await;
        assert!(plan.contains("recovered"), "{plan}");
        bench.deployed(&program).await;
        assert_eq!(world.account().census().await, 1);
        bench.destroyed(&program).await;
    }
}

/// DRIFT-5: who is not let in does not take the object for gone.
#[tokio::test]
async fn an_object_that_cannot_be_seen_is_not_gone() {
    let Some(world) = World::emulated().await else { return };
    let bench = Bench::new(&world);
    let program = queue(&bench);
    bench.deployed(&program).await;
    let denied = json_error(403, "AccessDenied", "Access to the resource is denied.");
    world.proxy().fault("AmazonSQS.GetQueueAttributes", 1, denied);
    let refused = bench.try_plan(&program).await.unwrap_err().to_string();
    assert_told(&refused, &["awsn_sqs_queue.jobs", "AccessDenied"]);
    let elsewhere = Answer::Document { status: 301, headers: Vec::new(), body: String::new() };
    world.proxy().fault("HEAD /pictures", 1, elsewhere);
    let refused = format!("{:?}", bench.try_plan(&bucket(&bench)).await.unwrap_err());
    assert_told(&refused, &["awsn_s3_bucket.files", "cannot look at the bucket", "AWS_REGION"]);
    world.proxy().set_up(false);
    let refused = bench.try_plan(&program).await.unwrap_err().to_string();
    assert_told(&refused, &["awsn_sqs_queue.jobs", "cannot look at the queue"]);
    world.proxy().set_up(true);
    assert!(bench.plan(&program).await.ends_with("No changes"));
}

/// APPLY-4, CRASH-1: AWS that goes away in the middle of a run leaves nothing half-known; the next run ends it.
#[tokio::test]
async fn a_run_that_loses_aws_in_the_middle_is_finished_by_the_next() {
    let Some(world) = World::emulated().await else { return };
    let bench = Bench::new(&world);
    let program = bench.program(|stack| {
        for name in ["a", "b", "c", "d"] {
            let dead = stack.add(&format!("{name}_dead"), Queue::args());
            let dead = dead.arn().map(|arn| trueup_provider_aws::DeadLetter::after(2, arn));
            stack.add(name, Queue::args().dead_letter(dead));
        }
    });
    world.proxy().go_down_after("AmazonSQS.CreateQueue", 3);
    let report = bench.deploy(&program).await;
    let told = failures(&report);
    assert!(!told.is_empty() && told.len() < 8, "{told:?}");
    for told in &told {
        // Before a create is repeated, its object is looked for: that may be what failed last.
        assert_told(told, &["awsn_sqs_queue.", "the queue `shop-test-", "no answer"]);
    }
    world.proxy().set_up(true);
    bench.deployed(&program).await;
    assert_eq!(world.account().census().await, 8);
    bench.destroyed(&program).await;
    assert_eq!(world.account().census().await, 0);
}

/// ADOPT-2, DELETE-9: what someone else made is neither taken nor deleted.
#[tokio::test]
async fn what_is_someone_elses_is_left_alone() {
    let Some(world) = World::emulated().await else { return };
    let bench = Bench::new(&world);
    let raw = world.raw();
    let program = bench.program(|stack| drop(stack.add("jobs", Queue::args().name("taken"))));
    let created = raw.json("AmazonSQS.CreateQueue", json!({ "QueueName": "taken" })).await;
    let refused = bench.try_plan(&program).await.unwrap_err().to_string();
    assert_told(
        &refused,
        &["already exists and is not managed by this stack", "awsn_sqs_queue.jobs", "taken"],
    );
    raw.json("AmazonSQS.DeleteQueue", json!({ "QueueUrl": created["QueueUrl"] })).await;
    bench.deployed(&program).await;
    let found = raw.json("AmazonSQS.GetQueueUrl", json!({ "QueueName": "taken" })).await;
    let input = json!({ "QueueUrl": found["QueueUrl"], "TagKeys": ["trueup:stack"] });
    raw.json("AmazonSQS.UntagQueue", input).await;
    let driver = world.driver("awsn_sqs_queue").await;
    let record = bench.records().await.remove(0);
    let state = record.current.unwrap().object.unwrap();
    let inputs = driver.inputs(&value!({ name: "taken" })).unwrap();
    let refused = driver.delete(&inputs, &state).await.unwrap_err().failure;
    assert_eq!(refused.class, FailureClass::Conflict, "{refused}");
}

/// SECRET-1, RETRY-3: without a region, or with an endpoint where nobody is, the message says what to set.
#[tokio::test]
async fn what_is_missing_in_the_configuration_is_told() {
    let Some(world) = World::emulated().await else { return };
    let nowhere = value!({ region: "eu-central-1", endpoint: "http://127.0.0.1:9", access_key: "a", secret_key: (value!("b").into_secret()) });
    let driver = trueup_conformance::Driver::new(world.provider(), "awsn_sqs_queue", &nowhere).await.unwrap();
    let inputs = driver.inputs(&value!({})).unwrap();
    let refused = driver.lookup(&inputs).await.unwrap_err();
    assert_eq!(refused.class, FailureClass::Retryable, "{refused}");
    assert!(refused.hints[0].contains("AWS_ENDPOINT_URL"), "{refused:?}");
    let one_key = value!({ region: "eu-central-1", access_key: "a" });
    let refused = trueup_conformance::Driver::new(world.provider(), "awsn_sqs_queue", &one_key).await;
    assert!(refused.is_err_and(|diagnostics| format!("{diagnostics:?}").contains("secret_key")));
    let slow = value!({ region: "eu-central-1", endpoint: (silent().await), access_key: "a", secret_key: (value!("b").into_secret()), timeout: (FieldType::encode(&0.05).unwrap()) });
    let driver = trueup_conformance::Driver::new(world.provider(), "awsn_sqs_queue", &slow).await.unwrap();
    let refused = driver.lookup(&inputs).await.unwrap_err();
    assert_eq!(refused.class, FailureClass::Retryable, "{refused}");
    let refused = driver.apply(&inputs, None, None).await.unwrap_err().failure;
    assert_eq!(refused.class, FailureClass::Indeterminate, "{refused}");
}

/// RETRY-3: credentials that cannot be had are told at once.
#[tokio::test]
async fn missing_credentials_are_told_with_where_they_are_looked_for() {
    let Some(world) = World::emulated().await else { return };
    let config =
        value!({ region: "eu-central-1", profile: "no-such-profile", endpoint: "http://127.0.0.1:9" });
    let driver = trueup_conformance::Driver::new(world.provider(), "awsn_sqs_queue", &config).await.unwrap();
    let refused = driver.lookup(&driver.inputs(&value!({})).unwrap()).await.unwrap_err();
    assert_eq!(refused.class, FailureClass::Denied, "{refused}");
    assert!(refused.hints[0].contains("AWS_PROFILE"), "{refused:?}");
}

/// The address of a server that takes requests and never answers.
async fn silent() -> Value {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut taken = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            taken.push(stream);
        }
    });
    address.into()
}
