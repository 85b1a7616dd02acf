//! The machine that was measured on, as far as it tells, and what makes figures of it doubtful.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::statistics::median;
use crate::watch::Watch;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: u64,
    pub(crate) kernel: String,
    /// What the file system of the stacks is.
    pub(crate) file_system: String,
    /// How long the disk takes to confirm a small write, in the middle of 100.
    pub(crate) fsync_s: f64,
    /// How many processes wanted to run in the minute before.
    pub(crate) load_before: f64,
    pub(crate) system: String,
    pub(crate) rustc: String,
}

impl Machine {
    /// Looks at it; the folder is where stacks are put.
    pub(crate) fn here(folder: &Path) -> Result<Self, Failure> {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let after = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
        };
        let unknown = || "unknown".to_owned();
        let memory = after(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kilobytes: u64 = memory.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
        let load = read("/proc/loadavg");
        Ok(Machine {
            processor: after(&read("/proc/cpuinfo"), "model name").unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: kilobytes * 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            file_system: file_system(folder)?,
            fsync_s: fsync_seconds(folder)?,
            load_before: load.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0.0),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            rustc: rustc(),
        })
    }

    /// What to say before anything is measured.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if ["tmpfs", "ramfs"].contains(&self.file_system.as_str()) {
            doubts.push(format!(
                "the stacks lie on {}, which never waits for a disk: name another folder with --folder",
                self.file_system
            ));
        }
        if self.load_before > 0.5 {
            doubts.push(format!(
                "the machine is busy (load {:.1}): figures will be too large",
                self.load_before
            ));
        }
        doubts
    }
}

pub(crate) fn rustc() -> String {
    let output = std::process::Command::new("rustc").arg("--version").output();
    output.map_or("unknown".to_owned(), |it| String::from_utf8_lossy(&it.stdout).trim().to_owned())
}

/// The type of the mount that a folder lies below most closely.
fn file_system(folder: &Path) -> Result<String, Failure> {
    let folder = folder.canonicalize().map_err(|error| Failure::at(folder, error))?;
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let below = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        folder.starts_with(place).then(|| (place.len(), kind.to_owned()))
    });
    Ok(below.max_by_key(|(length, _)| *length).map_or("unknown".to_owned(), |(_, kind)| kind))
}

fn fsync_seconds(folder: &Path) -> Result<f64, Failure> {
    let path = folder.join("fsync");
    let failed = |error| Failure::at(&path, error);
    let mut file = fs::File::create(&path).map_err(failed)?;
    let mut times = Vec::new();
    for _ in 0..100 {
        let watch = Watch::start();
        file.write_all(&[0; 4096]).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        times.push(watch.elapsed().as_secs_f64());
    }
    fs::remove_file(&path).map_err(failed)?;
    Ok(median(times).unwrap_or(0.0))
}
