//! A PostgreSQL server of a test's own: on a temporary folder, with a socket and a port on the loopback interface.
//!
//! It is durable as any: `fsync` stays on, except in the server of [`Postgres::to_share`]. It can be killed and started
//! again on the same data. It serves TLS if it is given a certificate. It ends with the process that started it, however
//! that ends. Statements are run with `psql`, so that tests of a client need no other client.

mod guarded;
mod installation;

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::environment::text_variable;
use crate::unique;

pub use installation::Installation;

use guarded::Guarded;

/// The name by which the test command leaves PostgreSQL out.
pub const NAME: &str = "postgres";

/// The environment variable with port and folder of the shared server.
const SHARED_SERVER: &str = "TRUEUP_TEST_POSTGRES";

/// Who may connect: the superuser `postgres` by the socket or the loopback interface without a password, others with
/// theirs; by TLS alone whoever connects by `127.0.0.1` to a server that has a certificate.
const ADMISSION: &str = "
    local all postgres trust
    local all all scram-sha-256
    host all postgres 127.0.0.1/32 trust
    host all all 127.0.0.1/32 scram-sha-256
";

/// Settings of every server.
const SETTINGS: [&str; 3] = ["listen_addresses=127.0.0.1", "max_connections=100", "shared_buffers=64MB"];

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub struct Certificate {
    /// The certificate, and those that lead to its root if there are any.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// A server that runs, or was killed and may be started again.
pub struct Postgres {
    installation: Installation,
    folder: PathBuf,
    port: u16,
    tls: bool,
    /// Settings besides [`SETTINGS`].
    settings: &'static [&'static str],
    /// `None` while it is down.
    running: Mutex<Option<Guarded>>,
}

