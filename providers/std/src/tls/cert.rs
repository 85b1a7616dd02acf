//! `std_tls_cert`: a self-signed certificate.

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
    SerialNumber,
};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use trueup_core::{Secret, Value};
use trueup_provider::{Error, Inputs, Outputs, Result};

use crate::kept::kept_in_state;
use crate::surroundings::Randomness;

/// A self-signed certificate for a key, such as one of a `std_tls_key`: for tests, for internal services, and for an
/// authority of one's own. It is not renewed by itself: when it is about to expire, change `keepers`.
#[derive(Inputs)]
pub struct TlsCert {
    /// The private key, as PEM (PKCS #8).
    #[trueup(replace)]
    private_key_pem: Secret<String>,
    /// Whom it is for, in words.
    #[trueup(replace)]
    common_name: Option<String>,
    /// The organization of whom it is for.
    #[trueup(replace)]
    organization: Option<String>,
    /// The host names it is for.
    #[trueup(default, replace)]
    dns_names: Vec<String>,
    /// The IP addresses it is for.
    #[trueup(default, replace)]
    ip_addresses: Vec<String>,
    /// How long it is valid from when it is made, in hours.
    #[trueup(default = 8760, replace, range(min = 1, max = 876000))]
    validity_hours: u64,
    /// Whether it may sign other certificates.
    #[trueup(default, replace)]
    is_ca: bool,
    /// Anything whose change should make another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

/// A certificate.
#[derive(Outputs, Clone)]
pub struct TlsCertOutput {
    /// The certificate, as PEM.
    #[trueup(stable)]
    cert_pem: String,
    /// From when it is valid, such as `2026-11-15T12:00:00Z`.
    #[trueup(stable)]
    validity_start: String,
    /// Until when it is valid.
    #[trueup(stable)]
    validity_end: String,
}

impl TlsCert {
    fn validate(&self) -> Result<()> {
        self.key()?;
        self.names().map(|_| ())
    }

    fn key(&self) -> Result<KeyPair> {
        // Its words might quote the key.
        KeyPair::from_pem(self.private_key_pem.expose())
            .map_err(|_| Error::invalid("this is not a private key in PEM (PKCS #8)").at("private_key_pem"))
    }

    /// The parameters with the names it is for.
    fn names(&self) -> Result<CertificateParams> {
        if let Some(wrong) = self.ip_addresses.iter().find(|it| it.parse::<std::net::IpAddr>().is_err()) {
            return Err(Error::invalid(format!("`{wrong}` is not an IP address")).at("ip_addresses"));
        }
        let names: Vec<String> = self.dns_names.iter().chain(&self.ip_addresses).cloned().collect();
        CertificateParams::new(names)
            .map_err(|error| Error::invalid(format!("these are no host names: {error}")).at("dns_names"))
    }

    fn sign(&self, now: SystemTime, randomness: &Randomness) -> Result<TlsCertOutput> {
        let mut params = self.names()?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        let subject =
            [(DnType::CommonName, &self.common_name), (DnType::OrganizationName, &self.organization)];
        for (kind, name) in subject {
            if let Some(name) = name {
                params.distinguished_name.push(kind, name);
            }
        }
        let valid_for = Duration::from_secs(self.validity_hours * 60 * 60);
        params.not_before = OffsetDateTime::from(now).replace_nanosecond(0).unwrap_or_else(|_| now.into());
        params.not_after = params.not_before + valid_for;
        let mut serial = randomness.bytes::<16>()?;
        // A serial number is positive, and the same each time it is written.
        serial[0] = serial[0] & 0x7f | 0x40;
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if self.is_ca {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages.extend([KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign]);
        } else {
            params.key_usages.push(KeyUsagePurpose::KeyEncipherment);
            params.extended_key_usages =
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        }
        let (start, end) = (params.not_before, params.not_after);
        let signed = params.self_signed(&self.key()?);
        let signed = signed.map_err(|error| Error::fatal(format!("cannot sign the certificate: {error}")))?;
        Ok(TlsCertOutput {
            cert_pem: signed.pem(),
            validity_start: start.format(&Rfc3339)?,
            validity_end: end.format(&Rfc3339)?,
        })
    }
}

kept_in_state!(TlsCert, TlsCertOutput, |this, context| {
    this.sign(context.clock.now(), context.config().randomness())
});
