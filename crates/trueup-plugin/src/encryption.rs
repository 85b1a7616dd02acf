//! Mutual TLS between client and plugin. Each side makes a certificate for this one connection and pins the other's.

use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use trueup_terraform::PinnedCertificate;

/// TLS could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EncryptionError {
    #[error(transparent)]
    Certificate(#[from] rcgen::Error),
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

/// A TLS acceptor that pins the client's certificate, and the server certificate it presents.
pub(crate) fn acceptor(
    client: CertificateDer<'static>,
) -> Result<(TlsAcceptor, CertificateDer<'static>), EncryptionError> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = params.self_signed(&key)?.der().clone();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let pinned = PinnedCertificate::new(client, provider.clone());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(Arc::new(pinned))
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), certificate))
}
