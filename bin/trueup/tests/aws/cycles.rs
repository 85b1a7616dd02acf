//! Cycles of functions, roles and queues on a new account, by runs that are killed among their stubs: the number of objects
//! is the judge.

use crate::aws::account::{Account, Census};

const CYCLE: &str = "bin/trueup/tests/aws/cycle";

fn whole() -> Census {
    Census { queues: 1, roles: 2, functions: 1, ..Census::default() }
}

/// All is there once, and the function knows queue and role.
fn settled(account: &Account) {
    assert_eq!(account.census(), whole());
    let plan = account.done("plan");
    assert!(plan.contains("No changes"), "{plan}");
    let variables = &account.functions()[0]["Environment"]["Variables"];
    assert!(variables["JOBS_URL"].is_string() && variables["CALLER"].is_string(), "{variables}");
}

/// BIND-4, BIND-5
#[test]
fn a_cycle_is_deployed_on_a_new_stage_and_again_on_the_live_one() {
    let Some(account) = Account::new(CYCLE) else { return };
    account.done("deploy --stage test --yes");
    settled(&account);
    assert!(account.done("deploy --yes").contains("No changes"));
    settled(&account);
    account.done("destroy --yes");
    assert_eq!(account.census(), Census::default());
}

/// BIND-10, CRASH-7: killed as soon as there is a role, a stub of the function, and a queue.
#[test]
fn a_cycle_that_is_killed_among_its_stubs_is_finished() {
    let Some(account) = Account::new(CYCLE) else { return };
    let deploy = "deploy --stage test --yes";
    account.killed(deploy, |account| account.census().roles > 0);
    account.killed(deploy, |account| !account.functions().is_empty());
    account.killed(deploy, |account| account.queues() > 0);
    account.done(deploy);
    settled(&account);
    account.done("destroy --yes");
    assert_eq!(account.census(), Census::default());
}
