//! Where PostgreSQL's programs are, and who runs them.

use std::path::PathBuf;
use std::process::Command;

use crate::environment::{remove_variables, search_path};

/// Where distributions put the programs that are not for everyone's path; `*` stands for any one folder.
const USUAL_PLACES: [&str; 6] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
];

/// An installed PostgreSQL.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The folder of its programs.
    pub(super) programs: PathBuf,
    /// The user who runs the server: it refuses to be run by root.
    user: Option<String>,
}

impl Installation {
    /// The one on the path, or else the newest in the usual places.
    pub fn find() -> Option<Installation> {
        let path = search_path();
        // A link on the path leads to where the others are.
        let on_path = std::env::split_paths(&path)
            .filter_map(|folder| Some(folder.join("initdb").canonicalize().ok()?.parent()?.to_owned()));
        let mut programs = on_path.chain(USUAL_PLACES.iter().flat_map(|place| matching(place)));
        let programs = programs.find(|folder| {
            ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).is_file())
        })?;
        Some(Installation { programs, user: server_user() })
    }

    /// One of its programs, as the user who runs the server.
    pub(super) fn program(&self, name: &str) -> Command {
        self.as_server_user(self.programs.join(name))
    }

    /// A program as the user who runs the server, in a folder that this user can read.
    pub(super) fn as_server_user(&self, program: impl Into<PathBuf>) -> Command {
        let program = program.into();
        let mut command = match &self.user {
            None => Command::new(program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                let (reuid, regid) = (format!("--reuid={user}"), format!("--regid={user}"));
                command.args([reuid.as_str(), &regid, "--clear-groups", "--"]).arg(program);
                command
            }
        };
        // What the environment says of another server is not about this one.
        remove_variables(&mut command, "PG");
        command.current_dir("/").env("LC_ALL", "C");
        command
    }
}

/// Whom to become: nobody else unless this is root.
fn server_user() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let known = |name: &&str| users.lines().any(|line| line.split(':').next() == Some(*name));
    ["postgres", "nobody"].into_iter().find(known).map(str::to_owned)
}

/// The folders that a pattern with one `*` stands for, those with the highest numbers first.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let Ok(entries) = std::fs::read_dir(format!("{parent}/")) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let number =
        |name: &str| name[prefix.len()..].trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
    let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort_by_key(|name| std::cmp::Reverse(number(name)));
    names.iter().map(|name| format!("{parent}/{name}{after}").into()).collect()
}
