//! The client that sends requests: whom it trusts, whom it follows, and through whom it goes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use reqwest::{Certificate, Client, Url, redirect};
use trueup_provider::{Error, Result};
use trueup_proxies::Proxies;

const REDIRECTS_MAX: usize = 10;

/// A client; with certificates as PEM, it trusts those too. Proxies are those that the environment names in the usual
/// variables.
pub(crate) fn new_client(
    trusted_pem: Option<&str>,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Client> {
    let trusted = match trusted_pem {
        Some(pem) => Certificate::from_pem_bundle(pem.as_bytes())
            .map_err(|_| Error::invalid("these are no certificates in PEM").at("ca_pem"))?,
        None => Vec::new(),
    };
    let proxies = Proxies::from_variables(|name| environment.get(OsStr::new(name))?.to_str());
    let proxies = proxies.map_err(|error| Error::invalid(error.to_string()))?;
    let prepared = || {
        let agent = concat!("trueup/", env!("CARGO_PKG_VERSION"));
        proxies.apply(Client::builder().redirect(within_the_origin()).user_agent(agent))
    };
    // A machine without certificates, such as a small container, can still send what needs none of them.
    let client = prepared().tls_certs_merge(trusted.clone()).build();
    let client = client.or_else(|_| prepared().tls_certs_only(trusted).build());
    client.map_err(|error| Error::fatal(format!("cannot prepare requests: {error}")))
}

/// Headers may hold secrets of any name, so nothing is sent to anyone but whom the program names.
fn within_the_origin() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let origin = |url: &Url| url.origin();
        let stays = attempt.previous().first().is_some_and(|first| origin(first) == origin(attempt.url()));
        match (stays, attempt.previous().len() > REDIRECTS_MAX) {
            (true, false) => attempt.follow(),
            (true, true) => attempt.error("it redirects too often"),
            (false, _) => attempt.stop(),
        }
    })
}