impl Postgres {
    /// The server that tests share: the one that the test command started, else one for this process. `None` if the
    /// test command said to do without.
    ///
    /// # Panics
    /// If there is no PostgreSQL, and nobody said to do without, or if it does not start.
    pub fn shared() -> Option<&'static Postgres> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(|| Postgres::attached().or_else(Postgres::own)).as_ref()
    }

    /// The server that the test command started.
    fn attached() -> Option<Postgres> {
        let told = text_variable(SHARED_SERVER).filter(|_| !crate::left_out(NAME))?;
        let (port, folder) = told.split_once(' ')?;
        Some(Postgres {
            installation: Installation::find()?,
            folder: folder.into(),
            port: port.parse().ok()?,
            tls: false,
            settings: &[],
            running: Mutex::default(),
        })
    }

    /// A server for tests to share. It does not survive a crash: tests about crashes start their own.
    ///
    /// # Panics
    /// As [`Postgres::shared`].
    pub fn to_share() -> Option<Postgres> {
        Postgres::started(None, &["fsync=off", "full_page_writes=off"])
    }

    /// Makes a test command share this server.
    pub fn share_with(&self, tests: &mut Command) {
        tests.env(SHARED_SERVER, format!("{} {}", self.port, self.folder.display()));
    }

    /// A server for one test that kills it; `None` if the test command said to do without.
    ///
    /// # Panics
    /// As [`Postgres::shared`].
    pub fn own() -> Option<Postgres> {
        Postgres::started(None, &[])
    }

    /// A server for one test that connects by TLS; `None` if the test command said to do without.
    ///
    /// # Panics
    /// As [`Postgres::shared`].
    pub fn with_tls(certificate: &Certificate) -> Option<Postgres> {
        Postgres::started(Some(certificate), &[])
    }

    fn started(certificate: Option<&Certificate>, settings: &'static [&'static str]) -> Option<Postgres> {
        if crate::left_out(NAME) {
            return None;
        }
        let Some(installation) = Installation::find() else {
            panic!(
                "there is no PostgreSQL here, neither on the path nor in the usual places: `cargo xtask test` installs \
                 it where it can; {}={NAME} leaves these tests out",
                crate::LEFT_OUT
            );
        };
        match Postgres::start(installation, certificate, settings) {
            Ok(server) => Some(server),
            Err(error) => panic!("PostgreSQL does not start: {error}"),
        }
    }

    /// Makes a folder with an empty cluster, and starts a server on it.
    fn start(
        installation: Installation,
        certificate: Option<&Certificate>,
        settings: &'static [&'static str],
    ) -> io::Result<Postgres> {
        let made = output(installation.as_server_user("mktemp").args(["-d", "/tmp/trueup-postgres-XXXXXX"]))?;
        let folder = PathBuf::from(made.trim_end());
        let server = Postgres {
            installation,
            folder,
            port: free_port()?,
            tls: certificate.is_some(),
            settings,
            running: Mutex::default(),
        };
        let mut initdb = server.installation.program("initdb");
        // The empty cluster need not survive anything; what is written to it later must.
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]);
        output(initdb.arg("--pgdata").arg(server.data()))?;
        server.write("data/pg_hba.conf", ADMISSION)?;
        if let Some(Certificate { certificate, key }) = certificate {
            server.write("server.crt", certificate)?;
            server.write("server.key", key)?;
        }
        server.restart()?;
        Ok(server)
    }

    /// Starts a server that was killed, on the data it left, with the same port.
    pub fn restart(&self) -> io::Result<()> {
        let mut arguments = vec!["-D".to_owned(), self.data().display().to_string()];
        arguments.extend(["-p".to_owned(), self.port.to_string(), "-k".to_owned()]);
        arguments.push(self.folder.display().to_string());
        let path = |name: &str| self.folder.join(name).display().to_string();
        let tls = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", path("server.crt")),
            format!("ssl_key_file={}", path("server.key")),
        ];
        let settings = SETTINGS
            .into_iter()
            .chain(self.settings.iter().copied())
            .map(str::to_owned)
            .chain(tls.into_iter().filter(|_| self.tls));
        arguments.extend(settings.flat_map(|setting| ["-c".to_owned(), setting]));
        let started = Guarded::start(&self.installation, &self.folder, &arguments)?;
        *self.running() = Some(started.map_err(io::Error::other)?);
        Ok(())
    }

    /// Kills all processes of the server, so that none gets to finish anything.
    pub fn kill(&self) -> io::Result<()> {
        match self.running().take() {
            Some(server) => server.kill(),
            None => Ok(()),
        }
    }

    /// The address of a database over the loopback interface, for the superuser.
    pub fn url(&self, database: &str) -> String {
        self.url_of("postgres", database)
    }

    /// The address of a database over the loopback interface, for a user, who may come with a password: `eve:secret`.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// The port on the loopback interface.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the socket, which the server's user may write to and everyone may pass through.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes an empty database, and tells its name.
    pub fn new_database(&self) -> io::Result<String> {
        let name = format!("test_{:016x}", unique());
        self.sql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(name)
    }

    /// Runs statements as the superuser, and tells what they answer: a line for each row, values separated by `|`.
    pub fn sql(&self, database: &str, statements: &str) -> io::Result<String> {
        let mut psql = self.installation.program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        psql.arg(format!("--host={}", self.folder.display())).arg(format!("--port={}", self.port));
        psql.args(["--username=postgres", "--dbname", database, "--command", statements]);
        output(&mut psql)
    }

    /// A client program of the same version, such as `pg_dump`, as the user who runs the test.
    pub fn client(&self, name: &str) -> Command {
        Command::new(self.installation.programs.join(name))
    }

    /// Writes a file in the server's folder, as the server's user and for that user alone.
    pub fn write(&self, name: &str, content: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        let mut cat = self.installation.as_server_user("/bin/sh");
        // The new content takes the place of the old at once: the server may be reading it.
        cat.args(["-c", "umask 077; cat > \"$1.new\" && mv \"$1.new\" \"$1\"", "sh"]).arg(&path);
        let mut child = cat.stdin(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(content.as_bytes())?;
        }
        match child.wait()? {
            status if status.success() => Ok(path),
            status => Err(io::Error::other(format!("{} cannot be written: {status}", path.display()))),
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Option<Guarded>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.running().take();
        // A server that was killed had left its folder for the next one.
        let _ = self.installation.as_server_user("rm").args(["-rf", "--"]).arg(&self.folder).status();
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// What a command says, which must succeed.
fn output(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{} fails: {}", command.get_program().display(), said.trim())))
}
