//! `new provider`: a crate with resource types in Rust, which builds and passes its tests as it is written.

use std::path::PathBuf;

use clap::Args;
use trueup_front_end::GeneratedFile;

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::ui::shown_path;
use crate::whole_file;

/// Write a crate with resource types of your own
///
/// It has two resource types, one for each contract, a data source, their tests, an example stack and a program that is
/// trueup with these types. It builds, and its tests pass, as it is written.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup new provider acme\n  trueup new provider acme --source ../trueup"
)]
pub(crate) struct ProviderArgs {
    /// The name of the provider, of its crate and of the new folder
    #[arg(value_parser = provider_name)]
    name: String,
    /// A checkout of trueup that the crate is built with, rather than a published version
    #[arg(long, value_name = "FOLDER")]
    source: Option<PathBuf>,
}

/// The files, by their paths in the new folder. `PROVIDER` and `DEPENDENCY` in them are replaced.
const FILES: [(&str, &str); 13] = [
    ("Cargo.toml", include_str!("templates/provider/Cargo.toml.template")),
    ("rustfmt.toml", include_str!("templates/provider/rustfmt.toml.template")),
    (".gitignore", include_str!("templates/provider/gitignore.template")),
    (".github/workflows/ci.yml", include_str!("templates/provider/ci.yml.template")),
    ("README.md", include_str!("templates/provider/README.md.template")),
    ("src/lib.rs", include_str!("templates/provider/lib.rs.template")),
    ("src/main.rs", include_str!("templates/provider/main.rs.template")),
    ("src/document.rs", include_str!("templates/provider/document.rs.template")),
    ("src/folder.rs", include_str!("templates/provider/folder.rs.template")),
    ("src/listing.rs", include_str!("templates/provider/listing.rs.template")),
    ("tests/conformance.rs", include_str!("templates/provider/conformance.rs.template")),
    ("tests/example.rs", include_str!("templates/provider/example.rs.template")),
    ("example/main.tu.hcl", include_str!("templates/provider/main.tu.hcl.template")),
];

/// Names of crates that the new one could not have, and of providers that are built in.
const TAKEN: [&str; 11] =
    ["alloc", "awsn", "core", "example", "pg", "proc_macro", "stack", "std", "terraform", "test", "trueup"];

pub(super) fn run(session: &Session<'_>, args: &ProviderArgs) -> CommandResult {
    let folder = session.folder.join(&args.name);
    if folder.exists() {
        let summary = format!("{} exists already", shown_path(&folder));
        return Err(CommandError::new(summary, "choose another name, or move it away"));
    }
    let dependency = match &args.source {
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
        Some(source) => path_dependency(session, source)?,
    };
    for GeneratedFile { path, text } in files(&args.name, &dependency) {
        let place = folder.join(&path);
        let written = place.parent().map_or(Ok(()), std::fs::create_dir_all);
        written
            .and_then(|()| whole_file::create(&place, text.as_bytes(), whole_file::Readers::Same))
            .map_err(|error| CommandError::file("write", &place, &error))?;
        session.ui.note(&format!("wrote {}", shown_path(&PathBuf::from(&args.name).join(path))));
    }
    session.ui.note(&format!("\nNext: cd {} && cargo test", args.name));
    Ok(Exit::Done)
}

fn files(name: &str, dependency: &str) -> Vec<GeneratedFile> {
    let file = |(path, template): &(&str, &str)| GeneratedFile {
        path: path.into(),
        text: template.replace("PROVIDER", name).replace("DEPENDENCY", dependency),
    };
    FILES.iter().map(file).collect()
}

/// The dependency on a checkout.
fn path_dependency(session: &Session<'_>, source: &std::path::Path) -> CommandResult<String> {
    let found = session.folder.join(source).join("crates/trueup").canonicalize();
    let found = found.ok().filter(|library| library.join("Cargo.toml").is_file());
    let Some(library) = found.as_deref().and_then(std::path::Path::to_str) else {
        let summary = format!("{} is no checkout of trueup", shown_path(source));
        return Err(CommandError::new(summary, "name the folder that has `crates/trueup` in it"));
    };
    // As a string of TOML.
    Ok(format!("path = \"{}\"", library.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn provider_name(text: &str) -> Result<String, String> {
    let is_name = text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_');
    if !is_name || text.len() > 24 {
        return Err("use up to 24 letters from a to z, digits and `_`, beginning with a letter".to_owned());
    }
    match TAKEN.contains(&text) || is_keyword(text) {
        true => Err("this name means something else already".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Whether Rust has this word for itself.
fn is_keyword(text: &str) -> bool {
    const WORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false \
                         final fn for gen if impl in let loop macro match mod move mut override priv pub ref return \
                         self static struct super trait true try type typeof unsafe unsized use virtual where while yield";
    WORDS.split_whitespace().any(|word| word == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_crate_and_of_a_provider() {
        for name in ["acme", "acme_cloud2"] {
            assert_eq!(provider_name(name), Ok(name.to_owned()));
        }
        for name in ["", "Acme", "acme-cloud", "2acme", "std", "match", "a.b", "../x", &"a".repeat(25)] {
            assert!(provider_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn nothing_of_a_template_is_left() {
        for file in files("acme", "version = \"1\"") {
            assert!(!file.text.contains("PROVIDER") && !file.text.contains("DEPENDENCY"), "{file:?}");
        }
    }
}
