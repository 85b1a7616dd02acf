//! A registry on loopback, with certificates of its own, that publishes what a test wants.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// What is answered at a path.
#[derive(Clone)]
pub(crate) enum Answer {
    /// This, with status 200.
    Body(Vec<u8>),
    /// Nothing but a status.
    Status(u16),
    /// This, broken off in the middle.
    Truncated(Vec<u8>),
    /// Nothing at all: the connection is closed.
    Closed,
    /// This, without saying how long it is.
    Unmeasured(Vec<u8>),
    /// This, a byte now and then.
    Slow(Vec<u8>),
    /// A header without end, a byte now and then.
    SlowHead,
    /// These, one after another, and then the last.
    Each(Vec<Answer>),
}

/// A server that runs as long as this lives.
pub(crate) struct Server {
    /// `localhost:PORT`.
    pub(crate) host: String,
    /// The certificate to trust.
    pub(crate) certificate: PathBuf,
    shared: Arc<Shared>,
    _folder: tempfile::TempDir,
    _runtime: Runtime,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<BTreeMap<String, Answer>>,
    asked: Mutex<Vec<String>>,
}

impl Shared {
    /// What is answered at a path this time.
    fn next(&self, path: &str) -> Answer {
        match self.answers.lock().unwrap().get_mut(path) {
            Some(Answer::Each(answers)) if answers.len() > 1 => answers.remove(0),
            Some(Answer::Each(answers)) => answers[0].clone(),
            Some(answer) => answer.clone(),
            None => Answer::Status(404),
        }
    }
}

impl Server {
    /// A server that has nothing yet.
    pub(crate) fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let certificate = folder.path().join("certificate.pem");
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let host = format!("localhost:{}", listener.local_addr().unwrap().port());
        let shared = Arc::new(Shared::default());
        runtime.spawn(serve(listener, acceptor, shared.clone()));
        Server { host, certificate, shared, _folder: folder, _runtime: runtime }
    }

    /// From now on, this is answered at this path.
    pub(crate) fn answer(&self, path: impl Into<String>, answer: Answer) {
        self.shared.answers.lock().unwrap().insert(path.into(), answer);
    }

    /// Another answer at a path that has one.
    pub(crate) fn change(&self, path: &str, change: impl FnOnce(Vec<u8>) -> Answer) {
        let mut answers = self.shared.answers.lock().unwrap();
        let Some(Answer::Body(body)) = answers.remove(path) else { panic!("nothing is at {path}") };
        answers.insert(path.to_owned(), change(body));
    }

    /// The paths that were asked for since the last time.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.asked.lock().unwrap())
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, shared) = (acceptor.clone(), shared.clone());
        tokio::spawn(async move {
            // Whoever does not trust us, or goes away, is no concern of ours.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let mut stream = BufReader::new(stream);
            let _ = answer_one(&mut stream, &shared).await;
            let _ = stream.get_mut().shutdown().await;
        });
    }
}

async fn answer_one(
    stream: &mut (impl AsyncBufReadExt + AsyncReadExt + AsyncWriteExt + Unpin),
    shared: &Shared,
) -> std::io::Result<()> {
    let mut request = String::new();
    stream.read_line(&mut request).await?;
    let mut header = String::new();
    while stream.read_line(&mut header).await? > 2 {
        header.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let answer = shared.next(&path);
    shared.asked.lock().unwrap().push(path);
    if let Answer::Unmeasured(body) = &answer {
        stream.write_all(b"HTTP/1.1 200 told\r\nconnection: close\r\n\r\n").await?;
        stream.write_all(body).await?;
        return stream.flush().await;
    }
    if let Answer::Slow(_) | Answer::SlowHead = &answer {
        let head = match &answer {
            Answer::Slow(body) => format!("HTTP/1.1 200 told\r\ncontent-length: {}\r\n\r\n", body.len()),
            _ => "HTTP/1.1 200 told\r\nslow: ".to_owned(),
        };
        stream.write_all(head.as_bytes()).await?;
        let body = match answer {
            Answer::Slow(body) => body,
            _ => vec![b'x'; 1 << 20],
        };
        for byte in body {
            stream.write_all(&[byte]).await?;
            stream.flush().await?;
            // The client has nothing more to say: this passes the time.
            let _ = tokio::time::timeout(Duration::from_millis(100), stream.read_u8()).await;
        }
        return Ok(());
    }
    let (status, body, sent) = match answer {
        Answer::Body(body) => (200, body.clone(), body),
        Answer::Status(status) => (status, Vec::new(), Vec::new()),
        Answer::Truncated(body) => (200, body.clone(), body[..body.len() / 2].to_vec()),
        _ => return Ok(()),
    };
    let head = format!(
        "HTTP/1.1 {status} told\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&sent).await?;
    stream.flush().await
}
