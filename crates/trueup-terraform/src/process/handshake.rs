//! The line by which a plugin says where it listens: `1|5|unix|/path|grpc|certificate`.

use std::net::SocketAddr;
use std::path::PathBuf;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{StartError, quoted};
use crate::client::Version;

/// Shorter ones are no certificates, but remains of other fields.
const CERTIFICATE_LENGTH_MIN: usize = 50;

/// What a plugin says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Handshake {
    pub(super) version: Version,
    pub(super) listening: Listening,
    /// The only certificate it will show; `None` if it does not encrypt.
    pub(super) certificate: Option<Vec<u8>>,
}

/// Where a plugin listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl Handshake {
    pub(super) fn parse(line: &str) -> Result<Self, StartError> {
        let garbage = || StartError::Garbage(quoted(line));
        let fields: Vec<&str> = line.trim().split('|').collect();
        let [core, version, network, address, rest @ ..] = fields.as_slice() else { return Err(garbage()) };
        if core.parse::<u32>().is_err() {
            return Err(garbage());
        }
        if *core != "1" {
            let message = format!("it needs version {core} of the handshake; version 1 is spoken here");
            return Err(StartError::Refused(message));
        }
        let version = match *version {
            "5" => Version::V5,
            "6" => Version::V6,
            other if other.parse::<u32>().is_ok() => return Err(StartError::Protocol(other.to_owned())),
            _ => return Err(garbage()),
        };
        let listening = match *network {
            "unix" => Listening::Unix(PathBuf::from(address)),
            "tcp" => Listening::Tcp(address.parse().map_err(|_| garbage())?),
            _ => return Err(garbage()),
        };
        if rest.first() != Some(&"grpc") {
            let spoken = rest.first().filter(|it| !it.is_empty()).unwrap_or(&"netrpc");
            return Err(StartError::Refused(format!("it speaks {spoken}, not gRPC")));
        }
        let certificate = rest.get(1).filter(|field| field.len() >= CERTIFICATE_LENGTH_MIN);
        let certificate = certificate.map(|field| base64().decode(field).map_err(|_| garbage()));
        Ok(Handshake { version, listening, certificate: certificate.transpose()? })
    }
}

/// Plugins leave the padding out; those who do not are understood too.
fn base64() -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        Handshake::parse(line).unwrap_err().to_string()
    }

    #[test]
    fn a_plugin_says_where_it_listens() {
        let parsed = Handshake::parse("1|6|unix|/tmp/plugin1|grpc|\n").unwrap();
        let listening = Listening::Unix("/tmp/plugin1".into());
        assert_eq!(parsed, Handshake { version: Version::V6, listening, certificate: None });
        let line = format!("1|5|tcp|127.0.0.1:1234|grpc|{}|false", "AAAA".repeat(20));
        let parsed = Handshake::parse(&line).unwrap();
        assert_eq!(parsed.listening, Listening::Tcp("127.0.0.1:1234".parse().unwrap()));
        assert_eq!(parsed.certificate, Some(vec![0; 60]));
    }

    #[test]
    fn what_is_no_handshake_is_told_from_one_that_is_not_understood() {
        assert_eq!(
            refused("Hello, \u{7}world"),
            "it printed something else than the handshake of a plugin: `Hello, ·world`"
        );
        assert_eq!(
            refused("1|4|unix|/tmp/x|grpc"),
            "it speaks version 4 of the plugin protocol; versions 5 and 6 are spoken here"
        );
        assert_eq!(
            refused("2|5|unix|/tmp/x|grpc"),
            "it needs version 2 of the handshake; version 1 is spoken here"
        );
        assert_eq!(refused("1|5|unix|/tmp/x"), "it speaks netrpc, not gRPC");
        assert!(refused("1|5|tcp|nowhere|grpc").starts_with("it printed something else"));
        assert!(refused(&format!("1|5|unix|/x|grpc|{}", "!".repeat(60))).starts_with("it printed"));
    }
}
