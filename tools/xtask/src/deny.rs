//! Checks where dependencies come from, and which are wanted: `deny.toml` says it, for this tool and for cargo-deny.
//!
//! Lock files are read here, so that sources, bans and doubled versions are checked on every machine. cargo-deny checks the
//! same and advisories, where it is installed; what it leaves out for want of a database is said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use trueup_test_servers::environment;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::licences;
use crate::repository::Repository;

const CONFIGURATION: &str = "deny.toml";

/// Where cargo-deny keeps advisories.
const ADVISORIES: &str = "advisory-dbs";

pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let configuration = read(&repository.root.join(CONFIGURATION))?;
    let rules = Rules::of(&configuration);
    let mut findings = rules.compare_licences(licences::ACCEPTED);
    let own = packages(&read(&repository.root.join("Cargo.lock"))?);
    findings.extend(rules.doubled(&own));
    for path in lock_files(repository)? {
        let listed = packages(&read(&path)?);
        let shown = repository.relative(&path);
        let shown = shown.display();
        println!("{shown}: {} packages", listed.len());
        findings.extend(rules.objections(&listed).into_iter().map(|it| format!("{shown}: {it}")));
    }
    Failure::unless_empty(findings, "dependencies that deny.toml does not allow:")?;
    run_cargo_deny(repository)
}

/// The lock files of the workspace, the fuzz targets and the examples.
fn lock_files(repository: &Repository) -> Result<Vec<PathBuf>, Failure> {
    let mut manifests = vec![PathBuf::from("Cargo.toml"), PathBuf::from("testing/fuzz/libfuzzer/Cargo.toml")];
    manifests.extend(repository.example_manifests()?);
    let locks = manifests.into_iter().map(|path| repository.root.join(path).with_file_name("Cargo.lock"));
    Ok(locks.filter(|path| path.is_file()).collect())
}

