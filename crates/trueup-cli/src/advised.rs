//! Commands that are advised, spelled as they can be typed. Values of variables are left out: any of them may be secret.

use std::borrow::Cow;
use std::path::Path;

use trueup_core::mask_argument;
use trueup_engine::SavedPlan;
use trueup_front_end::GivenVariable;

use crate::entry::current_folder;
use crate::session::Session;
use crate::ui::shown_path;

/// An argument as a shell reads it, without the passwords of addresses.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@%+".contains(char);
    let text = mask_argument(text);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// The command that carries out the plan in this file.
pub(crate) fn deploy_saved(session: &Session<'_>, path: &Path) -> String {
    let words = [Cow::Borrowed("deploy"), file(session, path).into()];
    spelled(session, words)
}

/// The command that makes a saved plan anew, in its file.
pub(crate) fn plan_again(session: &Session<'_>, saved: &SavedPlan, path: &Path) -> String {
    let options = &saved.options;
    let flags = [
        (saved.kind.is_destroy(), "--destroy"),
        (options.force, "--force"),
        (options.adopt, "--adopt"),
        (!options.drift, "--no-drift"),
    ];
    let mut words: Vec<Cow<'_, str>> = vec!["plan".into()];
    words.extend(["--stage".into(), quoted(&saved.plan.scope.stage).into()]);
    words.extend(flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag.into()));
    let ranges =
        [("--target", &options.targets), ("--exclude", &options.excludes), ("--replace", &options.replace)];
    for (flag, ranges) in ranges {
        let range = |range: &trueup_core::AddressRange| [flag.into(), quoted(&range.to_string()).into()];
        words.extend(ranges.iter().flat_map(range));
    }
    words.extend(["--out".into(), file(session, path).into()]);
    spelled(session, words)
}

fn file(session: &Session<'_>, path: &Path) -> String {
    quoted(&shown_path(path.strip_prefix(&session.folder).unwrap_or(path)))
}

/// The words of a command, and what this call says about its folder, profile and variables.
fn spelled<'w>(session: &Session<'_>, words: impl IntoIterator<Item = Cow<'w, str>>) -> String {
    let mut command = session.name().to_owned();
    let mut push = |word: &str| {
        command.push(' ');
        command.push_str(word);
    };
    words.into_iter().for_each(|word| push(&word));
    if current_folder().ok().as_ref() != Some(&session.folder) {
        push("--chdir");
        push(&quoted(&shown_path(&session.folder)));
    }
    if let Some(profile) = &session.profile {
        push("--profile");
        push(&quoted(&profile.name.value));
    }
    for given in &session.given {
        match given {
            GivenVariable::Value { name, .. } => push(&format!("--var {name}=…")),
            GivenVariable::File(file) => push(&format!("--var-file {}", quoted(&shown_path(file)))),
        }
    }
    command
}
