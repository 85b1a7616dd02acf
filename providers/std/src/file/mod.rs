//! `std_file`: a file on the machine that deploys.

mod content;

use std::fs;
use std::path::Path;

use trueup_core::{Marked, Value};
use trueup_files::Accept;
use trueup_provider::{
    Context, Crud, Error, Found, Inputs, ModifyPlan, Outputs, PlanHook, Planned, Prior, Recovery, Result,
    Sightings, Traits,
};

use crate::disk::{Existing, Mode, Seen, SeenFile, failed, look, same_path, sync_folder, unread, write_file};
use crate::surroundings::Surroundings;
use content::Content;

/// The largest content of someone else's file that a plan shows.
const OBSERVED_BYTES_MAX: u64 = 1024 * 1024;

/// A file on the machine that deploys, such as a generated configuration. It is written under another name and then
/// renamed, so that nobody ever reads half of it. The folders above it are made too, and stay when it is deleted.
///
/// A file that was changed by hand, in content or mode, is brought back. One that exists before the resource does is
/// taken over silently if it is exactly as wanted, which is how an interrupted run is picked up again; any other one only
/// where adoption is allowed. A directory or a symbolic link in its place is an error.
#[derive(Inputs, Clone)]
#[trueup(exactly_one_of("content", "content_base64", "source"))]
pub struct File {
    /// Where it lies. A relative path begins at the stack's folder. Another path makes another file.
    /// Another spelling of the same path, also through links, keeps it.
    #[trueup(identity, replace, length(min = 1))]
    path: String,
    /// What it says. A secret is written to the file and shown nowhere else.
    content: Option<Marked<String>>,
    /// What it holds, in base64, for what is not text.
    content_base64: Option<Marked<String>>,
    /// A file to copy. It is read at plan, and a change in it is an update; if another resource makes it, refer to that
    /// one so that it comes first.
    source: Option<String>,
    /// Its permissions, in octal digits.
    #[trueup(default = "0644", pattern = "^[0-7]{3,4}$")]
    mode: String,
}

/// A file as it is.
#[derive(Outputs, Clone)]
pub struct FileOutput {
    /// Where it lies, as the program wrote it.
    #[trueup(mirrors = "path")]
    path: String,
    /// How many bytes it has.
    size: u64,
    /// The SHA-256 of its content, in hexadecimal digits; secret if the content is, since a short secret can be guessed
    /// from it.
    sha256: Marked<String>,
    /// Its permissions, in four octal digits.
    mode: String,
}

impl File {
    fn is_secret(&self) -> bool {
        [&self.content, &self.content_base64].into_iter().flatten().any(Marked::is_secret)
    }

    fn content(&self, surroundings: &Surroundings) -> Result<Content<'_>> {
        Content::of(self.content.as_ref(), self.content_base64.as_ref(), self.source.as_deref(), surroundings)
    }

    fn output(&self, SeenFile { size, sha256, mode }: SeenFile) -> FileOutput {
        let (sha256, mode) = (Marked::new(sha256, self.is_secret()), mode.to_string());
        FileOutput { path: self.path.clone(), size, sha256, mode }
    }

    fn see(&self, path: &Path) -> Result<SeenFile> {
        match look(path)? {
            Seen::File(seen) => Ok(seen),
            Seen::Nothing => Err(Error::not_found(format!("there is no file `{}`", path.display()))),
            other => Err(other.in_the_way(path, "a file")),
        }
    }

    /// The file as the inputs want it.
    fn wanted(&self, surroundings: &Surroundings) -> Result<SeenFile> {
        let (size, sha256) = self.content(surroundings)?.digest()?;
        Ok(SeenFile { size, sha256, mode: Mode::parse(&self.mode)? })
    }

    fn write(&self, context: &Context<Surroundings>, path: &Path, existing: Existing) -> Result<FileOutput> {
        let content = self.content(context.config())?;
        write_file(path, content.open()?, Mode::parse(&self.mode)?, existing, &context.physical_name())?;
        Ok(self.output(self.see(path)?))
    }

    /// The inputs that would make the file that is there.
    fn observed(&self, path: &Path, seen: &SeenFile) -> Result<File> {
        let (content, content_base64) = if seen.size <= OBSERVED_BYTES_MAX {
            let bytes = trueup_files::read(path, Accept::Regular, OBSERVED_BYTES_MAX)
                .map_err(|error| unread("read", path, &error))?;
            content::as_inputs(bytes, self.is_secret())
        } else {
            (None, None)
        };
        let (path, mode) = (self.path.clone(), seen.mode.to_string());
        Ok(File { path, content, content_base64, source: None, mode })
    }
}

impl Crud for File {
    type Output = FileOutput;
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

