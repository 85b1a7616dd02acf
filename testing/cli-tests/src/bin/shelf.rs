//! A stack in Rust with the same command line as any other.

use std::process::ExitCode;

use trueup::Inputs;
use trueup_cli_tests::{File, registry};

/// The variables of the stack.
#[derive(Inputs)]
struct Settings {
    /// What the files say.
    #[trueup(default = "hello")]
    greeting: String,
    /// What the files said before.
    #[trueup(deprecated = "say `greeting`")]
    text: Option<String>,
    /// The names of more files.
    #[trueup(default, length(max = 3))]
    more: Vec<String>,
    /// What nobody may see.
    #[trueup(secret, length(min = 6))]
    password: Option<String>,
}

fn main() -> ExitCode {
    trueup::cli("shelf", "1.2.3", registry(), |stack, deployment| {
        let Settings { greeting, text, more, password } = deployment.variables()?;
        let greeting = text.unwrap_or(greeting);
        let index = stack.add("index", File::args().path("index.txt").content(greeting).password(password));
        let about = stack.add("about", File::args().path("about.txt").content(index.content()));
        let more = more.into_iter().map(|name| (name.clone(), name));
        stack.add_each("more", more, |key, name| File::args().path(format!("{name}.txt")).content(key));
        stack.output("about", about.path());
        Ok(())
    })
}
