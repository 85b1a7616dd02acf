//! A stack in Rust with the same command line as any other.

use std::process::ExitCode;

use trueup_cli_tests::{File, registry};

fn main() -> ExitCode {
    trueup::cli("shelf", "1.2.3", registry(), |stack, deployment| {
        let greeting = deployment.variable("greeting").unwrap_or("hello").to_owned();
        let index = stack.add("index", File::args().path("index.txt").content(greeting));
        let about = stack.add("about", File::args().path("about.txt").content(index.content()));
        stack.output("about", about.path());
    })
}
