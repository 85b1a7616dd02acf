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
    "show-secrets",
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

/// Options before the command that are followed by a value.
const WITH_VALUES: &[&str] = &["--chdir", "--env-file", "--log-file", "--profile", "-C"];

/// The arguments as we spell them. What stands after `--` is left alone.
pub(crate) fn normalise(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut literal = false;
    let mut command = CommandWord::Program;
    let mut spell = |argument: OsString| -> OsString {
        let Some(text) = argument.to_str().filter(|_| !literal) else {
            command = command.after("");
            return argument;
        };
        if text == "--" {
            literal = true;
        }
        if text == "-json" && command == CommandWord::Output {
            return "--json=terraform".into();
        }
        command = command.after(text);
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

/// How far the command is known, while arguments are read one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandWord {
    /// The program itself comes next.
    Program,
    /// An option, or the command.
    Open,
    /// The value of an option.
    Value,
    /// It is `output`, of which Terraform has a JSON form of its own.
    Output,
    /// It is another one.
    Other,
}

impl CommandWord {
    fn after(self, text: &str) -> Self {
        let takes_value = || WITH_VALUES.contains(&text) || WITH_VALUES.contains(&&*format!("-{text}"));
        match self {
            CommandWord::Program | CommandWord::Value => CommandWord::Open,
            CommandWord::Open if takes_value() => CommandWord::Value,
            CommandWord::Open if text.starts_with('-') => CommandWord::Open,
            CommandWord::Open if text == "output" => CommandWord::Output,
            CommandWord::Open => CommandWord::Other,
            CommandWord::Output | CommandWord::Other => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

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

    /// OUTPUT-12
    #[test]
    fn one_dash_asks_for_the_outputs_of_terraform() {
        check("t output -json", "t output --json=terraform");
        check(
            "t -chdir=x --no-color output --stage s a -json",
            "t --chdir=x --no-color output --stage s a --json=terraform",
        );
        check("t -C output plan -json", "t -C output plan --json");
        check("t --log-file output state list -json", "t --log-file output state list --json");
        check("t output --json", "t output --json");
        check("t output -json=plain", "t output --json=plain");
    }

    #[test]
    fn options_with_values_are_those_of_every_command() {
        let command = Arguments::command();
        let with_values =
            command.get_arguments().filter(|it| it.is_global_set() && it.get_action().takes_values());
        let mut names: Vec<String> = with_values
            .flat_map(|it| {
                let long = it.get_long().map(|name| format!("--{name}"));
                long.into_iter().chain(it.get_short().map(|name| format!("-{name}")))
            })
            .collect();
        names.sort();
        assert_eq!(names, WITH_VALUES);
    }

    #[test]
    fn the_rest_is_left_alone() {
        check("t plan -C infra --var a=-b -x -", "t plan -C infra --var a=-b -x -");
        check("t console -- -var", "t console -- -var");
    }
}
