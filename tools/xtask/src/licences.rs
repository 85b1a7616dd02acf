//! Checks that every dependency, on any platform and with every feature, may be used under a permissive licence.

use serde_json::Value;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::spdx::Expression;

/// Licences that ask for no more than that their notice is kept. Adding one is a decision for all users of the crates.
pub(crate) const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "OpenSSL",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let output = cargo::capture(cargo(&repository.root).args(arguments))?;
    let metadata: Value = serde_json::from_slice(&output)
        .map_err(|error| Failure::new(format!("cannot read what `cargo metadata` says: {error}")))?;
    let dependencies = dependencies(&metadata)?;
    println!("dependencies: {}", dependencies.len());

    let findings = dependencies.into_iter().filter_map(|dependency| objection(&dependency)).collect();
    Failure::unless_empty(findings, "dependencies without an accepted licence:")
}

/// A package that is not ours.
struct Dependency<'metadata> {
    name: &'metadata str,
    version: &'metadata str,
    licence: Option<&'metadata str>,
}

fn dependencies(metadata: &Value) -> Result<Vec<Dependency<'_>>, Failure> {
    let list = |field: &str| {
        let list = metadata[field].as_array();
        list.ok_or_else(|| Failure::new(format!("`cargo metadata` gives no list `{field}`")))
    };
    let ours = list("workspace_members")?;
    let packages = list("packages")?.iter().filter(|package| !ours.contains(&package["id"]));
    let dependencies = packages.map(|package| Dependency {
        name: package["name"].as_str().unwrap_or("(unnamed)"),
        version: package["version"].as_str().unwrap_or("(no version)"),
        licence: package["license"].as_str(),
    });
    Ok(dependencies.collect())
}

/// What speaks against a dependency, if anything does.
fn objection(dependency: &Dependency<'_>) -> Option<String> {
    let Dependency { name, version, licence } = dependency;
    let Some(licence) = licence else {
        return Some(format!("{name} {version}: no licence expression in its manifest"));
    };
    match Expression::parse(licence) {
        Ok(expression) if expression.is_satisfied_by(ACCEPTED) => None,
        Ok(_) => Some(format!("{name} {version}: {licence}")),
        Err(error) => Some(format!("{name} {version}: cannot read `{licence}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn offenders_are_named_with_version_and_licence_and_members_are_left_out() {
        let metadata = json!({
            "workspace_members": ["ours"],
            "packages": [
                { "id": "ours", "name": "trueup", "version": "0.1.0", "license": null },
                { "id": "a", "name": "good", "version": "1.0.0", "license": "MIT OR GPL-3.0-only" },
                { "id": "b", "name": "strict", "version": "2.1.0", "license": "GPL-3.0-only" },
                { "id": "c", "name": "silent", "version": "0.3.0", "license": null },
                { "id": "d", "name": "garbled", "version": "4.0.0", "license": "MIT OR" },
            ],
        });
        let found: Vec<String> = dependencies(&metadata).unwrap().iter().filter_map(objection).collect();
        assert_eq!(
            found,
            [
                "strict 2.1.0: GPL-3.0-only",
                "silent 0.3.0: no licence expression in its manifest",
                "garbled 4.0.0: cannot read `MIT OR`: expected a licence, found the end",
            ]
        );
    }
}
