//! Plugins that outlive us: each has a process of this program as its host, which keeps what the plugin answers until it is
//! recorded, and the plugin itself for the next run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use trueup_cli::Environment;
use trueup_terraform::{Host, serve_as_host};

use crate::plugin_guard::guard;

/// What stands for a host among the arguments.
const WORD: &str = "__plugin-host";

/// For how many seconds plugins stay after a run.
const STAY: &str = "TRUEUP_PLUGIN_STAY";

/// For how many seconds changes may go on when the run that asked for them was killed.
const GRACE: &str = "TRUEUP_PLUGIN_GRACE";

/// Someone at a terminal is likely to come back soon.
const STAY_SECONDS: u64 = 120;
const GRACE_SECONDS: u64 = 15 * 60;

/// How plugins are hosted; `None` if they are not. Fails with what is wrong with a variable.
pub(crate) fn host(environment: &Environment, interactive: bool) -> Result<Option<Host>, String> {
    let stay = seconds(environment, STAY)?.unwrap_or(if interactive { STAY_SECONDS } else { 0 });
    let grace = seconds(environment, GRACE)?.unwrap_or(GRACE_SECONDS);
    let (Ok(own), Some(folder)) = (std::env::current_exe(), state_folder(environment)) else {
        return Ok(None);
    };
    Ok(Some(Host {
        command: vec![own.into(), WORD.into()],
        folder: folder.join("plugins"),
        stay: Duration::from_secs(stay),
        grace: Duration::from_secs(grace),
    }))
}

/// If this process was started as a host: how it ended.
pub(crate) fn hosted(arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1)? != WORD {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let environment = Environment::of_process();
    match runtime.block_on(serve_as_host(guard(), environment.all().to_vec())) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// What a user keeps that is no cache: answers that are not recorded yet must not be swept away.
fn state_folder(environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).map(PathBuf::from);
    let folder = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    folder.map(|folder| folder.join("trueup"))
}

fn seconds(environment: &Environment, name: &str) -> Result<Option<u64>, String> {
    let Some(text) = environment.get(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{name} is `{text}`, which is no number of seconds"))
}
