//! Emulators of AWS from PyPI, each in a virtual environment that is made once and kept in the target folder.
//!
//! A server runs on a free port of the loopback interface and ends with the test, also when the test is killed: it reads
//! its standard input, which closes with the process that started it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::environment::text_variable;
use crate::unique;

/// What a Terraform configuration begins with whose AWS is an emulator. The plugin finds it by `AWS_ENDPOINT_URL`.
pub const AWS_PROVIDER: &str = r#"terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

provider "aws" {
  region                      = "us-east-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
}
"#;

/// The environment variable with the port of the shared emulator.
const SHARED_SERVER: &str = "TRUEUP_TEST_MINISTACK";

/// Which emulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emulator {
    /// The one to use: small, quick, and what is in its buckets survives that it is killed.
    Ministack,
    /// A second opinion. Keeps everything in memory.
    Moto,
}

/// An emulator that runs, until it is dropped.
pub struct RunningEmulator {
    start: Start,
    /// `None` while it is down.
    child: Option<Child>,
}

/// All that it takes to start an emulator, once more.
struct Start {
    emulator: Emulator,
    python: PathBuf,
    port: u16,
    settings: Vec<(String, String)>,
    /// What survives a restart.
    data: tempfile::TempDir,
}

/// Why there is no emulator.
#[derive(Debug)]
pub struct NoEmulator(String);

impl fmt::Display for NoEmulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Emulator {
    /// The name by which tests leave it out.
    pub fn name(self) -> &'static str {
        match self {
            Emulator::Ministack => "ministack",
            Emulator::Moto => "moto",
        }
    }

    /// Makes sure that it can be started on this machine.
    pub fn install(self) -> Result<(), NoEmulator> {
        self.environment().map(drop)
    }

    /// Starts it for one test; `None` if the test command said to do without.
    ///
    /// # Panics
    /// If it cannot be had, and nobody said to do without, or if it does not start.
    pub fn start(self) -> Option<RunningEmulator> {
        self.start_with(&[])
    }

    /// The emulator that the test command started, or else a new one. Tests that share it use a bucket from
    /// [`RunningEmulator::new_bucket`], look at nothing else, and never kill it. Returns `None` as [`Emulator::start`].
    ///
    /// # Panics
    /// As [`Emulator::start`].
    pub fn shared(self) -> Option<RunningEmulator> {
        let attached = text_variable(SHARED_SERVER)
            .filter(|_| self == Emulator::Ministack && !crate::left_out(self.name()));
        let Some(port) = attached.and_then(|port| port.parse().ok()) else { return self.start() };
        let data = tempfile::tempdir().unwrap_or_else(|error| panic!("cannot make a folder: {error}"));
        let start = Start { emulator: self, python: PathBuf::new(), port, settings: Vec::new(), data };
        Some(RunningEmulator { start, child: None })
    }

    /// The same, with these environment variables besides those that it needs.
    ///
    /// # Panics
    /// As [`Emulator::start`].
    pub fn start_with(self, settings: &[(&str, &str)]) -> Option<RunningEmulator> {
        let name = self.name();
        if crate::left_out(name) {
            return None;
        }
        match self.try_start(settings) {
            Ok(running) => Some(running),
            Err(none) => panic!("{none}; {}={name} leaves these tests out", crate::LEFT_OUT),
        }
    }

    /// The same, for whoever can do without.
    pub fn try_start(self, settings: &[(&str, &str)]) -> Result<RunningEmulator, NoEmulator> {
        let data = tempfile::tempdir().map_err(|error| failed("make a folder for the emulator", &error))?;
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let (python, settings) = (self.environment()?, settings.collect());
        let mut start = Start { emulator: self, python, port: 0, settings, data };
        // A port that was free may be another's by the time the emulator asks for it.
        let mut tries = 0;
        loop {
            start.port = free_port().map_err(|error| failed("find a free port", &error))?;
            match start.run() {
                Ok(child) => return Ok(RunningEmulator { start, child: Some(child) }),
                Err(none) if tries == 3 => return Err(none),
                Err(_) => tries += 1,
            }
        }
    }

    fn requirement(self) -> &'static str {
        match self {
            Emulator::Ministack => "ministack==1.5.33",
            Emulator::Moto => "moto[server]==5.2.5",
        }
    }

    /// What Python runs once it watches over its own end.
    fn program(self) -> &'static str {
        match self {
            Emulator::Ministack => "from ministack.app import main; sys.argv = ['ministack']; main()",
            Emulator::Moto => {
                "from moto.server import main; main(['--host', '127.0.0.1', '--port', os.environ['GATEWAY_PORT']])"
            }
        }
    }

    /// The interpreter of the emulator's virtual environment, which is made if it is not there. Whoever comes while it
    /// is made waits.
    fn environment(self) -> Result<PathBuf, NoEmulator> {
        let cache = target_folder()?.join("test-servers");
        fs::create_dir_all(&cache).map_err(|error| failed("make the folder of test servers", &error))?;
        let name: String =
            self.requirement().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let (folder, python) = (cache.join(&name), cache.join(&name).join("bin/python"));
        let lock = File::create(cache.join(format!("{name}.lock")));
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock));
        let _lock = lock.map_err(|error| failed("lock the folder of test servers", &error))?;
        let complete = folder.join("complete");
        if complete.exists() {
            return Ok(python);
        }
        // What was begun and never finished is of no use.
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| failed("clear the folder of test servers", &error))?;
        }
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", self.requirement()]))?;
        File::create(complete).map_err(|error| failed("finish the folder of test servers", &error))?;
        Ok(python)
    }
}

