//! Which versions will do, as Terraform understands it.
//!
//! Parts of a version that are not written are zero, except behind `~>`, where their absence says how much may change.
//! What a release was built from (`+…`) counts only where a version is named or ruled out exactly, and releases that are
//! not finished (`-beta`) only where one is named exactly.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use semver::{BuildMetadata, Prerelease, Version};

/// The longest text that is read, in bytes.
const LENGTH_MAX: usize = 1000;

/// Versions that will do; none at all is a constraint that all finished releases meet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VersionConstraints {
    /// In the order in which Terraform writes them.
    each: Vec<Constraint>,
}

/// Why a text is no constraint.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a version constraint: {why}")]
pub struct ConstraintError {
    text: String,
    why: &'static str,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Constraint {
    operator: Operator,
    version: Version,
}

/// In the order in which they are written where their versions are the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Operator {
    Greater,
    AtLeast,
    Exactly,
    /// `~> 1.2.3`: only the last part may grow.
    SamePatchLine,
    /// `~> 1.2`: all but the first part may grow.
    SameMajor,
    AtMost,
    Less,
    Not,
}

impl VersionConstraints {
    /// Whether a version will do.
    pub fn allow(&self, version: &Version) -> bool {
        let named = self.each.iter().any(|it| it.operator == Operator::Exactly && it.version == *version);
        (version.pre.is_empty() || named) && self.each.iter().all(|constraint| constraint.allows(version))
    }

    /// The newest of these that will do.
    pub fn newest<'a>(&self, versions: impl IntoIterator<Item = &'a Version>) -> Option<&'a Version> {
        versions.into_iter().filter(|version| self.allow(version)).max()
    }

    /// What both demand.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::ordered(self.each.iter().chain(&other.each).cloned().collect())
    }

    /// Whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    fn ordered(mut each: Vec<Constraint>) -> Self {
        each.sort_by(|left, right| {
            let version = left.version.cmp_precedence(&right.version);
            version
                .then(left.operator.cmp(&right.operator))
                .then(left.version.build.cmp(&right.version.build))
        });
        each.dedup();
        VersionConstraints { each }
    }
}

impl Constraint {
    fn allows(&self, version: &Version) -> bool {
        let order = version.cmp_precedence(&self.version);
        let Version { major, minor, .. } = self.version;
        match self.operator {
            Operator::Exactly => *version == self.version,
            Operator::Not => *version != self.version,
            Operator::Greater => order == Ordering::Greater,
            Operator::AtLeast => order != Ordering::Less,
            Operator::Less => order == Ordering::Less,
            Operator::AtMost => order != Ordering::Greater,
            Operator::SameMajor => order != Ordering::Less && version.major == major,
            Operator::SamePatchLine => {
                order != Ordering::Less && (version.major, version.minor) == (major, minor)
            }
        }
    }
}

impl FromStr for VersionConstraints {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let wrong = |text: &str, why| ConstraintError { text: text.chars().take(80).collect(), why };
        if text.len() > LENGTH_MAX {
            return Err(wrong(text, "it is too long"));
        }
        let each = text.split(',').map(|part| constraint(part.trim()).map_err(|why| wrong(text, why)));
        Ok(Self::ordered(each.collect::<Result<_, _>>()?))
    }
}

fn constraint(text: &str) -> Result<Constraint, &'static str> {
    let operators = [
        ("~>", Operator::SameMajor),
        (">=", Operator::AtLeast),
        ("<=", Operator::AtMost),
        ("!=", Operator::Not),
        (">", Operator::Greater),
        ("<", Operator::Less),
        ("=", Operator::Exactly),
    ];
    let found = operators.iter().find_map(|(sign, it)| Some((*it, text.strip_prefix(sign)?)));
    let (operator, rest) = found.unwrap_or((Operator::Exactly, text));
    let (version, parts) = partial_version(rest.trim_start())?;
    let operator = match operator {
        Operator::SameMajor if parts == 3 => Operator::SamePatchLine,
        other => other,
    };
    let exact = matches!(operator, Operator::Exactly | Operator::Not);
    let build = if exact { version.build } else { BuildMetadata::EMPTY };
    Ok(Constraint { operator, version: Version { build, ..version } })
}

/// A version and how many of its three numbers were written.
fn partial_version(text: &str) -> Result<(Version, usize), &'static str> {
    if text.is_empty() {
        return Err("a version is missing");
    }
    if text.contains(char::is_whitespace) {
        return Err("put commas between constraints");
    }
    if text.starts_with(['v', 'V']) {
        return Err("write the version without `v`");
    }
    let (text, build) = text.split_once('+').unwrap_or((text, ""));
    let (numbers, pre) = text.split_once('-').unwrap_or((text, ""));
    let mut found = [0; 3];
    let mut parts = 0;
    for number in numbers.split('.') {
        let place = found.get_mut(parts).ok_or("a version has at most three numbers")?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("a version is numbers with dots between them");
        }
        *place = number.parse().map_err(|_| "a version is numbers with dots between them")?;
        parts += 1;
    }
    let [major, minor, patch] = found;
    let pre = Prerelease::new(pre).map_err(|_| "what stands behind `-` is not the name of a prerelease")?;
    let build = BuildMetadata::new(build).map_err(|_| "what stands behind `+` is not the name of a build")?;
    Ok((Version { major, minor, patch, pre, build }, parts))
}

