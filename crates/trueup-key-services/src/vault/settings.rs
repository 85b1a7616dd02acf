//! Where Vault is, which key it is to use, and who asks, by the variables of Vault's own tools.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reqwest::Url;
use trueup_core::Secret;
use trueup_files::{Accept, read_text};
use trueup_proxies::Proxies;
use trueup_state::sealing::KeyServiceError;

/// The mount of the transit engine, unless the key's name says otherwise.
const MOUNT: &str = "transit";

/// More than any token has.
const TOKEN_BYTES_MAX: u64 = 64 * 1024;

/// The settings for one key.
pub(super) struct VaultSettings {
    pub(super) address: Url,
    pub(super) mount: Vec<String>,
    pub(super) key: String,
    pub(super) namespace: Option<String>,
    /// A PEM file with the only certificates to trust.
    pub(super) ca_file: Option<PathBuf>,
    pub(super) proxies: Proxies,
    token: Option<Secret<String>>,
    token_file: Option<PathBuf>,
}

impl VaultSettings {
    /// Reads the settings, or says which is wrong. Files are read when they are needed.
    pub(super) fn read(key: &str, environment: &BTreeMap<String, String>) -> Result<Self, String> {
        let get = |name: &str| environment.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let address = get("VAULT_ADDR").ok_or("VAULT_ADDR does not say where Vault is")?;
        let (mount, key) = key.rsplit_once('/').unwrap_or((MOUNT, key));
        let mount: Vec<String> = mount.split('/').map(str::to_owned).collect();
        if !mount.iter().map(String::as_str).chain([key]).all(is_segment) {
            return Err(
                "the name of a key is KEY or MOUNT/KEY, of letters, digits, `-`, `_` and `.`".to_owned()
            );
        }
        Ok(VaultSettings {
            address: parse_address(address)?,
            mount,
            key: key.to_owned(),
            namespace: get("VAULT_NAMESPACE").map(str::to_owned),
            ca_file: get("VAULT_CACERT").map(PathBuf::from),
            proxies: Proxies::from_variables(get).map_err(|error| error.to_string())?,
            token: get("VAULT_TOKEN").map(|token| Secret::new(token.to_owned())),
            token_file: get("HOME").map(|home| PathBuf::from(home).join(".vault-token")),
        })
    }

    /// The address, for people.
    pub(super) fn address(&self) -> &str {
        self.address.as_str().trim_end_matches('/')
    }

    /// The key below its mount, such as `transit/trueup`.
    pub(super) fn key_path(&self) -> String {
        format!("{}/{}", self.mount.join("/"), self.key)
    }

    /// The token, from the environment or from the file that `vault login` writes.
    pub(super) fn token(&self) -> Result<Secret<String>, KeyServiceError> {
        if let Some(token) = &self.token {
            return Ok(token.clone());
        }
        let read =
            self.token_file.as_ref().and_then(|file| read_text(file, Accept::Stream, TOKEN_BYTES_MAX).ok());
        let token = read.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let missing = || {
            let why = "there is no token: set VAULT_TOKEN, or log in with `vault login`";
            KeyServiceError::Unavailable(why.to_owned())
        };
        token.map(Secret::new).ok_or_else(missing)
    }
}

/// A user or a query in the address would end up in messages.
fn parse_address(address: &str) -> Result<Url, String> {
    let broken =
        || "VAULT_ADDR is not the address of a server, such as https://vault.example.org:8200".to_owned();
    let url = Url::parse(address).map_err(|_| broken())?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    let is_server = matches!(url.scheme(), "http" | "https") && url.has_host() && url.fragment().is_none();
    if is_plain && is_server { Ok(url) } else { Err(broken()) }
}

/// A segment that leads nowhere else.
fn is_segment(text: &str) -> bool {
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str, address: &str) -> Result<VaultSettings, String> {
        VaultSettings::read(key, &[("VAULT_ADDR".to_owned(), address.to_owned())].into())
    }

    #[test]
    fn a_key_has_a_mount_or_that_of_transit() {
        let path = |key| read(key, "https://vault:8200/").unwrap().key_path();
        assert_eq!(path("trueup"), "transit/trueup");
        assert_eq!(path("team/keys/trueup-prod_1.x"), "team/keys/trueup-prod_1.x");
        for broken in ["", "/a", "a/", "a//b", "../a", "a/..", "a b", "a?b", "a%2fb", "ä"] {
            assert!(read(broken, "https://vault:8200").is_err(), "{broken}");
        }
    }

    #[test]
    fn an_address_names_a_server_and_no_user() {
        assert_eq!(read("a", "https://vault:8200/").unwrap().address(), "https://vault:8200");
        assert_eq!(read("a", "https://proxy/vault").unwrap().address(), "https://proxy/vault");
        for broken in
            ["vault:8200", "unix:///run/vault", "https://u:p@vault", "https://vault?x", "https://vault#x", ""]
        {
            let told = read("a", broken).err().unwrap();
            assert!(told.contains("VAULT_ADDR") && !told.contains("u:p"), "{told}");
        }
    }
}
