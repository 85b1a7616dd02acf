//! Servers that tests start, and how to get them where they are missing. What can neither be found nor installed is
//! said plainly, and the tests that need it are told to do without.

use std::process::Command;

use trueup_test_servers::emulator::Emulator;
use trueup_test_servers::{LEFT_OUT, postgres};

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
];

/// Finds or installs all tools, and tells a command that runs tests what to leave out.
pub(crate) fn ensure(tests: &mut Command) {
    let missing: Vec<&str> = TOOLS.iter().filter(|tool| !is_there(tool)).map(|tool| tool.name).collect();
    if !missing.is_empty() {
        tests.env(LEFT_OUT, missing.join(","));
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
