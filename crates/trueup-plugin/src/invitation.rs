//! The environment variables by which a client starts a plugin.

use std::ffi::OsString;
use std::path::PathBuf;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use trueup_terraform::Version;

/// Tells a plugin that a client started it.
const MAGIC_COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// The client's terms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invitation {
    pub(crate) version: Version,
    /// The client's certificate; without one the connection is not encrypted.
    pub(crate) certificate: Option<CertificateDer<'static>>,
    /// The folder for the socket.
    pub(crate) folder: Option<PathBuf>,
}

/// No client, or one that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvitationError {
    /// Run by hand.
    #[error("it was not started by Terraform")]
    ByHand,
    /// No common protocol version.
    #[error("the client speaks version {0} of the plugin protocol; this provider speaks versions 5 and 6")]
    Versions(String),
    /// An unreadable client certificate.
    #[error("PLUGIN_CLIENT_CERT holds no certificate")]
    Certificate,
}

impl Invitation {
    /// Reads the environment.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, InvitationError> {
        if variable(MAGIC_COOKIE.0).is_none_or(|cookie| cookie != MAGIC_COOKIE.1) {
            return Err(InvitationError::ByHand);
        }
        let text = |name: &str| variable(name).map(|text| text.to_string_lossy().into_owned());
        let certificate = match text("PLUGIN_CLIENT_CERT").filter(|text| !text.is_empty()) {
            None => None,
            Some(pem) => Some(
                CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| InvitationError::Certificate)?,
            ),
        };
        Ok(Invitation {
            version: highest(text("PLUGIN_PROTOCOL_VERSIONS").as_deref())?,
            certificate,
            folder: variable("PLUGIN_UNIX_SOCKET_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from),
        })
    }
}

/// The highest common version. Clients that name none predate version 6.
fn highest(offered: Option<&str>) -> Result<Version, InvitationError> {
    let Some(offered) = offered.filter(|text| !text.is_empty()) else { return Ok(Version::V5) };
    let has = |version: &str| offered.split(',').any(|it| it.trim() == version);
    match (has("6"), has("5")) {
        (true, _) => Ok(Version::V6),
        (false, true) => Ok(Version::V5),
        (false, false) => Err(InvitationError::Versions(offered.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Invitation, InvitationError> {
        let find = |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into());
        Invitation::read(find)
    }

    fn invited(more: &[(&'static str, &'static str)]) -> Result<Invitation, InvitationError> {
        read(&[&[MAGIC_COOKIE], more].concat())
    }

    #[test]
    fn nobody_is_served_without_the_cookie() {
        assert_eq!(read(&[]), Err(InvitationError::ByHand));
        assert_eq!(read(&[(MAGIC_COOKIE.0, "another")]), Err(InvitationError::ByHand));
    }

    #[test]
    fn the_highest_version_that_both_speak_is_spoken() {
        let version = |offered| invited(&[("PLUGIN_PROTOCOL_VERSIONS", offered)]).map(|it| it.version);
        assert_eq!(version("5,6"), Ok(Version::V6));
        assert_eq!(version("6,5,7"), Ok(Version::V6));
        assert_eq!(version("4,5"), Ok(Version::V5));
        assert_eq!(version("4,7"), Err(InvitationError::Versions("4,7".to_owned())));
        assert_eq!(invited(&[]).map(|it| it.version), Ok(Version::V5));
    }

    #[test]
    fn a_certificate_must_be_one() {
        assert_eq!(invited(&[("PLUGIN_CLIENT_CERT", "hello")]), Err(InvitationError::Certificate));
        assert_eq!(invited(&[("PLUGIN_CLIENT_CERT", "")]).map(|it| it.certificate), Ok(None));
    }
}