impl fmt::Display for VersionConstraints {
    /// As Terraform writes them in lock files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Constraint { operator, version }) in self.each.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let sign = match operator {
                Operator::Greater => "> ",
                Operator::AtLeast => ">= ",
                Operator::Exactly => "",
                Operator::SamePatchLine | Operator::SameMajor => "~> ",
                Operator::AtMost => "<= ",
                Operator::Less => "< ",
                Operator::Not => "!= ",
            };
            match (operator, version.pre.is_empty()) {
                (Operator::SameMajor, true) => {
                    write!(f, "{comma}{sign}{}.{}", version.major, version.minor)?;
                }
                (Operator::SameMajor, false) => {
                    write!(f, "{comma}{sign}{}.{}-{}", version.major, version.minor, version.pre)?;
                }
                _ => write!(f, "{comma}{sign}{version}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the provider of the table is published in.
    const PUBLISHED: &[&str] = &[
        "0.9.0",
        "1.0.0",
        "1.0.5",
        "1.2.0",
        "1.2.3",
        "1.2.9",
        "1.3.0-beta1",
        "1.3.0",
        "1.9.0",
        "2.0.0-beta1",
        "2.0.0",
        "2.1.0-rc.1",
        "2.1.0+meta",
    ];

    fn newest(constraints: &str) -> Option<String> {
        let published: Vec<Version> = PUBLISHED.iter().map(|text| text.parse().unwrap()).collect();
        let constraints: VersionConstraints = constraints.parse().unwrap();
        constraints.newest(&published).map(Version::to_string)
    }

    /// Each line is what `terraform init` 1.11 took from a mirror with the same versions.
    #[test]
    fn the_newest_version_is_the_one_that_terraform_takes() {
        for (constraints, expected) in [
            ("1.2", "1.2.0"),
            ("= 1.2", "1.2.0"),
            ("1", "1.0.0"),
            ("> 1", "2.1.0+meta"),
            ("> 1, < 1.1", "1.0.5"),
            ("> 1.2, < 1.3", "1.2.9"),
            ("< 1.2", "1.0.5"),
            ("<= 1.2", "1.2.0"),
            ("!= 2.1.0", "2.1.0+meta"),
            ("!= 2.1.0+meta", "2.0.0"),
            ("~> 1", "1.9.0"),
            ("~> 1.2", "1.9.0"),
            ("~> 1.2.3", "1.2.9"),
            ("~>1.2.3+m", "1.2.9"),
            ("~> 1.3.0-beta1", "1.3.0"),
            ("1.3.0-beta1", "1.3.0-beta1"),
            ("= 2.0.0-beta1, >= 1.0", "2.0.0-beta1"),
            ("2.1.0+meta", "2.1.0+meta"),
            ("01.2", "1.2.0"),
            ("1.2.3-", "1.2.3"),
        ] {
            assert_eq!(newest(constraints).as_deref(), Some(expected), "{constraints}");
        }
        for constraints in [">= 1.3.0-beta1, < 1.3.0", "2.1.0", "= 2.1.0+other"] {
            assert_eq!(newest(constraints), None, "{constraints}");
        }
    }

    /// What Terraform 1.11 wrote into lock files.
    #[test]
    fn constraints_are_written_as_terraform_writes_them() {
        for (text, expected) in [
            ("~> 1", "~> 1.0"),
            ("~>1.2.3", "~> 1.2.3"),
            ("= 1.2.3, = 1.2.3", "1.2.3"),
            (">= 1.0, >= 1.0.0", ">= 1.0.0"),
            ("< 3.0, >= 1.0, ~> 2.0, != 2.1.0", ">= 1.0.0, ~> 2.0, != 2.1.0, < 3.0.0"),
            (
                "<= 2, >= 1, > 0.1, < 3, = 1.2.3, != 5",
                "> 0.1.0, >= 1.0.0, 1.2.3, <= 2.0.0, < 3.0.0, != 5.0.0",
            ),
            ("~> 1.2, ~> 1.2.0, = 1.2, <= 1.2.0, >= 1.2.0", ">= 1.2.0, 1.2.0, ~> 1.2.0, ~> 1.2, <= 1.2.0"),
            ("!= 1.0.0, ~> 1.0, >= 1, > 1", "> 1.0.0, >= 1.0.0, ~> 1.0, != 1.0.0"),
            ("!= 2, < 2, <= 2", "<= 2.0.0, < 2.0.0, != 2.0.0"),
        ] {
            assert_eq!(text.parse::<VersionConstraints>().unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_constraint_is_refused() {
        for text in
            ["", ",", "1.0,", "a", "1.*", "v1.2.3", "1.2.3.4", ">1.0 <2.0", "=>1.0", "1.99999999999999999999"]
        {
            assert!(text.parse::<VersionConstraints>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[~<>=!,. 0-9a-z+-]{0,40}|.{0,40}") {
            if let Ok(read) = text.parse::<VersionConstraints>() {
                prop_assert_eq!(read.to_string().parse::<VersionConstraints>().unwrap(), read);
            }
        }
    }
}
