//! Permissions, written as people write them.

use std::fmt;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use trueup_provider::{Error, Result};

/// The permission bits of a file or directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mode(u32);

/// What is compared and set: permissions with set-user, set-group and sticky bit, without the kind of file.
const BITS: u32 = 0o7777;

impl Mode {
    /// Reads `0644` or `644`.
    pub(crate) fn parse(text: &str) -> Result<Mode> {
        match u32::from_str_radix(text, 8) {
            Ok(bits) if bits <= BITS => Ok(Mode(bits)),
            _ => Err(Error::invalid(format!("`{text}` is not a mode such as 0644")).at("mode")),
        }
    }

    pub(crate) fn of(permissions: &Permissions) -> Mode {
        Mode(permissions.mode() & BITS)
    }

    pub(crate) fn permissions(self) -> Permissions {
        Permissions::from_mode(self.0)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_reads_with_and_without_its_leading_zero() {
        let read = |text| Mode::parse(text).map_or_else(|error| error.to_string(), |mode| mode.to_string());
        assert_eq!(read("644"), "0644");
        assert_eq!(read("0600"), "0600");
        assert_eq!(read("4755"), "4755");
        assert_eq!(read("rw"), "invalid: `rw` is not a mode such as 0644");
        assert_eq!(read("17777"), "invalid: `17777` is not a mode such as 0644");
    }
}
