//! A binary with the small language of `language`.

use std::process::ExitCode;

use trueup_cli::{Composition, KeyServiceClients, open_store};
use trueup_cli_tests::language::Lines;
use trueup_cli_tests::registry;

fn main() -> ExitCode {
    trueup_cli::main(Composition {
        name: "lines",
        version: "0.0.1",
        front_end: Box::new(Lines),
        registry: Box::new(|_| registry()),
        open_store: std::sync::Arc::new(open_store),
        key_services: KeyServiceClients::default(),
    })
}
