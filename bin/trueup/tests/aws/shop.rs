//! A stack of more than thirty resources, of every type, and the whole life of it.

use crate::aws::account::{Account, Census};

const SHOP: &str = "bin/trueup/tests/aws/shop";

/// What there is of the whole shop.
fn whole() -> Census {
    Census { queues: 6, buckets: 3, tables: 3, roles: 3, policies: 1, log_groups: 3, functions: 3, apis: 1 }
}

/// APPLY-2, DRIFT-2, REPLACE-1, ADOPT-2, DELETE-1: deploy, drift, update, replace, lose the state and find everything
/// again, leave some out, destroy; and the account is as empty as before.
#[test]
fn a_stack_of_thirty_resources_lives_its_whole_life() {
    let Some(account) = Account::new(SHOP) else { return };
    let deployed = account.done("deploy --stage test --yes --parallelism 16");
    assert!(deployed.contains("33 created"), "{deployed}");
    assert_eq!(account.census(), whole());
    assert!(account.done("plan").contains("No changes"));

    account.set_timeout(&account.functions()[0], 77);
    let drifted = account.done("plan");
    assert!(drifted.contains("Plan: 1 to update") && drifted.contains("5 ← 77"), "{drifted}");
    account.done("deploy --yes");

    account.done("deploy --yes --var timeout=9");
    assert!(account.functions().iter().all(|function| function["Timeout"] == 9));

    let rekeyed = "--var timeout=9 --var key=number";
    let plan = account.done(&format!("plan {rekeyed}"));
    assert!(plan.contains("3 to replace"), "{plan}");
    account.done(&format!("deploy --yes {rekeyed}"));
    assert_eq!(account.census(), whole());

    account.lose_state();
    let found = account.done(&format!("deploy --stage test --yes {rekeyed}"));
    assert!(!found.contains("created"), "{found}");
    assert_eq!(account.census(), whole());
    let plan = account.done(&format!("plan {rekeyed}"));
    assert!(plan.contains("No changes"), "{plan}");

    account.done(&format!(r#"deploy --yes {rekeyed} --var workers=["bills"]"#));
    assert_eq!((account.queues(), account.functions().len()), (2, 1));

    account.done("destroy --yes");
    assert_eq!(account.census(), Census::default());
}

/// CRASH-1, CRASH-7, DELETE-5: killed again and again, with some of everything under way, it is finished all the same,
/// and nothing is there twice.
#[test]
fn a_stack_that_is_killed_again_and_again_is_finished() {
    let Some(account) = Account::new(SHOP) else { return };
    let deploy = "deploy --stage test --yes --parallelism 16";
    let mut kills = 0;
    while let queues = account.queues()
        && queues < 6
    {
        account.killed(deploy, |account| account.queues() > queues);
        kills += 1;
    }
    while let functions = account.functions().len()
        && functions < 3
    {
        account.killed(deploy, |account| account.functions().len() > functions);
        kills += 1;
    }
    assert!(kills >= 2, "{kills}");
    account.done(deploy);
    assert_eq!(account.census(), whole());
    let plan = account.done("plan");
    assert!(plan.contains("No changes"), "{plan}");

    account.killed("destroy --yes --parallelism 16", |account| account.functions().len() < 3);
    account.killed("destroy --yes --parallelism 16", |account| account.queues() < 6);
    account.done("destroy --yes");
    assert_eq!(account.census(), Census::default());
}
