//! What a stack of AWS needs around it: the plugin, wherever it lies on this machine, and an emulator of AWS.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use trueup_cli_harness::provider_folder;
use trueup_test_servers::emulator::{AWS_PROVIDER, Emulator, RunningEmulator};

use crate::failure::Failure;
use crate::workload::Shape;

/// How long a plugin waits for the next command of a life, in seconds.
const STAY_SECONDS: &str = "15";

pub(crate) struct Cloud {
    emulator: RunningEmulator,
    plugins: PathBuf,
}

impl Cloud {
    /// Starts it, or says what is missing.
    pub(crate) fn start() -> Result<Self, String> {
        let plugins = provider_folder("aws", []).ok_or("there is no terraform-provider-aws to be found")?;
        let emulator = Emulator::Ministack.try_start(&[]).map_err(|none| none.to_string())?;
        Ok(Cloud { emulator, plugins })
    }

    /// Forgets what is in it.
    pub(crate) fn empty(&mut self) {
        self.emulator.restart();
    }

    /// Writes what every stack begins with, and the settings of a user, which all tools read: where the plugin lies.
    /// With those, Terraform needs no `init`, and nobody spends a second on the checksum of the plugin.
    pub(crate) fn furnish(&self, stack: &Path, home: &Path) -> Result<(), Failure> {
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/aws\" = {:?}\n  }}\n}}\n",
            self.plugins
        );
        for (file, text) in
            [(stack.join("provider.tf"), AWS_PROVIDER), (home.join(".terraformrc"), settings.as_str())]
        {
            fs::write(&file, text).map_err(|error| Failure::at(&file, error))?;
        }
        Ok(())
    }

    /// Where AWS is, and whether plugins stay.
    pub(crate) fn environment(&self, shape: Shape) -> Vec<(String, OsString)> {
        let stay = if shape == Shape::Aws { STAY_SECONDS } else { "0" };
        [("AWS_ENDPOINT_URL", self.emulator.endpoint()), ("TRUEUP_PLUGIN_STAY", stay.to_owned())]
            .map(|(name, value)| (name.to_owned(), value.into()))
            .to_vec()
    }
}