/// Credentials as variables of the environment. Emulators accept any.
pub fn credentials() -> Vec<(String, String)> {
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| (name.to_owned(), "test".to_owned())).into()
}

impl RunningEmulator {
    /// Where it answers.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.start.port)
    }

    /// The port on the loopback interface.
    pub fn port(&self) -> u16 {
        self.start.port
    }

    /// The folder in which it keeps what it holds.
    pub fn data(&self) -> &Path {
        self.start.data.path()
    }

    /// Makes a bucket.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn create_bucket(&self, name: &str) {
        let answer = ask(self.start.port, &format!("PUT /{name}"), "");
        let answer = answer.unwrap_or_else(|error| panic!("cannot make bucket {name}: {error}"));
        assert!(answer.contains(" 200 "), "cannot make bucket {name}: {answer}");
    }

    /// Makes a bucket with a unique name, and returns the name.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn new_bucket(&self) -> String {
        let name = format!("test-{:016x}", unique());
        self.create_bucket(&name);
        name
    }

    /// Makes a test command share this emulator.
    pub fn share_with(&self, tests: &mut Command) {
        tests.env(SHARED_SERVER, self.start.port.to_string());
    }

    /// What a service answers to an action that takes no more than its name, such as one that lists: for the services that
    /// are asked by queries, of a version each.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn query(&self, service: &str, version: &str, action: &str) -> String {
        let request = format!("GET /?Action={action}&Version={version}");
        let scope = format!("test/20200101/us-east-1/{service}/aws4_request");
        let header = format!(
            "Authorization: AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0\r\n"
        );
        let answer = ask(self.start.port, &request, &header);
        answer.unwrap_or_else(|error| panic!("cannot ask {service} for {action}: {error}"))
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again where it was; [`Emulator::Ministack`] has its buckets as they were.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.kill();
        match self.start.run() {
            Ok(child) => self.child = Some(child),
            Err(none) => panic!("the emulator does not start again: {none}"),
        }
    }
}

impl Drop for RunningEmulator {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Start {
    fn run(&self) -> Result<Child, NoEmulator> {
        let log_path = self.data.path().join("log");
        let log = File::create(&log_path).map_err(|error| failed("make the emulator's log", &error))?;
        let errors = log.try_clone().map_err(|error| failed("make the emulator's log", &error))?;
        let watch = "threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()";
        let program = format!("import os, sys, threading; {watch}; {}", self.emulator.program());
        let mut command = Command::new(&self.python);
        command.arg("-c").arg(program).stdin(Stdio::piped()).stdout(log).stderr(errors);
        command.env("GATEWAY_PORT", self.port.to_string()).env("BIND_HOST", "127.0.0.1");
        command.env("S3_PERSIST", "1").env("S3_DATA_DIR", self.data.path().join("buckets"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        let mut child = command.spawn().map_err(|error| failed("start the emulator", &error))?;
        match self.await_answer(&mut child) {
            Ok(()) => Ok(child),
            Err(why) => {
                let _ = child.kill();
                let _ = child.wait();
                let log = fs::read_to_string(log_path).unwrap_or_default();
                Err(NoEmulator(format!("{why}; it says: {}", log.trim())))
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the emulator does not tell when it is ready: it is asked")]
    fn await_answer(&self, child: &mut Child) -> Result<(), String> {
        const PAUSE: Duration = Duration::from_millis(20);
        const PAUSES: u32 = 3_000;
        for _ in 0..PAUSES {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("the emulator ended with {status}"));
            }
            if ask(self.port, "GET /", "").is_ok() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err("the emulator does not answer".to_owned())
    }
}

/// The folder that Cargo builds in, in which this program lies.
fn target_folder() -> Result<PathBuf, NoEmulator> {
    let program = std::env::current_exe().map_err(|error| failed("find the target folder", &error))?;
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    let fallback = || tempfile::env::temp_dir().join("trueup");
    Ok(target.map_or_else(fallback, Path::to_owned))
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// What a server answers to a request without body.
fn ask(port: u16, request: &str, headers: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn succeeds(command: &mut Command) -> Result<(), NoEmulator> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| failed(&format!("run {program}"), &error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = if said.trim().is_empty() { String::from_utf8_lossy(&output.stdout) } else { said };
    Err(NoEmulator(format!("{command:?} ended with {}: {}", output.status, said.trim())))
}

fn failed(attempted: &str, error: &io::Error) -> NoEmulator {
    NoEmulator(format!("cannot {attempted}: {error}"))
}
