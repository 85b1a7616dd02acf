//! A folder and a workbench, on which programs are deployed one after another.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use trueup_core::value;
use trueup_provider::{NativeProvider, Registry};
use trueup_provider_std::{
    Randomness, StackOutputs, Surroundings, stack_provider, std_provider, terraform_provider,
};
use trueup_workbench::Workbench;
pub(crate) use trueup_workbench::{address, program, reading, reference, referring, resource, secret};

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    workbench: Workbench,
}

impl Deref for Bench {
    type Target = Workbench;

    fn deref(&self) -> &Workbench {
        &self.workbench
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut Workbench {
        &mut self.workbench
    }
}

/// The provider for a folder, with a path on which ordinary programs are found.
pub(crate) fn std_in(folder: impl Into<PathBuf>) -> NativeProvider<Surroundings> {
    let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GREETING", "hello")];
    std_provider(Surroundings::new(folder).with_environment(environment))
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        Bench { folder, workbench: Workbench::new(move || registry_in(path.clone())) }
    }

    /// A path in the stack's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all that lies in the stack's folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn registry(&self) -> Registry {
        registry_in(self.folder.path().to_owned())
    }
}

fn registry_in(folder: PathBuf) -> Registry {
    let outputs = StackOutputs::from_function(|wanted| async move {
        Ok((wanted.stack == "network" && wanted.stage == "test").then(|| value!({ vpc: "vpc-1" })))
    });
    Registry::new()
        .with(std_in(folder))
        .with(terraform_provider(Randomness::default()))
        .with(stack_provider(outputs))
}
