//! Which certificates a server may have. The modes are those of PostgreSQL's own programs.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;
use trueup_files::Accept;

/// More than the roots that any machine trusts.
const CERTIFICATES_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How much of TLS is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TlsMode {
    /// None.
    Disable,
    /// If the server has it; against nobody who can stand between.
    Prefer,
    /// Against those who can listen; not against those who can stand between.
    Require,
    /// The server's certificate must lead to a root that is trusted.
    VerifyCa,
    /// That, and be for the host's name.
    VerifyFull,
}

impl TlsMode {
    pub(crate) fn parse(text: &str) -> Result<TlsMode, String> {
        Ok(match text {
            "disable" => TlsMode::Disable,
            "prefer" => TlsMode::Prefer,
            "require" => TlsMode::Require,
            "verify-ca" => TlsMode::VerifyCa,
            "verify-full" => TlsMode::VerifyFull,
            other => {
                return Err(format!(
                    "`{other}` is no mode of TLS: there are disable, prefer, require, verify-ca and verify-full"
                ));
            }
        })
    }
}

/// What connects by TLS. Without a root certificate those count that the machine trusts.
pub(crate) fn connector(mode: TlsMode, root: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be used: {error}"))?;
    let verifier: Arc<dyn ServerCertVerifier> = match mode {
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => Arc::new(Lenient { provider, roots: None }),
        TlsMode::VerifyCa => Arc::new(Lenient { roots: Some(trusted(root, &provider)?), provider }),
        TlsMode::VerifyFull => trusted(root, &provider)?,
    };
    let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// What checks that certificates lead to a trusted root and bear the right name.
fn trusted(
    root: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let Some(path) = root.filter(|path| *path != Path::new("system")) else {
        let verifier = Verifier::new(provider.clone());
        let verifier = verifier.map_err(|error| format!("the machine's root certificates: {error}"))?;
        return Ok(Arc::new(verifier));
    };
    let wrong = |cause: String| format!("the root certificate {} cannot be {cause}", path.display());
    let pem = trueup_files::read(path, Accept::Stream, CERTIFICATES_BYTES_MAX);
    let pem = pem.map_err(|error| wrong(format!("read: {error}")))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| wrong(format!("understood: {error}")))?;
        roots.add(certificate).map_err(|error| wrong(format!("used: {error}")))?;
    }
    if roots.is_empty() {
        return Err(wrong("used: there is no certificate in it".to_owned()));
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    Ok(verifier.map_err(|error| wrong(format!("used: {error}")))?)
}

/// Lets any name pass, and any certificate if there are no roots. That the server has the certificate's key is checked
/// all the same.
#[derive(Debug)]
struct Lenient {
    roots: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        match roots.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
