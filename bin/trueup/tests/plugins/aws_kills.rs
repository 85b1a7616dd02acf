//! hashicorp/aws on the emulator, where its binary can be found: the plugin killed in the middle of a create, and the
//! program, before AWS hears of it and after. What the emulator lists says that nothing is made twice and nothing forgotten.

use regex::Regex;
use trueup_cli_harness::provider_folder;
use trueup_test_servers::emulator::{AWS_PROVIDER, Emulator, RunningEmulator};
use trueup_test_servers::gate::{Gate, Held};
use trueup_test_servers::sized;

use crate::plugins::bench::{Bench, unfolded};
use crate::plugins::kills::kill;

/// An object whose id is its name.
const ROLE: &str = r#"resource "aws_iam_role" "a" {
  name = "killed"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }]
  })
  tags = { note = "whole" }
}
"#;

/// An object whose id AWS draws.
const ADDRESS: &str = r#"resource "aws_eip" "a" {
  domain = "vpc"
}
"#;

/// A bench before an emulator, and what stands between them.
struct Cloud {
    bench: Bench,
    emulator: RunningEmulator,
    gate: Gate,
}

/// Victims and moments: before AWS receives the create, or after. Each case starts the plugin several times, which takes
/// seconds, so `ci` runs only the given one.
fn kills(ordinary: (&'static str, Held)) -> Vec<(&'static str, Held)> {
    let both = |victim| [(victim, Held::Request), (victim, Held::Answer)];
    sized(vec![ordinary], [both("plugin"), both("trueup")].concat())
}

impl Cloud {
    #[expect(clippy::print_stderr, reason = "what was left out is said, and nobody but people can be told")]
    fn with(program: &str) -> Option<Self> {
        let Some(folder) = provider_folder("aws", []) else {
            eprintln!("left out: there is no terraform-provider-aws to be found");
            return None;
        };
        let emulator = Emulator::Ministack.start()?;
        let gate = Gate::before(emulator.port());
        let mut bench = Bench::of_others("hashicorp/aws", &folder);
        bench.variables = vec![("AWS_ENDPOINT_URL", gate.endpoint())];
        bench.folder.write("main.tf", &format!("{AWS_PROVIDER}\n{program}"));
        Some(Cloud { bench, emulator, gate })
    }

    /// Deploys until AWS is asked for this, and kills.
    fn kill_in(&self, action: &str, (victim, held): (&str, Held), grace: &str) {
        self.gate.hold(&format!("Action={action}&"), held);
        let mut command = self.bench.command("deploy --yes");
        let mut run = command.env("TRUEUP_PLUGIN_GRACE", grace).spawn().unwrap();
        self.gate.wait();
        let own = i32::try_from(run.id()).unwrap();
        match victim {
            "plugin" => {
                let pids = self.bench.pids();
                let plugins = pids.iter().filter(|(_, command)| {
                    command.split('/').next_back().is_some_and(|it| it.starts_with("terraform-provider-aws"))
                });
                let plugins: Vec<i32> = plugins.map(|(pid, _)| *pid).filter(|pid| *pid != own).collect();
                assert!(!plugins.is_empty(), "{pids:?}");
                plugins.into_iter().for_each(kill);
            }
            _ => kill(own),
        }
        run.wait().unwrap();
    }

    /// The names of the roles and the ids of the addresses that the emulator has.
    fn listed(&self) -> Vec<String> {
        let roles = self.emulator.query("iam", "2010-05-08", "ListRoles");
        let addresses = self.emulator.query("ec2", "2016-11-15", "DescribeAddresses");
        let names = Regex::new("<(?:RoleName|allocationId)>([^<]+)<").unwrap();
        let both = roles + &addresses;
        names.captures_iter(&both).map(|found| found[1].to_owned()).collect()
    }
}

/// CRASH-1
#[test]
fn aws_what_its_name_identifies_is_found_again_or_made() {
    let Some(cloud) = Cloud::with(ROLE) else { return };
    for kill @ (_, held) in kills(("plugin", Held::Answer)) {
        cloud.kill_in("CreateRole", kill, "0");
        cloud.bench.left_alone();
        let exists = held == Held::Answer;
        assert_eq!(cloud.listed().len(), usize::from(exists), "{kill:?}: {:?}", cloud.listed());
        cloud.bench.done("deploy --yes");
        assert_eq!(cloud.listed(), ["killed"], "{kill:?}");
        assert!(cloud.bench.actions().is_empty(), "{kill:?}: {:?}", cloud.bench.actions());
        cloud.bench.done("destroy --yes");
        assert!(cloud.listed().is_empty(), "{kill:?}");
    }
}

/// CRASH-1
#[test]
fn aws_what_nothing_identifies_is_for_a_person_and_settled_as_told() {
    let Some(cloud) = Cloud::with(ADDRESS) else { return };
    for kill @ (_, held) in kills(("trueup", Held::Request)) {
        cloud.kill_in("AllocateAddress", kill, "0");
        cloud.bench.left_alone();
        let told = unfolded(&cloud.bench.failed("deploy --yes"));
        let (import, absent) = ("import aws_eip.a", "state resolve aws_eip.a --absent");
        assert!(told.contains("--absent"), "{told}");
        assert!(told.contains(import) && told.contains(absent), "{told}");
        let listed = cloud.listed();
        match (held, listed.as_slice()) {
            (Held::Answer, [id]) => cloud.bench.done(&format!("{import} {id} --yes")),
            (Held::Request, []) => cloud.bench.done(&format!("{absent} --yes")),
            (held, listed) => panic!("{held:?}: {listed:?}"),
        };
        cloud.bench.done("deploy --yes");
        let settled = cloud.listed();
        assert_eq!(settled.len(), 1, "{kill:?}: {settled:?}");
        assert!(listed.is_empty() || listed == settled, "what was there is kept");
        assert!(cloud.bench.actions().is_empty(), "{kill:?}: {:?}", cloud.bench.actions());
        cloud.bench.done("destroy --yes");
        assert!(cloud.listed().is_empty(), "{kill:?}");
    }
    // A host that outlives the program has the answer.
    cloud.kill_in("AllocateAddress", ("trueup", Held::Answer), "60");
    cloud.gate.release();
    cloud.bench.done("deploy --yes");
    assert_eq!(cloud.listed().len(), 1);
    assert!(cloud.bench.actions().is_empty(), "{:?}", cloud.bench.actions());
    cloud.bench.done("destroy --yes");
    assert!(cloud.listed().is_empty());
}
