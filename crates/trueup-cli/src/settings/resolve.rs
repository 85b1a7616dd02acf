//! Which value counts, and where it comes from: flag, environment, `stack` block, user configuration, in this order.

use std::fmt;
use std::path::Path;

use smol_str::{SmolStr, format_smolstr};
use trueup_core::Value;
use trueup_front_end::{StackSettings, StateSettings};

use super::{Environment, FolderMemory, UserSettings};
use crate::arguments::stage_name;
use crate::stores::of_address;
use crate::stores::state_in_own_folder;

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resolved<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub from: Source,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A flag.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// The text of the stack.
    Stack,
    /// The user's configuration file.
    User,
    /// What is remembered of the folder.
    Folder,
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag(flag) => write!(f, "flag {flag}"),
            Source::Environment(name) => write!(f, "environment {name}"),
            Source::Stack => f.write_str("stack block"),
            Source::User => f.write_str("user configuration"),
            Source::Folder => f.write_str("last used in this folder"),
            Source::Default => f.write_str("default"),
        }
    }
}

/// Why there is no stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoStage {
    /// In CI, it has to be named.
    Unnamed,
    /// What `TRUEUP_STAGE` says is no name, and what would be one.
    Invalid(String),
}

/// The stage: the flag, else `TRUEUP_STAGE`, else the one last used here, else one of one's own. In CI nobody's own
/// stage is meant, so it must be named.
pub(crate) fn stage(
    flag: Option<&str>,
    environment: &Environment,
    memory: &FolderMemory,
    login: impl FnOnce() -> String,
) -> Result<Resolved<SmolStr>, NoStage> {
    let resolved = |value: &str, from| Ok(Resolved { value: value.into(), from });
    if let Some(stage) = flag {
        return resolved(stage, Source::Flag("--stage"));
    }
    if let Some(stage) = environment.get("TRUEUP_STAGE") {
        stage_name(stage).map_err(NoStage::Invalid)?;
        return resolved(stage, Source::Environment("TRUEUP_STAGE"));
    }
    if environment.is_set("CI") {
        return Err(NoStage::Unnamed);
    }
    match &memory.stage {
        Some(stage) => resolved(stage, Source::Folder),
        None => Ok(Resolved { value: format_smolstr!("dev_{}", login()), from: Source::Default }),
    }
}

