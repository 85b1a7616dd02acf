//! A server with the API of the transit secrets engine, as Vault and OpenBao document it, since neither can be installed
//! from a package registry.
//!
//! It really encrypts, checks tokens and their policies, keeps versions of keys, and fails in the ways of the real one.
//! `transit` is the engine, `http` the protocol. It speaks HTTP, or HTTPS by a certificate of its own, on a free port of
//! the loopback interface, and ends when it is dropped.

mod http;
mod transit;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use http::Exchange;
pub use transit::{Answer, Engine};

/// The token that may do everything.
pub const ROOT_TOKEN: &str = "hvs.root-7f3a9c21d5";

/// A server that runs until it is dropped.
pub struct VaultServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The folder with the certificate, if it speaks HTTPS.
    certificate: Option<tempfile::TempDir>,
}

struct Shared {
    engine: Mutex<Engine>,
    ended: AtomicBool,
    encryption: Option<Arc<rustls::ServerConfig>>,
}

impl VaultServer {
    /// Starts it without encryption, with the engine at `transit` and a key of this name.
    ///
    /// # Panics
    /// If it cannot start.
    pub fn start(key: &str) -> Self {
        Self::started(key, None, None)
    }

    /// The same by HTTPS; [`VaultServer::certificate`] says whom to trust.
    ///
    /// # Panics
    /// If it cannot start.
    pub fn start_encrypted(key: &str) -> Self {
        let made =
            rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate can be made");
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::write(folder.path().join("ca.pem"), made.cert.pem()).expect("a file can be written");
        let private = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the usual versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], private.expect("it was just made"))
            .expect("key and certificate belong together");
        Self::started(key, Some(Arc::new(config)), Some(folder))
    }

    fn started(
        key: &str,
        encryption: Option<Arc<rustls::ServerConfig>>,
        certificate: Option<tempfile::TempDir>,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let engine = Mutex::new(Engine::new(ROOT_TOKEN));
        let shared = Arc::new(Shared { engine, ended: AtomicBool::new(false), encryption });
        let serving = shared.clone();
        let thread = Some(std::thread::spawn(move || serve(&listener, &serving)));
        let server = VaultServer { address, shared, thread, certificate };
        server.admin("POST", &format!("transit/keys/{key}"), &json!({}));
        server
    }

    /// What `VAULT_ADDR` says.
    pub fn address(&self) -> String {
        let scheme = if self.shared.encryption.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// What `VAULT_CACERT` says.
    pub fn certificate(&self) -> Option<PathBuf> {
        self.certificate.as_ref().map(|folder| folder.path().join("ca.pem"))
    }

    /// What an administrator asks of it, by the same API, such as `POST transit/keys/NAME/rotate`.
    ///
    /// # Panics
    /// If it refuses.
    pub fn admin(&self, method: &str, path: &str, body: &Value) -> Value {
        let namespace = self.engine().namespace.clone();
        let answer = self.engine().answer(method, path, Some(ROOT_TOKEN), namespace.as_deref(), body);
        assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
        answer.body
    }

    /// The engine: whom it lets in, what it has seen, and how it is to fail.
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        self.shared.engine()
    }
}

impl Shared {
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for VaultServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.ended.load(Ordering::SeqCst) {
            return;
        }
        // Whoever does not trust us, or goes away, is no concern of ours.
        let _ = serve_one(stream, shared);
    }
}

fn serve_one(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20)))?;
    match &shared.encryption {
        None => exchange(stream, shared),
        Some(config) => {
            let connection = rustls::ServerConnection::new(config.clone()).map_err(io::Error::other)?;
            let mut stream = rustls::StreamOwned::new(connection, stream);
            exchange(&mut stream, shared)?;
            stream.conn.send_close_notify();
            io::Write::flush(&mut stream)
        }
    }
}

fn exchange(stream: impl io::Read + io::Write, shared: &Shared) -> io::Result<()> {
    let mut exchange = Exchange::read(stream)?;
    // To a proxy, clients send the whole address.
    let request = &exchange.request;
    let path = request.path.split_once("/v1/").map_or("", |(_, path)| path);
    let (token, namespace) = (request.header("x-vault-token"), request.header("x-vault-namespace"));
    let answer = shared.engine().answer(&request.method, path, token, namespace, &exchange.body);
    exchange.answer(&answer)
}
