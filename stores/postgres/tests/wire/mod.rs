//! A wire between store and server that can be cut at a chosen moment, and opened databases.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    reason = "each test file uses its part; a test may panic"
)]

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use trueup_provider::Clock;
use trueup_state::StoreError;
use trueup_store_postgres::{PostgresConfig, PostgresStore};
use trueup_store_suite::conformance::HandClock;

pub(crate) use trueup_store_suite::conformance::shop::{adopted, commit, holder, id, lease, scope};

pub(crate) fn config(url: &str) -> PostgresConfig {
    PostgresConfig::parse(url, |_| None).unwrap()
}

/// Opens a store that waits for nothing: its clock moves by itself.
pub(crate) async fn open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(config(url), Arc::new(HandClock::new())).await
}

/// What an attempt to open a store says.
pub(crate) async fn refusal(url: &str) -> String {
    match open(url).await {
        Ok(_) => panic!("{url} is not refused"),
        Err(error) => error.to_string(),
    }
}

/// What happens to the connection on which the client sends a text.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cut {
    /// The server never sees it.
    BeforeTheServerHears,
    /// The client never sees the answer.
    BeforeTheClientHears,
    /// Nothing passes any more, as if the client had been stopped; the connection stays.
    Never,
}

/// A wire to the server of a port.
pub(crate) struct Wire {
    pub(crate) port: u16,
    orders: Arc<Mutex<Option<(&'static str, Cut)>>>,
    /// Whether new connections pass.
    open: watch::Sender<bool>,
}

impl Wire {
    pub(crate) async fn to(server: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let orders: Arc<Mutex<Option<(&'static str, Cut)>>> = Arc::default();
        let open = watch::Sender::new(true);
        let (given, opened) = (orders.clone(), open.subscribe());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if *opened.borrow() {
                    let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                    tokio::spawn(carry(client, server, given.clone()));
                }
            }
        });
        Wire { port, orders, open }
    }

    /// The address of a database, by this wire.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Cuts the connection on which the client next sends this text.
    pub(crate) fn cut(&self, text: &'static str, cut: Cut) {
        *self.orders.lock().unwrap() = Some((text, cut));
    }

    /// Whether the last order was carried out.
    pub(crate) fn was_cut(&self) -> bool {
        self.orders.lock().unwrap().is_none()
    }

    /// Lets new connections pass, or none.
    pub(crate) fn let_in(&self, open: bool) {
        self.open.send_replace(open);
    }
}

/// Carries bytes both ways until either end or an order ends it.
async fn carry(
    mut client: TcpStream,
    mut server: TcpStream,
    orders: Arc<Mutex<Option<(&'static str, Cut)>>>,
) {
    let (mut from_client, mut from_server) = ([0; 65536], [0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(length @ 1..) = read else { return };
                let sent = &from_client[..length];
                let ordered = orders.lock().unwrap().take_if(|(text, _)| {
                    sent.windows(text.len()).any(|window| window == text.as_bytes())
                });
                match ordered {
                    None if server.write_all(sent).await.is_ok() => {}
                    None | Some((_, Cut::BeforeTheServerHears)) => return,
                    Some((_, Cut::BeforeTheClientHears)) => {
                        server.write_all(sent).await.unwrap();
                        let _ = server.read(&mut from_server).await;
                        return;
                    }
                    // The server may end it.
                    Some((_, Cut::Never)) => while matches!(server.read(&mut from_server).await, Ok(1..)) {},
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&from_server[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
