//! What evaluation asks of its surroundings.
//!
//! Evaluation itself is pure. Names, files, time and randomness come from an [`Environment`], so that the same
//! expression can be evaluated for a plan, for apply, in a console and in a test.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use trueup_core::{Diagnostic, KnownSecrets, Origin, Value};
use trueup_front_end::RandomBytes;

use crate::syntax::StaticStep;

/// Where names get their values.
pub trait Environment {
    /// The value of a name, or of a part of it. The steps are all that could be computed of those that follow the
    /// name, so that `aws_instance.web[0].id` can be answered without the other instances. The answer says how many of
    /// them it took; evaluation takes the rest.
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic>;

    /// What functions may know of the world.
    fn surroundings(&self) -> &Surroundings;

    /// Calls a function that is not built in, such as `provider::aws::arn_parse`, with known values that bear no marks.
    /// What went wrong is told in a sentence. Only what [`Environment::has_function`] knows comes here.
    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        let _ = arguments;
        Err(format!("{name} cannot be called here"))
    }

    /// Hears of a value that another one is made of: a server may repeat the secrets in it without the text around them.
    fn report_source(&self, value: &Value) {
        self.surroundings().secrets.learn([value]);
    }

    /// Whether a template file or text is being rendered, which must not render others in its turn.
    #[doc(hidden)]
    fn renders_template(&self) -> bool {
        false
    }

    /// Whether [`Environment::call`] knows a function of this name.
    fn has_function(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// A name and what is taken of it.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// The name at the start: `var`, `local`, `aws_instance`.
    pub root: &'a str,
    /// The steps that follow, up to the first one that is unknown.
    pub steps: &'a [StaticStep],
    /// Where the whole traversal stands.
    pub origin: Origin,
}

/// The answer to a [`Reference`].
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The value.
    pub value: Value,
    /// How many steps it accounts for.
    pub steps_used: usize,
}

/// What functions may know of the world.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// What relative paths are relative to.
    pub folder: PathBuf,
    /// What `~` stands for; `None` leaves it as it is.
    pub home: Option<PathBuf>,
    /// When the plan was made; `None` while that is not settled, as in validation.
    pub plan_time: Option<SystemTime>,
    /// What differs from call to call; `None` before apply, when its results are unknown.
    pub moment: Option<Moment>,
    /// Where functions note which files they read.
    pub reads: Reads,
    /// Where evaluation reports the secrets that other texts are made of.
    pub secrets: KnownSecrets,
}

/// What functions found on disk: for each file, or question about files, a digest of the answer. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Reads(Arc<Mutex<BTreeMap<String, String>>>);

impl Reads {
    /// Notes what was found. A file that is read again counts as it was found last.
    pub(crate) fn note(&self, what: String, found: &[u8]) {
        let digest = Sha256::digest(found).iter().map(|byte| format!("{byte:02x}")).collect();
        if let Ok(mut noted) = self.0.lock() {
            noted.insert(what, digest);
        }
    }

    /// All that was noted so far, in order.
    pub fn noted(&self) -> Vec<(String, String)> {
        let noted = self.0.lock().map(|noted| noted.clone()).unwrap_or_default();
        noted.into_iter().collect()
    }
}

/// What differs from call to call.
#[derive(Clone)]
pub struct Moment {
    /// The time that `timestamp` tells.
    pub now: SystemTime,
    /// Fills a buffer with random bytes, for `uuid` and `bcrypt`.
    pub random: Arc<RandomBytes>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// An environment without names, for expressions that must be constant.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// What functions may know of the world.
    pub surroundings: Surroundings,
}

impl Environment for Constants {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let summary = format!("`{}` is not known here: this value must be constant", reference.root);
        Err(Diagnostic::error(summary))
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
}
