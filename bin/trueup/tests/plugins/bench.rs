//! A stack whose provider is our own, and what it comes to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;
use trueup_cli_harness::{Folder, Told, fixture_providers};
use trueup_test_servers::sized;

/// Both versions of the protocol.
const VERSIONS: [u8; 2] = [5, 6];

/// The versions of the protocol that a test is for: in the ordinary run one of them, which differs from test to test.
pub(crate) fn versions() -> Vec<u8> {
    let test = std::thread::current().name().map_or(0, str::len);
    sized(vec![VERSIONS[test % VERSIONS.len()]], VERSIONS.to_vec())
}

/// A variable that all processes of one bench have, by which they are found.
const MARK: &str = "TRUEUP_PLUGIN_TEST";

pub(crate) struct Bench {
    pub(crate) folder: Folder,
    version: u8,
    /// Variables of all commands.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// The folder of our provider's binaries.
pub(crate) fn binaries() -> &'static Path {
    fixture_providers(env!("CARGO_BIN_EXE_trueup"))
}

impl Bench {
    /// A folder where our provider of this version is overridden by its binary.
    pub(crate) fn new(version: u8) -> Self {
        let bench =
            Bench { folder: Folder::of(env!("CARGO_BIN_EXE_trueup")), version, variables: Vec::new() };
        bench.overriding(binaries());
        bench
    }

    /// A folder where a provider of others is overridden by its binary in a folder.
    pub(crate) fn of_others(source: &str, folder: &Path) -> Self {
        let bench = Bench::new(5);
        bench.overriding_all(&[(source.to_owned(), folder)]);
        bench
    }

    /// Takes the provider from another folder.
    pub(crate) fn overriding(&self, folder: &Path) {
        self.overriding_all(
            &VERSIONS.map(|version| (format!("example.com/trueup/fixture{version}"), folder)),
        );
    }

    fn overriding_all(&self, overridden: &[(String, &Path)]) {
        let lines: String = overridden
            .iter()
            .map(|(source, folder)| format!("    \"{source}\" = \"{}\"\n", folder.display()))
            .collect();
        let text = format!("provider_installation {{\n  dev_overrides {{\n{lines}  }}\n  direct {{}}\n}}\n");
        self.folder.write("settings.tfrc", &text);
    }

    /// Writes the program: what it needs to have the provider, and this. `fixture` stands for the provider's name.
    pub(crate) fn write(&self, text: &str) {
        let name = format!("fixture{}", self.version);
        let head = format!(
            "terraform {{\n  required_providers {{\n    {name} = {{ source = \"example.com/trueup/{name}\" }}\n  }}\n}}\n\n"
        );
        self.folder.write("main.tf", &(head + &self.named(text)));
    }

    /// Writes the program with a configuration of the provider.
    pub(crate) fn write_configured(&self, text: &str) {
        self.write(&format!("provider \"fixture\" {{\n  folder = \"objects\"\n}}\n\n{text}"));
    }

    /// A text that says `fixture` for the provider.
    pub(crate) fn named(&self, text: &str) -> String {
        text.replace("fixture", &format!("fixture{}", self.version))
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = self.folder.command(arguments);
        command.env("TF_CLI_CONFIG_FILE", self.folder.path().join("settings.tfrc"));
        command.env("TRUEUP_STAGE", "dev").env(MARK, self.folder.path());
        // What is killed in these tests never comes to an end by itself.
        command.env("TRUEUP_PLUGIN_GRACE", "0");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Told {
        Told::by(&mut self.command(arguments))
    }

    /// Runs what must succeed, and leaves no process behind.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &str) -> Told {
        let told = self.run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {}\n{}", told.out, told.err);
        self.left_alone();
        told
    }

    /// Runs what must fail, and leaves no process behind. All that it told, in one line for each paragraph.
    #[track_caller]
    pub(crate) fn failed(&self, arguments: &str) -> String {
        let told = self.run(arguments);
        assert_eq!(told.code, 1, "{arguments}: {}\n{}", told.out, told.err);
        self.left_alone();
        unfolded(&told.err)
    }

    /// What a plan would do: a word for each resource that is not left as it is.
    #[track_caller]
    pub(crate) fn actions(&self) -> BTreeMap<String, String> {
        let told = self.run("plan --json");
        assert_eq!(told.code, 0, "{}", told.err);
        let plan: Json = serde_json::from_str(&told.out).unwrap();
        let actions = plan["actions"].as_array().unwrap_or_else(|| panic!("{plan:#}"));
        let text = |json: &Json| json.as_str().unwrap().to_owned();
        let named = actions.iter().map(|it| (text(&it["address"]), text(&it["action"])));
        named.filter(|(_, action)| action != "no-op").collect()
    }

    #[track_caller]
    pub(crate) fn action(&self, address: &str) -> String {
        let actions = self.actions();
        actions.get(&self.named(address)).cloned().unwrap_or_else(|| "no-op".to_owned())
    }

    /// The objects that exist in a folder: type and id, with their attributes.
    pub(crate) fn objects_in(&self, folder: &str) -> BTreeMap<String, Json> {
        let mut objects = BTreeMap::new();
        for kind in std::fs::read_dir(self.folder.path().join(folder)).into_iter().flatten().flatten() {
            for file in std::fs::read_dir(kind.path()).into_iter().flatten().flatten() {
                let json = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
                let id = file.path().file_stem().unwrap().to_string_lossy().into_owned();
                objects.insert(format!("{}/{id}", kind.file_name().to_string_lossy()), json);
            }
        }
        objects
    }

    pub(crate) fn objects(&self) -> BTreeMap<String, Json> {
        self.objects_in("objects")
    }

    pub(crate) fn object(&self, name: &str) -> Json {
        self.objects().remove(name).unwrap_or_else(|| panic!("{name} is not among {:?}", self.objects()))
    }

    /// How many answers hosts keep.
    pub(crate) fn kept_answers(&self) -> usize {
        std::fs::read_dir(self.folder.path().join(".local/state/trueup/plugins/answers")).unwrap().count()
    }

    /// Changes an object behind everyone's back.
    pub(crate) fn tamper(&self, object: &str, attribute: &str, value: impl Into<Json>) {
        let path = self.folder.path().join(format!("objects/{object}.json"));
        let mut json: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        json[attribute] = value.into();
        std::fs::write(path, json.to_string()).unwrap();
    }

    /// A pipe by which the provider and the test wait for one another.
    pub(crate) fn pipe(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join("objects").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// Waits until no process of this bench runs: the kernel ends those that are left with the program, and that takes a
    /// moment.
    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "what the kernel does has no clock of ours")]
    pub(crate) fn left_alone(&self) {
        let begun = Instant::now();
        while !self.pids().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "still there: {:?}", self.processes());
            std::thread::yield_now();
        }
    }

    /// Kills whatever stays.
    #[track_caller]
    pub(crate) fn end_all(&self) {
        for (pid, _) in self.pids() {
            // It may be gone already, with the one that it belonged to.
            let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
        self.left_alone();
    }

    /// The processes of this bench that run: their commands.
    pub(crate) fn processes(&self) -> Vec<String> {
        self.pids().into_iter().map(|(_, command)| command).collect()
    }

    /// The same with their ids.
    pub(crate) fn pids(&self) -> Vec<(i32, String)> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let found = entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let ours = environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes());
            let command = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            (ours && !command.is_empty()).then(|| (pid, command.replace('\0', " ")))
        });
        found.collect()
    }

    /// Starts the program, to do something to it while it runs.
    pub(crate) fn start(&self, arguments: &str) -> std::process::Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// A text without the folding for terminals.
pub(crate) fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