    async fn create(&self, context: &Context<Surroundings>) -> Result<FileOutput> {
        let path = context.config().resolve(&self.path);
        match look(&path)? {
            Seen::Nothing | Seen::File(_) => self.write(context, &path, Existing::Keep),
            other => Err(other.in_the_way(&path, "a file")),
        }
    }

    async fn read(&self, context: &Context<Surroundings>, _: &FileOutput) -> Result<FileOutput> {
        Ok(self.output(self.see(&context.config().resolve(&self.path))?))
    }

    async fn update(&self, context: &Context<Surroundings>, _: &Prior<Self>) -> Result<FileOutput> {
        let path = context.config().resolve(&self.path);
        let wanted = self.wanted(context.config())?;
        match look(&path)? {
            Seen::File(seen) if seen == wanted => Ok(self.output(seen)),
            // Whoever has the file open keeps what they have.
            Seen::File(seen) if seen.sha256 == wanted.sha256 => {
                fs::set_permissions(&path, wanted.mode.permissions())
                    .map_err(|error| failed("change the mode of", &path, &error))?;
                Ok(self.output(wanted))
            }
            Seen::Nothing | Seen::File(_) => self.write(context, &path, Existing::Replace),
            other => Err(other.in_the_way(&path, "a file")),
        }
    }

    async fn delete(&self, context: &Context<Surroundings>, _: &FileOutput) -> Result<()> {
        let path = context.config().resolve(&self.path);
        match look(&path)? {
            Seen::Nothing => Ok(()),
            Seen::File(_) => {
                fs::remove_file(&path).map_err(|error| failed("delete", &path, &error))?;
                path.parent().map_or(Ok(()), sync_folder)
            }
            other => Err(other.in_the_way(&path, "the file to delete")),
        }
    }

    async fn validate_inputs(&self, context: &Context<Surroundings>) -> Result<()> {
        self.wanted(context.config()).map(|_| ())
    }

    fn equivalent_input(field: &str, prior: &Self, current: &Self) -> bool {
        match field {
            "mode" => Mode::parse(&prior.mode).ok() == Mode::parse(&current.mode).ok(),
            // No change at all. Other spellings of one place are an update (REPLACE-11).
            "path" => same_path(&prior.path, &current.path),
            _ => false,
        }
    }

    /// Content and mode are known before they are written, and so are hash and size.
    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let recorded = request.prior.as_ref().map(|prior| &prior.outputs);
        let FileView { content, content_base64, source, mode, .. } = &request.current;
        match mode {
            Planned::Known(mode) => plan.set_output("mode", &Mode::parse(mode)?.to_string())?,
            Planned::Unknown if recorded.is_some() => plan.mark_output_unknown("mode"),
            Planned::Unknown => {}
        }
        let known = (content.known(), content_base64.known(), source.known(), request.config);
        let (content, source) = match known {
            (Some(content), Some(content_base64), Some(source), Some(surroundings)) => {
                let found =
                    Content::of(content.as_ref(), content_base64.as_ref(), source.as_deref(), surroundings);
                // What cannot be read now may be there at apply, and is complained about then.
                (found.and_then(|content| content.digest().map(|it| (it, content.is_secret()))).ok(), source)
            }
            _ => (None, &None),
        };
        let Some(((size, sha256), secret)) = content else {
            if recorded.is_some() {
                plan.mark_output_unknown("size");
                plan.mark_output_unknown("sha256");
            }
            return Ok(());
        };
        // The source's path says nothing of what is in it.
        if source.is_some() && recorded.is_some_and(|outputs| *outputs.sha256.expose() != sha256) {
            plan.mark_output_unknown("sha256");
        }
        plan.set_output("size", &size)?;
        plan.set_output("sha256", &Marked::new(sha256, secret))
    }

    async fn lookup(&self, context: &Context<Surroundings>) -> Result<Sightings<Found<Self, FileOutput>>> {
        let path = context.config().resolve(&self.path);
        let seen = self.see(&path)?;
        let outputs = self.output(seen.clone());
        // It appears whole or not at all: whatever an interrupted create left is exactly as wanted.
        if self.wanted(context.config()).is_ok_and(|wanted| wanted == seen) {
            return Ok(Sightings::owned(Found { inputs: self.clone(), outputs }));
        }
        Ok(Sightings::unowned(Found { inputs: self.observed(&path, &seen)?, outputs }))
    }

    async fn import(&self, context: &Context<Surroundings>, id: &str) -> Result<Found<Self, FileOutput>> {
        let named = File {
            path: id.to_owned(),
            content: None,
            content_base64: None,
            source: None,
            mode: String::new(),
        };
        let path = context.config().resolve(id);
        let seen = named.see(&path)?;
        Ok(Found { inputs: named.observed(&path, &seen)?, outputs: named.output(seen) })
    }
}
