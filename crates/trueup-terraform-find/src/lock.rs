//! The dependency lock file, `.terraform.lock.hcl`: which version of each provider is used, and its checksums.
//!
//! Terraform and we read and write the same file, in the same form to the last byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use semver::Version;
use trueup_provider::ProviderAddress;

use crate::plain::{self, Entry};

/// Its name in the folder of the stack.
pub(crate) const FILE_NAME: &str = ".terraform.lock.hcl";

const HEADER: &str = "# This file is maintained automatically by \"terraform init\".\n\
                      # Manual edits may be lost in future updates.\n";

/// What a lock file holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lock {
    /// What is settled of each provider.
    pub providers: BTreeMap<ProviderAddress, Locked>,
}

/// What is settled of a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locked {
    /// The version to use.
    pub version: Version,
    /// What was demanded when it was chosen, as it was written.
    pub constraints: Option<String>,
    /// Checksums of its packages, for this platform and for others: `h1:…`, `zh:…`.
    pub hashes: BTreeSet<String>,
}

/// What is wrong with a lock file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct LockError {
    line: usize,
    what: String,
}

impl Lock {
    /// Reads the text of a lock file.
    pub fn read(text: &str) -> Result<Self, LockError> {
        let entries = plain::read(text).map_err(|error| LockError { line: error.line, what: error.what })?;
        let mut lock = Lock::default();
        for entry in &entries {
            let (address, locked) = provider(entry)?;
            if lock.providers.insert(address.clone(), locked).is_some() {
                return Err(wrong(entry, format!("{address} stands here a second time")));
            }
        }
        Ok(lock)
    }
}

impl std::fmt::Display for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(HEADER)?;
        for (address, Locked { version, constraints, hashes }) in &self.providers {
            write!(f, "\nprovider \"{address}\" {{\n")?;
            match constraints {
                Some(constraints) => {
                    writeln!(
                        f,
                        "  version     = \"{version}\"\n  constraints = \"{}\"",
                        Escaped(constraints)
                    )?;
                }
                None => writeln!(f, "  version = \"{version}\"")?,
            }
            if !hashes.is_empty() {
                f.write_str("  hashes = [\n")?;
                for hash in hashes {
                    writeln!(f, "    \"{}\",", Escaped(hash))?;
                }
                f.write_str("  ]\n")?;
            }
            f.write_str("}\n")?;
        }
        Ok(())
    }
}

struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            other => f.write_char(other),
        })
    }
}

fn wrong(entry: &Entry, what: impl Into<String>) -> LockError {
    LockError { line: entry.line, what: what.into() }
}

fn provider(entry: &Entry) -> Result<(ProviderAddress, Locked), LockError> {
    let ("provider", [label], Some(block)) =
        (entry.key.as_str(), entry.labels.as_slice(), entry.value.as_block())
    else {
        return Err(wrong(entry, "only `provider \"…\" { … }` is expected here"));
    };
    let address: ProviderAddress =
        label.parse().map_err(|why| wrong(entry, format!("`{label}` is no provider: {why}")))?;
    if address.to_string() != *label {
        return Err(wrong(entry, format!("`{label}` must be written in full: `{address}`")));
    }
    let mut version = None;
    let (mut constraints, mut hashes) = (None, BTreeSet::new());
    for item in block {
        let text =
            || item.value.as_text().ok_or_else(|| wrong(item, format!("`{}` must be a text", item.key)));
        match item.key.as_str() {
            "version" => {
                let parsed = text()?.parse::<Version>();
                let told = |error| wrong(item, format!("the version of {address} is none: {error}"));
                version = Some(parsed.map_err(told)?);
            }
            "constraints" => constraints = Some(text()?.to_owned()),
            "hashes" => {
                let texts = item.value.as_texts();
                let texts = texts.ok_or_else(|| wrong(item, "`hashes` must be a list of texts"))?;
                if let Some(hash) = texts.iter().find(|hash| !hash.contains(':')) {
                    return Err(wrong(item, format!("`{hash}` is not a checksum of {address}")));
                }
                hashes = texts.into_iter().collect();
            }
            other => return Err(wrong(item, format!("`{other}` is not expected here"))),
        }
    }
    let version = version.ok_or_else(|| wrong(entry, format!("the version of {address} is missing")))?;
    Ok((address, Locked { version, constraints, hashes }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WRITTEN: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/other" {
  version = "1.0.0"
  hashes = [
    "h1:aaaa=",
  ]
}

provider "registry.terraform.io/hashicorp/toy" {
  version     = "2.0.0"
  constraints = "!= 2.1.0+meta"
  hashes = [
    "h1:UL2WAQffP9JZPnr8egwd1wyx1RcPFfbo/qzd71T5nfs=",
    "zh:00",
  ]
}
"#;

    #[test]
    fn a_lock_file_is_written_as_it_was_read() {
        assert_eq!(Lock::read(WRITTEN).unwrap().to_string(), WRITTEN);
        assert_eq!(Lock::default().to_string(), HEADER);
    }

    #[test]
    fn garbage_is_refused_with_its_line() {
        let check = |text: &str, expected: &str| {
            let told = Lock::read(text).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        };
        check("\u{0}garbage", "line 1");
        check("\nresource \"a\" {}", "line 2: only `provider");
        check("provider \"hashicorp/a\" {\n}", "must be written in full");
        let provider =
            |body: &str| format!("provider \"registry.terraform.io/hashicorp/a\" {{\n{body}\n}}\n");
        check(&provider(""), "version of registry.terraform.io/hashicorp/a is missing");
        check(&provider("version = \"x\""), "line 2: the version of");
        check(&provider("version = \"1.0.0\"\nhashes = [\"x\"]"), "line 3: `x` is not a checksum");
        check(&provider("version = \"1.0.0\"\nfoo = 1"), "line 3: `foo` is not expected");
        check(&provider("version = \"1.0.0\"").repeat(2), "a second time");
    }

    proptest! {
        #[test]
        fn damaged_texts_are_read_or_refused(at in 0..WRITTEN.len(), byte in 0u8..127) {
            let mut bytes = WRITTEN.as_bytes().to_vec();
            bytes[at] = byte;
            if let Ok(read) = Lock::read(&String::from_utf8(bytes).unwrap()) {
                prop_assert_eq!(Lock::read(&read.to_string()).unwrap(), read);
            }
        }
    }
}
