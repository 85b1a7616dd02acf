//! The stacks in `examples`.

use crate::aws::account::{Account, Census};

/// DRIFT-2, ADOPT-2, DELETE-1
#[test]
fn a_function_behind_an_api_is_deployed_watched_found_again_and_destroyed() {
    let Some(account) = Account::new("examples/aws-api") else { return };
    let deployed = account.done("deploy --stage test --yes");
    assert!(deployed.contains("7 created"), "{deployed}");
    assert!(account.done("plan").contains("No changes"));

    let function = account.functions().remove(0);
    account.set_timeout(&function, 77);
    let drifted = account.run("drift");
    assert_eq!(drifted.code, 3, "{drifted:?}");
    assert!(drifted.out.contains("timeout"), "{drifted:?}");
    account.done("deploy --yes");
    assert_eq!(account.functions()[0]["Timeout"], 5);

    account.folder.write("code/main.py", "def handler(event, context):\n    return 'other'\n");
    assert!(account.done("plan").contains("1 to update"));
    account.done("deploy --yes");

    account.lose_state();
    let found = account.done("deploy --stage test --yes");
    assert!(!found.contains("created"), "{found}");
    assert_eq!(account.functions()[0]["FunctionName"], function["FunctionName"]);
    assert!(account.done("plan").contains("No changes"));

    let destroyed = account.done("destroy --yes");
    assert!(destroyed.contains("7 deleted"), "{destroyed}");
    assert_eq!(account.census(), Census::default());
}

/// CRASH-7, REPLACE-1, BIND-1: and what is bound gives variables and the least policy, nothing else.
#[test]
fn a_worker_is_killed_in_the_making_finished_rekeyed_and_destroyed() {
    let Some(account) = Account::new("examples/aws-worker") else { return };
    account.killed("deploy --stage test --yes", |account| !account.functions().is_empty());
    account.done("deploy --yes");
    assert!(account.done("plan").contains("No changes"));

    let function = account.functions().remove(0);
    for variable in ["JOBS_URL", "RESULTS_NAME", "COUNTS_NAME"] {
        assert!(function["Environment"]["Variables"][variable].is_string(), "{function}");
    }
    let policies = account.policies_of(&function);
    for allowed in
        ["\"sqs:ReceiveMessage\"", "\"s3:PutObject\"", "\"dynamodb:GetItem\"", "\"dynamodb:PutItem\""]
    {
        assert!(policies.contains(allowed), "{allowed} is missing in {policies}");
    }
    for denied in ["\"sqs:SendMessage\"", "\"s3:GetObject\"", "\"*\"", ":*\""] {
        assert!(!policies.contains(denied), "{denied} is in {policies}");
    }

    let rekeyed = account.done("plan --var key=number");
    assert!(rekeyed.contains("1 to replace"), "{rekeyed}");
    account.done("deploy --var key=number --yes");
    assert!(account.done("plan --var key=number").contains("No changes"));
    let destroyed = account.done("destroy --yes");
    assert!(destroyed.contains("7 deleted"), "{destroyed}");
    assert_eq!(account.census(), Census::default());
}
