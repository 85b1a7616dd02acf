//! A file system of a chosen size, which a test fills. It lives in memory and in a namespace of its own: nobody else
//! sees it, and it is gone with its last process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The name by which tests leave it out.
pub const NAME: &str = "small-disk";

/// The arguments of `unshare` that let this user mount something, if any do.
static NAMESPACE: LazyLock<Option<&[&str]>> = LazyLock::new(|| {
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    ways.into_iter().find(|way| {
        let mut mount = Command::new("unshare");
        mount.args(*way).args(["mount", "-t", "tmpfs", "none", "/tmp"]);
        mount.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    })
});

/// Whether this user may mount one.
pub fn is_there() -> bool {
    NAMESPACE.is_some()
}

/// A `bash` that runs a script while a file system of this size is mounted at a folder. Arguments that are added are the
/// script's.
///
/// # Panics
/// If none can be mounted.
pub fn mounted(folder: &Path, kilobytes: u64, script: &str) -> Command {
    let namespace = NAMESPACE.expect("the test command says when no file system can be mounted");
    let mut command = Command::new("unshare");
    command.args(namespace).args(["bash", "-c"]);
    command.arg(format!("mount -t tmpfs -o size=\"$0\"k,mode=700 none \"$1\" || exit 1; shift\n{script}"));
    command.arg(kilobytes.to_string()).arg(folder);
    command
}
