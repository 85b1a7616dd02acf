//! The servers that tests need: found or installed, and started once for all tests that can share one. A server that can
//! be neither found nor installed is reported, and tests skip what needs it.

use std::process::Command;

use trueup_test_servers::emulator::{Emulator, RunningEmulator};
use trueup_test_servers::environment::program_on_path;
use trueup_test_servers::postgres::Postgres;
use trueup_test_servers::{JQ, LEFT_OUT, disk, faketime, postgres};

use crate::cargo;

/// Something that tests start and this repository does not build.
struct Tool {
    /// The name by which tests leave it out.
    name: &'static str,
    /// For people.
    title: &'static str,
    found: fn() -> bool,
    /// Brings it here, if that can be done; says why not otherwise.
    install: fn() -> Result<(), String>,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: postgres::NAME,
        title: "PostgreSQL",
        found: || postgres::Installation::find().is_some(),
        install: || install_package("postgresql"),
    },
    Tool {
        name: "ministack",
        title: "the S3 server ministack",
        found: || Emulator::Ministack.install().is_ok(),
        install: || install_emulator(Emulator::Ministack),
    },
    Tool {
        name: "moto",
        title: "the S3 server moto",
        found: || Emulator::Moto.install().is_ok(),
        install: || install_emulator(Emulator::Moto),
    },
    Tool {
        name: faketime::NAME,
        title: "libfaketime",
        found: || faketime::library().is_some(),
        install: || install_package("faketime"),
    },
    Tool { name: JQ, title: "jq", found: || program_on_path(JQ).is_some(), install: || install_package(JQ) },
    Tool {
        name: disk::NAME,
        title: "a file system of a chosen size",
        found: disk::is_there,
        install: || Err("this needs Linux, and leave to mount in a namespace (`unshare --mount`)".to_owned()),
    },
];

/// The servers that tests share, stopped on drop, and the names of missing ones.
pub(crate) struct Servers {
    postgres: Option<Postgres>,
    ministack: Option<RunningEmulator>,
    missing: Vec<&'static str>,
}

impl Servers {
    /// Finds or installs all tools, and starts those that tests share.
    pub(crate) fn start() -> Self {
        let missing: Vec<&str> = TOOLS.iter().filter(|tool| !is_there(tool)).map(|tool| tool.name).collect();
        let has = |name: &str| !missing.contains(&name);
        let postgres = has(postgres::NAME).then(Postgres::to_share).flatten();
        let ministack = has(Emulator::Ministack.name()).then(|| Emulator::Ministack.start()).flatten();
        if let Some(postgres) = &postgres {
            println!("started PostgreSQL for all tests on port {}", postgres.port());
        }
        if let Some(ministack) = &ministack {
            println!("started ministack for all tests on port {}", ministack.port());
        }
        Servers { postgres, ministack, missing }
    }

    /// Passes the shared servers, and the names of missing ones, to a test command.
    pub(crate) fn share_with(&self, tests: &mut Command) {
        if let Some(postgres) = &self.postgres {
            postgres.share_with(tests);
        }
        if let Some(ministack) = &self.ministack {
            ministack.share_with(tests);
        }
        if !self.missing.is_empty() {
            tests.env(LEFT_OUT, self.missing.join(","));
        }
    }
}

fn is_there(tool: &Tool) -> bool {
    let Tool { title, found, install, .. } = tool;
    if found() {
        return true;
    }
    println!("{title} is missing: trying to install it");
    let why = match install() {
        Ok(()) if found() => return true,
        Ok(()) => "it was installed, and is still not found".to_owned(),
        Err(why) => why,
    };
    println!("LEFT OUT: the tests that need {title}: {why}");
    false
}

/// Installs a package of a Debian system, which only root can.
fn install_package(package: &str) -> Result<(), String> {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        cargo::succeeds_quietly(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    if !apt(&["--version"]) {
        return Err(format!("there is no apt-get here; install `{package}` by hand"));
    }
    let install = ["install", "--yes", "--no-install-recommends", package];
    if apt(&install) || (apt(&["update"]) && apt(&install)) {
        return Ok(());
    }
    Err(format!("`apt-get install {package}` fails, perhaps because it needs root"))
}

/// Emulators come from PyPI; what may be missing is the means to get them.
fn install_emulator(emulator: Emulator) -> Result<(), String> {
    let python = install_package("python3-venv");
    emulator.install().map_err(|none| match python {
        Ok(()) => none.to_string(),
        Err(why) => format!("{none}; {why}"),
    })
}
