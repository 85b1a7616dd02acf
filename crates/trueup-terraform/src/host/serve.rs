//! The life of a host: it starts a plugin, serves one run after another, and ends with the last.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::select;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;
use trueup_provider::{Clock, RuntimeClock};

use super::kept::KeptAnswers;
use super::proxy::Proxy;
use super::spool::Spool;
use super::{ENDED, Order, Report};
use crate::process::{Launch, Plugin, PluginLog, StartError};

/// How long whoever started a host may take to turn to it.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// Serves as a host: reads from standard input what it is to do, says on standard output when it is ready, and returns
/// when nobody needs it any more. `guard` binds the plugin's life to that of this process. `environment` is that of this
/// process, which the plugin inherits.
pub async fn serve(guard: Vec<OsString>, environment: Vec<(OsString, OsString)>) -> io::Result<()> {
    let mut line = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut line).await?;
    let order: Order = serde_json::from_str(&line)?;
    let mut launch = Launch { guard, ..Launch::new(&order.program, environment) };
    launch.arguments = order.arguments.iter().map(Into::into).collect();
    launch.start_timeout = Duration::from_millis(order.start_timeout_ms);
    let spool = Arc::new(Spool::default());
    let tee = spool.clone();
    // A host keeps no log; whoever attaches to it hears the lines and takes secrets out of them.
    let log = PluginLog::new(&order.name);
    match Plugin::start_heard(&log, &launch, Box::new(move |line| tee.push(line.to_owned()))).await {
        Ok(plugin) => {
            let listener = listen(&order.socket)?;
            report(&Report::Ready).await?;
            attend(&order, plugin, spool, listener).await
        }
        Err(StartError::Missing(_)) => report(&Report::Missing).await,
        Err(StartError::Protocol(version)) => report(&Report::Protocol(version)).await,
        Err(error) => report(&Report::Refused(error.to_string())).await,
    }
}

async fn report(report: &Report) -> io::Result<()> {
    let mut stdout = tokio::io::stdout();
    stdout.write_all(format!("{}\n", serde_json::to_string(report)?).as_bytes()).await?;
    stdout.flush().await
}

/// Serves until the plugin ends, or nobody comes any more.
async fn attend(order: &Order, plugin: Plugin, spool: Arc<Spool>, first: Door) -> io::Result<()> {
    let kept = KeptAnswers::new(order.answers.clone());
    kept.sweep(RuntimeClock::new().now());
    let proxy = Arc::new(Proxy::new(plugin.client(), spool.clone(), kept));
    let serving = serve_runs(order, &proxy, first);
    let ended = async {
        let status = plugin.ended().await;
        spool.push(format!("{ENDED}{}", status.into_raw()));
        spool.complete();
        // Whoever is there hears of it; then there is nothing left to do.
        let _ = timeout(Duration::from_secs(5), proxy.changes.wait()).await;
    };
    select(pin!(serving), pin!(ended)).await;
    plugin.shut_down().await;
    Ok(())
}

async fn serve_runs(order: &Order, proxy: &Arc<Proxy>, first: Door) {
    let stay = Duration::from_millis(order.stay_ms);
    let Some(stream) = next(first, FIRST_WAIT).await else { return };
    let mut stream = stream;
    loop {
        proxy.left.store(false, Ordering::Relaxed);
        converse(proxy, stream).await;
        if !proxy.changes.is_empty() {
            // Whoever was killed will come back and ask what came of it.
            proxy.changes.close();
            if !proxy.left.load(Ordering::Relaxed) {
                let _ = timeout(Duration::from_millis(order.grace_ms), proxy.changes.wait()).await;
            }
            return;
        }
        if stay.is_zero() || proxy.stopped.load(Ordering::Relaxed) {
            return;
        }
        // Where another one waits already, one is enough.
        let Ok(listener) = listen(&order.idle_socket) else { return };
        match next(listener, stay).await {
            Some(next) => stream = next,
            None => return,
        }
    }
}

/// Whoever comes in time. From then on nobody finds the socket.
async fn next(door: Door, wait: Duration) -> Option<UnixStream> {
    let came = timeout(wait, door.listener.accept()).await;
    came.ok()?.ok().map(|(stream, _)| stream)
}

/// Where a host listens; nobody finds it there once this is gone.
struct Door {
    listener: UnixListener,
    socket: PathBuf,
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

async fn converse(proxy: &Arc<Proxy>, stream: UnixStream) {
    let service = service_fn(|request| proxy.clone().answer(request));
    let conversation = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(8 << 20)
        .serve_connection(TokioIo::new(stream), service);
    // However it ends, it has ended.
    let _ = conversation.await;
}

/// Listens at a path that nothing else is at, for this user alone.
fn listen(socket: &Path) -> io::Result<Door> {
    let door = Door { listener: UnixListener::bind(socket)?, socket: socket.to_owned() };
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    Ok(door)
}
