//! `std_directory`: a directory on the machine that deploys.

use std::fs;
use std::io;
use std::path::Path;

use trueup_core::Value;
use trueup_provider::{
    Context, Crud, Error, Found, Inputs, ModifyPlan, Outputs, PlanHook, Prior, Recovery, Result, Sightings,
    Traits,
};

use crate::disk::{Mode, Seen, failed, look, make_directory, same_path, sync_folder};
use crate::surroundings::Surroundings;

/// How many entries of a directory an error names.
const NAMED_MAX: usize = 5;

/// A directory on the machine that deploys. The folders above it are made too, and stay when it is deleted.
///
/// A directory that exists already is taken over silently if it is empty and has the wanted mode; any other one only
/// where adoption is allowed.
#[derive(Inputs, Clone)]
pub struct Directory {
    /// Where it lies. A relative path begins at the stack's folder. Another path makes another directory.
    /// Another spelling of the same path, also through links, keeps it.
    #[trueup(identity, replace, length(min = 1))]
    path: String,
    /// Its permissions, in octal digits.
    #[trueup(default = "0755", pattern = "^[0-7]{3,4}$")]
    mode: String,
    /// Whether deleting it deletes what is in it too. Otherwise only an empty directory is deleted, and the error says
    /// what is in the way.
    #[trueup(default)]
    force: bool,
}

/// A directory as it is.
#[derive(Outputs, Clone)]
pub struct DirectoryOutput {
    /// Where it lies, as the program wrote it.
    #[trueup(mirrors = "path")]
    path: String,
    /// Its permissions, in four octal digits.
    mode: String,
}

impl Directory {
    fn output(&self, mode: Mode) -> DirectoryOutput {
        DirectoryOutput { path: self.path.clone(), mode: mode.to_string() }
    }

    fn see(&self, path: &Path) -> Result<Mode> {
        match look(path)? {
            Seen::Directory(mode) => Ok(mode),
            Seen::Nothing => Err(Error::not_found(format!("there is no directory `{}`", path.display()))),
            other => Err(other.in_the_way(path, "a directory")),
        }
    }
}

impl Crud for Directory {
    type Output = DirectoryOutput;
    type Config = Surroundings;

    fn traits() -> Traits {
        Traits { tells_place: true, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    fn place(&self, config: &Surroundings) -> Option<Value> {
        Some(config.place(&self.path))
    }

    async fn create(&self, context: &Context<Surroundings>) -> Result<DirectoryOutput> {
        let (path, mode) = (context.config().resolve(&self.path), Mode::parse(&self.mode)?);
        make_directory(&path, mode, &context.physical_name())?;
        Ok(self.output(mode))
    }

    async fn read(&self, context: &Context<Surroundings>, _: &DirectoryOutput) -> Result<DirectoryOutput> {
        Ok(self.output(self.see(&context.config().resolve(&self.path))?))
    }

    async fn update(&self, context: &Context<Surroundings>, _: &Prior<Self>) -> Result<DirectoryOutput> {
        let (path, mode) = (context.config().resolve(&self.path), Mode::parse(&self.mode)?);
        self.see(&path)?;
        fs::set_permissions(&path, mode.permissions())
            .map_err(|error| failed("change the mode of", &path, &error))?;
        Ok(self.output(mode))
    }

    async fn delete(&self, context: &Context<Surroundings>, _: &DirectoryOutput) -> Result<()> {
        let path = context.config().resolve(&self.path);
        self.see(&path)?;
        let stack_folder = context.config().resolve("");
        if self.force && holds(&path, &stack_folder) {
            return Err(Error::invalid(format!("`{}` holds the stack itself", path.display())).at("force"));
        }
        let removed = if self.force { fs::remove_dir_all(&path) } else { fs::remove_dir(&path) };
        match removed {
            Ok(()) => path.parent().map_or(Ok(()), sync_folder),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Err(Error::conflict(format!(
                "`{}` is not empty: it holds {}",
                path.display(),
                entries(&path)
            ))
            .hint("empty it; or set `force = true` while it is still declared, to delete what is in it too")),
            Err(error) => Err(failed("delete", &path, &error)),
        }
    }

    fn equivalent_input(field: &str, prior: &Self, current: &Self) -> bool {
        match field {
            "mode" => Mode::parse(&prior.mode).ok() == Mode::parse(&current.mode).ok(),
            // No change at all. Other spellings of one place are an update (REPLACE-11).
            "path" => same_path(&prior.path, &current.path),
            _ => false,
        }
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        match request.current.mode.known() {
            Some(mode) => plan.set_output("mode", &Mode::parse(mode)?.to_string()),
            None if request.prior.is_some() => {
                plan.mark_output_unknown("mode");
                Ok(())
            }
            None => Ok(()),
        }
    }

    async fn lookup(
        &self,
        context: &Context<Surroundings>,
    ) -> Result<Sightings<Found<Self, DirectoryOutput>>> {
        let path = context.config().resolve(&self.path);
        let mode = self.see(&path)?;
        let inputs = Directory { mode: mode.to_string(), ..self.clone() };
        let found = Found { inputs, outputs: self.output(mode) };
        let mut entries = fs::read_dir(&path).map_err(|error| failed("read", &path, &error))?;
        // Nobody loses anything if an empty directory that is as it should be counts as ours.
        let as_made = entries.next().is_none() && mode == Mode::parse(&self.mode)?;
        Ok(if as_made { Sightings::owned(found) } else { Sightings::unowned(found) })
    }

    async fn import(
        &self,
        context: &Context<Surroundings>,
        id: &str,
    ) -> Result<Found<Self, DirectoryOutput>> {
        let inputs = Directory { path: id.to_owned(), mode: String::new(), force: false };
        let mode = inputs.see(&context.config().resolve(id))?;
        let outputs = inputs.output(mode);
        Ok(Found { inputs: Directory { mode: mode.to_string(), ..inputs }, outputs })
    }
}

/// Whether a directory is or holds another. What cannot be resolved is taken for the worst.
fn holds(outer: &Path, inner: &Path) -> bool {
    match (outer.canonicalize(), inner.canonicalize()) {
        (Ok(outer), Ok(inner)) => inner.starts_with(outer),
        _ => true,
    }
}

/// What a directory holds, in a few words.
fn entries(path: &Path) -> String {
    let Ok(entries) = fs::read_dir(path) else { return "something".to_owned() };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| format!("`{}`", entry.file_name().to_string_lossy())).collect();
    names.sort();
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
