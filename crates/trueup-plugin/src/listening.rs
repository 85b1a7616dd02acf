//! The socket, and the handshake line that names it: `1|6|unix|/path|grpc|certificate`.

use std::io::{self, Write};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trueup_terraform::Version;

use crate::encryption::{self, EncryptionError};
use crate::grpc;
use crate::invitation::Invitation;
use crate::service::Service;

/// How long calls in flight may take after `Shutdown`. Clients kill a plugin that takes longer.
const END_WAIT: std::time::Duration = std::time::Duration::from_secs(2);

/// The plugin cannot listen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenError {
    #[error("cannot make a socket in {folder}: {error}")]
    Socket { folder: String, error: io::Error },
    #[error("cannot encrypt: {0}")]
    Encryption(#[from] EncryptionError),
    #[error("cannot tell the client where to connect: {0}")]
    Output(io::Error),
}

/// Serves until the client shuts the plugin down. `temporary` holds the socket if the client names no folder.
pub(crate) async fn serve(
    service: Service,
    invitation: Invitation,
    temporary: std::path::PathBuf,
) -> Result<(), ListenError> {
    let folder = invitation.folder.unwrap_or(temporary);
    let failed = |error| ListenError::Socket { folder: folder.display().to_string(), error };
    let home = TempDir::with_prefix_in("plugin-", &folder).map_err(failed)?;
    let socket = home.path().join("plugin.sock");
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    let (acceptor, certificate) = match invitation.certificate {
        None => (None, String::new()),
        Some(client) => {
            let (acceptor, certificate) = encryption::acceptor(client)?;
            (Some(acceptor), STANDARD_NO_PAD.encode(certificate))
        }
    };
    // Ctrl-C reaches the whole process group. Terraform decides when to stop its plugins.
    let _interrupts = signal(SignalKind::interrupt());
    say_hello(service.version, &socket.display().to_string(), &certificate).map_err(ListenError::Output)?;
    let end = CancellationToken::new();
    let conversations = TaskTracker::new();
    let accepting = accept(&listener, acceptor, Arc::new(service), &conversations, &end);
    end.run_until_cancelled(accepting).await;
    conversations.close();
    let _ = tokio::time::timeout(END_WAIT, conversations.wait()).await;
    Ok(())
}

fn say_hello(version: Version, socket: &str, certificate: &str) -> io::Result<()> {
    let number = match version {
        Version::V5 => 5,
        Version::V6 => 6,
    };
    let mut stdout = io::stdout();
    writeln!(stdout, "1|{number}|unix|{socket}|grpc|{certificate}")?;
    stdout.flush()
}

async fn accept(
    listener: &UnixListener,
    acceptor: Option<TlsAcceptor>,
    service: Arc<Service>,
    conversations: &TaskTracker,
    end: &CancellationToken,
) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                crate::log::say(&format!("a client could not connect: {error}"));
                continue;
            }
        };
        conversations.spawn(converse(stream, acceptor.clone(), service.clone(), end.clone()));
    }
}

async fn converse(
    stream: UnixStream,
    acceptor: Option<TlsAcceptor>,
    service: Arc<Service>,
    end: CancellationToken,
) {
    let Some(acceptor) = acceptor else { return grpc::serve(stream, service, end).await };
    match acceptor.accept(stream).await {
        Ok(stream) => grpc::serve(stream, service, end).await,
        Err(error) => crate::log::say(&format!("refused a client: {error}")),
    }
}
