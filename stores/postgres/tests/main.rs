//! The PostgreSQL store on a real server.

mod access;
mod conformance;
mod contest;
mod damage;
mod limits;
mod lost_connections;
mod server;
mod waiting;
mod wire;
