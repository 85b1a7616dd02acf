//! Terraform's spellings: options with a single dash, and names that differ from ours.

use std::ffi::OsString;

/// Options that Terraform's users write with a single dash.
const LONG_NAMES: &[&str] = &[
    "adopt",
    "chdir",
    "check",
    "destroy",
    "detailed-exitcode",
    "diff",
    "env-file",
    "exclude",
    "fail-fast",
    "force",
    "full",
    "help",
    "json",
    "log-file",
    "no-color",
    "no-drift",
    "parallelism",
    "raw",
    "recursive",
    "refresh-only",
    "replace",
    "retry",
    "stage",
    "target",
    "var",
    "var-file",
    "version",
    "yes",
];

/// What Terraform calls otherwise: its option and ours.
const OTHER_NAMES: &[(&str, &str)] =
    &[("-auto-approve", "--yes"), ("-auto-approve=true", "--yes"), ("-refresh=false", "--no-drift")];

/// The arguments as we spell them. What stands after `--` is left alone.
pub(crate) fn normalise(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut literal = false;
    let mut spell = |argument: OsString| -> OsString {
        let Some(text) = argument.to_str().filter(|_| !literal) else { return argument };
        if text == "--" {
            literal = true;
        }
        let single = text.strip_prefix("--").map_or_else(|| text.to_owned(), |name| format!("-{name}"));
        if let Some((_, ours)) = OTHER_NAMES.iter().find(|(theirs, _)| *theirs == single) {
            return (*ours).into();
        }
        let name = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let known = name.is_some_and(|name| LONG_NAMES.contains(&name.split('=').next().unwrap_or(name)));
        if known { format!("-{text}").into() } else { argument }
    };
    arguments.into_iter().map(&mut spell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str) {
        let split = |text: &str| -> Vec<OsString> { text.split(' ').map(OsString::from).collect() };
        assert_eq!(normalise(split(before)), split(after));
    }

    #[test]
    fn single_dashes_become_double() {
        check("t plan -var a=1 -target=x_y.z -json", "t plan --var a=1 --target=x_y.z --json");
        check("t -chdir=infra plan -var-file prod.tfvars", "t --chdir=infra plan --var-file prod.tfvars");
        check("t deploy -auto-approve", "t deploy --yes");
        check("t deploy --auto-approve", "t deploy --yes");
        check("t plan -refresh=false", "t plan --no-drift");
    }

    #[test]
    fn the_rest_is_left_alone() {
        check("t plan -C infra --var a=-b -x -", "t plan -C infra --var a=-b -x -");
        check("t console -- -var", "t console -- -var");
    }
}
