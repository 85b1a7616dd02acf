//! The client that sends requests: whom it trusts, whom it follows, and through whom it goes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use reqwest::{Certificate, Client, ClientBuilder, NoProxy, Proxy, Url, redirect};
use trueup_provider::{Error, Result};

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
    let proxies = proxies(environment)?;
    let prepared = || {
        let agent = concat!("trueup/", env!("CARGO_PKG_VERSION"));
        // The process's own environment is none of the client's business.
        let client = Client::builder().redirect(within_the_origin()).user_agent(agent).no_proxy();
        proxies.iter().cloned().fold(client, ClientBuilder::proxy)
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

/// The proxies that these variables name; the first that fits a request is used.
fn proxies(environment: &BTreeMap<OsString, OsString>) -> Result<Vec<Proxy>> {
    let variable = |name: &str| {
        let names = [name.to_owned(), name.to_lowercase()];
        let value = names.iter().find_map(|name| environment.get(OsStr::new(name)));
        value.and_then(|value| value.to_str()).filter(|value| !value.is_empty())
    };
    let except = variable("NO_PROXY").and_then(NoProxy::from_string);
    let named = [
        ("HTTPS_PROXY", variable("HTTPS_PROXY").map(Proxy::https)),
        ("HTTP_PROXY", variable("HTTP_PROXY").map(Proxy::http)),
        ("ALL_PROXY", variable("ALL_PROXY").map(Proxy::all)),
    ];
    let named = named.into_iter().filter_map(|(name, proxy)| Some((name, proxy?)));
    // The words of the error would quote the variable, which may hold a password.
    let checked = named.map(|(name, proxy)| match proxy {
        Ok(proxy) => Ok(proxy.no_proxy(except.clone())),
        Err(_) => Err(Error::invalid(format!("the environment variable `{name}` does not name a proxy"))),
    });
    checked.collect()
}
