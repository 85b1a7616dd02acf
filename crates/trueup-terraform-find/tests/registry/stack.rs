//! A folder that requires `acme/widgets`, and what is done in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use trueup_terraform_find::{
    Configuration, Found, InstallOptions, Installation, LockedFor, MethodKind, Mirrored, Platform, Problem,
    Progress, Requirement, Settings, find, install, lock_for, mirror_to,
};
use trueup_test_servers::environment::{program_on_path, remove_variables};

use crate::server::Server;

/// A folder, with a home of its own.
pub(crate) struct Stack {
    root: tempfile::TempDir,
    pub(crate) settings: Settings,
    pub(crate) source: String,
    requirements: Vec<Requirement>,
    constraints: Vec<String>,
    configuration: String,
    /// What the last installation told while it went on.
    pub(crate) told: Mutex<Vec<String>>,
}

impl Stack {
    /// One whose provider is in this registry.
    pub(crate) fn of_registry(server: &Server) -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("stack");
        fs::create_dir_all(&folder).unwrap();
        let settings = Settings {
            data: folder.join(".terraform"),
            folder,
            cache: Some(root.path().join("cache")),
            memory: Some(root.path().join("memory")),
            platform: Platform::current(),
            configuration: Configuration::default(),
            implied_mirrors: Vec::new(),
            trusted: Some(server.certificate.clone()),
            proxies: Default::default(),
            backoff: std::time::Duration::from_millis(1),
            patience: std::time::Duration::from_secs(60),
            package_limits: Default::default(),
            warnings: Vec::new(),
        };
        Stack {
            root,
            settings,
            source: format!("{}/acme/widgets", server.host),
            requirements: Vec::new(),
            constraints: Vec::new(),
            configuration: String::new(),
            told: Mutex::default(),
        }
    }

    /// Requires the provider, in such a version.
    pub(crate) fn require(&mut self, constraints: &str) {
        let parsed = if constraints.is_empty() { Ok(Default::default()) } else { constraints.parse() };
        let address = self.source.parse().unwrap();
        self.requirements.push(Requirement { address, constraints: parsed.unwrap(), origin: None });
        self.constraints.extend(Some(constraints.to_owned()).filter(|text| !text.is_empty()));
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.settings.folder
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.settings.lock_file()
    }

    pub(crate) fn lock(&self) -> String {
        fs::read_to_string(self.lock_file()).unwrap()
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    pub(crate) fn forget_cache(&self) {
        fs::remove_dir_all(self.cache()).unwrap();
    }

    /// Uses a mirror on disk alone.
    pub(crate) fn mirror(&mut self) -> PathBuf {
        let mirror = self.root.path().join("mirror");
        self.configure(&format!("filesystem_mirror {{\n path = \"{}\"\n }}", mirror.display()));
        mirror
    }

    /// Uses a mirror on a server alone.
    pub(crate) fn network_mirror(&mut self, url: &str) {
        self.configure(&format!("network_mirror {{\n url = \"{url}/\"\n }}"));
    }

    fn configure(&mut self, method: &str) {
        self.configuration = format!("provider_installation {{\n {method}\n}}\n");
        self.settings.configuration =
            Configuration::read(&self.configuration, self.root.path(), None).unwrap();
    }

    pub(crate) fn found(&self) -> Result<Vec<Found>, Vec<Problem>> {
        find(&self.requirements, &self.settings)
    }

    pub(crate) fn install(&self) -> Result<Installation, Vec<Problem>> {
        self.install_with(InstallOptions::default())
    }

    pub(crate) fn install_with(&self, options: InstallOptions) -> Result<Installation, Vec<Problem>> {
        let watch = |progress: Progress<'_>| self.told.lock().unwrap().push(format!("{progress:?}"));
        blocking(install(&self.requirements, &self.settings, options, &watch))
    }

    /// Writes the checksums for these platforms to the lock file.
    pub(crate) fn lock_for(&self, platforms: &[&str]) -> Result<Vec<LockedFor>, Vec<Problem>> {
        let (platforms, watch) = (named(platforms), |_: Progress<'_>| {});
        let locking = lock_for(&self.requirements, &self.settings, &platforms, MethodKind::Direct, &watch);
        blocking(locking)
    }

    /// Makes a mirror for these platforms in a folder.
    pub(crate) fn mirror_to(&self, folder: &Path, platforms: &[&str]) -> Result<Vec<Mirrored>, Vec<Problem>> {
        let (platforms, watch) = (named(platforms), |_: Progress<'_>| {});
        blocking(mirror_to(&self.requirements, &self.settings, &platforms, folder, &watch))
    }

    /// What an installation that fails tells: its problems and what to do about them.
    pub(crate) fn told(&self, options: InstallOptions) -> String {
        let problems = self.install_with(options).expect_err("it cannot be installed");
        problems.iter().map(|problem| format!("{problem}\n{}", problem.hints().join("\n"))).collect()
    }

    /// Runs Terraform in the folder; `None` where there is none on the path, which is said.
    #[expect(clippy::print_stderr, reason = "what is left out is said")]
    pub(crate) fn terraform(&self, server: &Server, arguments: &[&str]) -> Option<String> {
        let Some(program) = program_on_path("terraform") else {
            eprintln!("no terraform is on the path: it referees nothing here");
            return None;
        };
        let version = self.constraints.join(", ");
        let version = if version.is_empty() { version } else { format!(", version = \"{version}\"") };
        let text = format!(
            "terraform {{\n  required_providers {{\n    widgets = {{ source = \"{}\"{version} }}\n  }}\n}}\n",
            self.source
        );
        fs::write(self.folder().join("main.tf"), text).unwrap();
        let settings = self.root.path().join("settings.tfrc");
        fs::write(&settings, &self.configuration).unwrap();
        let mut command = Command::new(program);
        remove_variables(&mut command, "TF_");
        command.env("TF_CLI_CONFIG_FILE", settings).env("SSL_CERT_FILE", &server.certificate);
        command.env("HOME", self.root.path()).env("CHECKPOINT_DISABLE", "1").current_dir(self.folder());
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        assert!(output.status.success(), "{}{}", text(output.stdout), text(output.stderr));
        Some(text(output.stdout))
    }
}

fn named(platforms: &[&str]) -> Vec<Platform> {
    platforms.iter().map(|name| Platform::named(name).unwrap()).collect()
}

fn blocking<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