fn read(path: &Path) -> Result<Table, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::new(format!("cannot read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    text.parse().map_err(|error| failed(&error))
}

/// What `deny.toml` says.
struct Rules {
    registries: Vec<String>,
    /// Names with the reasons against them.
    banned: BTreeMap<String, String>,
    /// `name@version` of what may be there beside a newer version.
    skipped: Vec<String>,
    licences: Vec<String>,
}

impl Rules {
    fn of(configuration: &Table) -> Self {
        let list = |section: &str, name: &str| -> Vec<Value> {
            let listed = configuration.get(section).and_then(|section| section.get(name)?.as_array());
            listed.cloned().unwrap_or_default()
        };
        let texts = |listed: Vec<Value>| listed.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let field = |entry: &Value, name: &str| {
            entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Rules {
            registries: texts(list("sources", "allow-registry")),
            banned: list("bans", "deny").iter().map(|it| (field(it, "name"), field(it, "reason"))).collect(),
            skipped: list("bans", "skip").iter().map(|it| field(it, "crate")).collect(),
            licences: texts(list("licenses", "allow")),
        }
    }

    /// Packages from elsewhere than the registry, and banned ones.
    fn objections(&self, packages: &[Package]) -> Vec<String> {
        let mut found = Vec::new();
        for Package { name, version, source } in packages {
            let registry = source.as_deref().map(|source| source.strip_prefix("registry+").unwrap_or(source));
            // What has no source lies in the repository.
            if let Some(source) = registry.filter(|source| !self.registries.iter().any(|it| it == source)) {
                found.push(format!("{name} {version} comes from {source}"));
            }
            if let Some(reason) = self.banned.get(name) {
                found.push(format!("{name} {version} is banned: {reason}"));
            }
        }
        found
    }

    /// Packages in more than one version that are not listed, and listed ones that are not needed.
    fn doubled(&self, packages: &[Package]) -> Vec<String> {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        packages.iter().for_each(|it| versions.entry(&it.name).or_default().push(&it.version));
        let mut found = Vec::new();
        for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
            let is_listed = |version: &&&str| self.skipped.contains(&format!("{name}@{version}"));
            let listed = versions.iter().filter(is_listed).count();
            if versions.len() - listed > 1 {
                found.push(format!(
                    "{name} is there in versions {}: update who needs the older one, or list it",
                    versions.join(", ")
                ));
            }
        }
        let is_needed = |skipped: &&String| {
            skipped
                .split_once('@')
                .and_then(|(name, version)| versions.get(name).map(|it| (it, version)))
                .is_some_and(|(versions, version)| versions.len() > 1 && versions.contains(&version))
        };
        let unneeded = self.skipped.iter().filter(|it| !is_needed(it));
        found.extend(unneeded.map(|it| format!("{it} is listed, and is not there beside another version")));
        found
    }

    /// The list of licences must be ours: whichever tool checks them, it checks the same.
    fn compare_licences(&self, accepted: &[&str]) -> Vec<String> {
        let same = self.licences.iter().map(String::as_str).eq(accepted.iter().copied());
        if same {
            Vec::new()
        } else {
            vec![format!("{CONFIGURATION} allows other licences than tools/xtask/src/licences.rs")]
        }
    }
}

/// A package of a lock file.
struct Package {
    name: String,
    version: String,
    source: Option<String>,
}

fn packages(lock: &Table) -> Vec<Package> {
    let field = |package: &Value, name: &str| package.get(name).and_then(Value::as_str).map(str::to_owned);
    let package = |it: &Value| Package {
        name: field(it, "name").unwrap_or_default(),
        version: field(it, "version").unwrap_or_default(),
        source: field(it, "source"),
    };
    lock.get("package").and_then(Value::as_array).into_iter().flatten().map(package).collect()
}

/// Runs cargo-deny where it is installed, with advisories where a database is at hand.
fn run_cargo_deny(repository: &Repository) -> Result<(), Failure> {
    if !cargo::succeeds_quietly(cargo(&repository.root).args(["deny", "--version"])) {
        println!("cargo-deny is not installed: advisories are not checked (cargo install cargo-deny)");
        return Ok(());
    }
    let mut checks = vec!["bans", "licenses", "sources"];
    let home = environment::variable("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| environment::home().map(|home| home.join(".cargo")));
    let is_at_hand = home.is_some_and(|home| home.join(ADVISORIES).is_dir());
    match is_at_hand {
        true => checks.push("advisories"),
        false => println!("there is no database of advisories: they are not checked (cargo deny fetch db)"),
    }
    let mut deny = cargo(&repository.root);
    cargo::run(deny.args(["deny", "check", "--disable-fetch"]).args(checks))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT"]
        [sources]
        allow-registry = ["https://registry"]
        [bans]
        deny = [{ name = "evil", reason = "it is" }]
        skip = [{ crate = "twice@1.0.0", reason = "for old" }, { crate = "gone@1.0.0", reason = "for nobody" }]
    "#;

    fn package(name: &str, version: &str, source: Option<&str>) -> Package {
        Package { name: name.to_owned(), version: version.to_owned(), source: source.map(str::to_owned) }
    }

    #[test]
    fn what_comes_from_elsewhere_or_is_banned_is_named() {
        let rules = Rules::of(&RULES.parse().unwrap());
        let found = rules.objections(&[
            package("ours", "0.1.0", None),
            package("fine", "1.0.0", Some("registry+https://registry")),
            package("evil", "2.0.0", Some("registry+https://registry")),
            package("strange", "1.0.0", Some("registry+https://elsewhere")),
            package("forked", "1.0.0", Some("git+https://registry/forked")),
        ]);
        assert_eq!(
            found,
            [
                "evil 2.0.0 is banned: it is",
                "strange 1.0.0 comes from https://elsewhere",
                "forked 1.0.0 comes from git+https://registry/forked",
            ]
        );
        assert_eq!(rules.compare_licences(&["MIT"]), Vec::<String>::new());
        assert_eq!(rules.compare_licences(&["MIT", "ISC"]).len(), 1);
    }

    #[test]
    fn doubled_versions_are_listed_and_no_others() {
        let rules = Rules::of(&RULES.parse().unwrap());
        let found = rules.doubled(&[
            package("once", "1.0.0", None),
            package("twice", "1.0.0", None),
            package("twice", "2.0.0", None),
            package("new", "1.0.0", None),
            package("new", "2.0.0", None),
        ]);
        assert_eq!(
            found,
            [
                "new is there in versions 1.0.0, 2.0.0: update who needs the older one, or list it",
                "gone@1.0.0 is listed, and is not there beside another version",
            ]
        );
    }
}
