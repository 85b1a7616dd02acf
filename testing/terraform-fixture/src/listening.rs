//! The server's side of the handshake and of the encryption.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, PKCS_ECDSA_P521_SHA512};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::transport::server::Connected;
use trueup_terraform::protocol::plugin::grpc_controller_server::GrpcControllerServer;
use trueup_terraform::protocol::tfplugin5::provider_server::ProviderServer as Server5;
use trueup_terraform::protocol::tfplugin6::provider_server::ProviderServer as Server6;
use trueup_terraform::{PinnedCertificate, Version};

use crate::service::{Controller, Service};

/// Plugins complain where their log goes.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

pub(crate) async fn serve(version: Version) -> io::Result<()> {
    if variable("TF_PLUGIN_MAGIC_COOKIE").is_none() {
        return Err(io::Error::other("this is a plugin, to be run by Terraform or trueup"));
    }
    let folder: Option<PathBuf> = variable("PLUGIN_UNIX_SOCKET_DIR").map(Into::into);
    let folder = match folder {
        Some(folder) => tempfile::TempDir::with_prefix_in("fixture-", folder)?,
        None => tempfile::TempDir::with_prefix("fixture-")?,
    };
    let path = folder.path().join("plugin.sock");
    let listener = UnixListener::bind(&path)?;
    let (acceptor, certificate) = encryption()?;
    let number = match version {
        Version::V5 => 5,
        Version::V6 => 6,
    };
    let mut stdout = io::stdout();
    writeln!(stdout, "1|{number}|unix|{}|grpc|{certificate}", path.display())?;
    stdout.flush()?;
    let (end, ended) = mpsc::channel(1);
    let service = Service::new(version);
    let router = Server::builder().add_service(GrpcControllerServer::new(Controller { end }));
    let router = match version {
        Version::V5 => router.add_service(Server5::new(service).max_encoding_message_size(usize::MAX)),
        Version::V6 => router.add_service(Server6::new(service).max_encoding_message_size(usize::MAX)),
    };
    router
        .serve_with_incoming_shutdown(connections(listener, acceptor), wait_for(ended))
        .await
        .map_err(io::Error::other)
}

#[expect(clippy::disallowed_methods, reason = "plugins are told by their environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

async fn wait_for(mut ended: mpsc::Receiver<()>) {
    let _ = ended.recv().await;
}

/// The acceptor, and the certificate as the handshake tells it.
fn encryption() -> io::Result<(Option<TlsAcceptor>, String)> {
    let client = variable("PLUGIN_CLIENT_CERT").and_then(|text| text.into_string().ok());
    let Some(client) = client else { return Ok((None, String::new())) };
    let body: String = client.lines().filter(|line| !line.starts_with("-----")).collect();
    let client = STANDARD.decode(body).map_err(io::Error::other)?;
    // As plugins in Go do.
    let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512).map_err(io::Error::other)?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = params.self_signed(&key).map_err(io::Error::other)?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let pinned = PinnedCertificate::new(client.into(), provider.clone());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_client_cert_verifier(Arc::new(pinned))
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let told = STANDARD_NO_PAD.encode(certificate.der());
    Ok((Some(TlsAcceptor::from(Arc::new(config))), told))
}

fn connections(
    listener: UnixListener,
    acceptor: Option<TlsAcceptor>,
) -> impl Stream<Item = io::Result<Connection>> {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let connection = match &acceptor {
                Some(acceptor) => acceptor.accept(stream).await.map(|it| Connection::Encrypted(Box::new(it))),
                None => Ok(Connection::Plain(stream)),
            };
            match connection {
                Ok(connection) => {
                    if sender.send(connection).await.is_err() {
                        return;
                    }
                }
                Err(error) => complain(&format!("refused a connection: {error}")),
            }
        }
    });
    tokio_stream::wrappers::ReceiverStream::new(receiver).map(Ok)
}

/// A client, on whichever way it came.
pub(crate) enum Connection {
    Plain(UnixStream),
    Encrypted(Box<TlsStream<UnixStream>>),
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_read(cx, to),
            Connection::Encrypted(stream) => Pin::new(stream).poll_read(cx, to),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_write(cx, from),
            Connection::Encrypted(stream) => Pin::new(stream).poll_write(cx, from),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Connection::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Connection::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