/// The name of the stack: as its text says, else as it was first deployed from here, else that of the folder.
pub(crate) fn stack(settings: &StackSettings, memory: &FolderMemory, folder: &Path) -> Resolved<SmolStr> {
    if let Some(name) = &settings.name {
        return Resolved { value: name.clone(), from: Source::Stack };
    }
    if let Some(name) = &memory.stack {
        return Resolved { value: name.into(), from: Source::Folder };
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    Resolved { value: name.unwrap_or_else(|| "stack".to_owned()).into(), from: Source::Default }
}

/// Where state is kept.
pub(crate) fn state(
    environment: &Environment,
    settings: &StackSettings,
    user: &UserSettings,
) -> Resolved<StateSettings> {
    if let Some(path) = environment.get("TRUEUP_STATE") {
        return Resolved { value: of_address(path), from: Source::Environment("TRUEUP_STATE") };
    }
    if let Some(state) = &settings.state {
        return Resolved { value: state.clone(), from: Source::Stack };
    }
    if let Some(state) = &user.state {
        let settings =
            Value::object(state.settings.iter().map(|(name, value)| (name.as_str(), from_toml(value))));
        let value = StateSettings { kind: state.kind.as_str().into(), settings };
        return Resolved { value, from: Source::User };
    }
    Resolved { value: state_in_own_folder(), from: Source::Default }
}

/// How many operations run at a time.
pub(crate) fn parallelism(
    flag: Option<usize>,
    environment: &Environment,
    settings: &StackSettings,
    user: &UserSettings,
    default: usize,
) -> Result<Resolved<usize>, String> {
    let given = environment.get("TRUEUP_PARALLELISM").map(|text| {
        let parsed = text.parse().ok().filter(|count| *count > 0);
        parsed.ok_or_else(|| format!("TRUEUP_PARALLELISM is `{text}`, which is not a number above 0"))
    });
    let candidates = [
        (flag, Source::Flag("--parallelism")),
        (given.transpose()?, Source::Environment("TRUEUP_PARALLELISM")),
        (settings.parallelism, Source::Stack),
        (user.parallelism, Source::User),
    ];
    let found = candidates.into_iter().find_map(|(value, from)| Some(Resolved { value: value?, from }));
    Ok(found.unwrap_or(Resolved { value: default, from: Source::Default }))
}

pub(super) fn from_toml(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Boolean(truth) => (*truth).into(),
        toml::Value::Float(number) => number.to_string().into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => Value::list(items.iter().map(from_toml)),
        toml::Value::Table(table) => {
            Value::object(table.iter().map(|(name, value)| (name.as_str(), from_toml(value))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> String {
        "me".to_owned()
    }

    #[test]
    fn the_stage_is_what_was_said_last_and_nearest() {
        let used = FolderMemory { stage: Some("staging".to_owned()), stack: None };
        let env = Environment::of([("TRUEUP_STAGE", "prod")]);
        let none = Environment::default();
        let check = |flag, env: &Environment, memory: &FolderMemory, value: &str, from| {
            assert_eq!(stage(flag, env, memory, me), Ok(Resolved { value: value.into(), from }));
        };
        check(Some("x"), &env, &used, "x", Source::Flag("--stage"));
        check(None, &env, &used, "prod", Source::Environment("TRUEUP_STAGE"));
        check(None, &none, &used, "staging", Source::Folder);
        check(None, &none, &FolderMemory::default(), "dev_me", Source::Default);
    }

    #[test]
    fn ci_names_its_stage() {
        let used = FolderMemory { stage: Some("staging".to_owned()), stack: None };
        let ci = Environment::of([("CI", "true")]);
        assert_eq!(stage(None, &ci, &used, me), Err(NoStage::Unnamed));
        assert!(stage(Some("x"), &ci, &used, me).is_ok());
        for wrong in ["a/../b", "a\nb", &"a".repeat(65)] {
            let named = Environment::of([("TRUEUP_STAGE", wrong)]);
            assert!(matches!(stage(None, &named, &used, me), Err(NoStage::Invalid(_))), "{wrong}");
        }
        let named = Environment::of([("CI", "true"), ("TRUEUP_STAGE", "prod")]);
        assert_eq!(stage(None, &named, &used, me).unwrap().value, "prod");
    }

    #[test]
    fn flag_beats_environment_beats_stack_beats_user() {
        let env = Environment::of([("TRUEUP_PARALLELISM", "3")]);
        let stack = StackSettings { parallelism: Some(4), ..StackSettings::default() };
        let user = UserSettings { parallelism: Some(5), ..UserSettings::default() };
        let (none, no_stack, no_user) = Default::default();
        let of = |flag, env: &Environment, stack: &StackSettings, user: &UserSettings| {
            parallelism(flag, env, stack, user, 10).unwrap().value
        };
        assert_eq!(of(Some(2), &env, &stack, &user), 2);
        assert_eq!(of(None, &env, &stack, &user), 3);
        assert_eq!(of(None, &none, &stack, &user), 4);
        assert_eq!(of(None, &none, &no_stack, &user), 5);
        assert_eq!(of(None, &none, &no_stack, &no_user), 10);
        let wrong = Environment::of([("TRUEUP_PARALLELISM", "many")]);
        assert!(parallelism(None, &wrong, &stack, &user, 10).is_err());
    }

    #[test]
    fn a_stack_keeps_the_name_it_was_deployed_under() {
        let memory = FolderMemory { stack: Some("site".to_owned()), stage: None };
        let none = StackSettings::default();
        assert_eq!(stack(&none, &memory, Path::new("/x/renamed")).value, "site");
        assert_eq!(stack(&none, &FolderMemory::default(), Path::new("/x/site2")).value, "site2");
        let named = StackSettings { name: Some("shop".into()), ..none };
        assert_eq!(stack(&named, &memory, Path::new("/x")).value, "shop");
    }
}
