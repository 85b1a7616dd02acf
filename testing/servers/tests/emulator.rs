//! Emulators start, keep what they have over a crash, and end.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::TcpStream;

use trueup_test_servers::emulator::Emulator;

#[test]
fn an_emulator_that_is_killed_comes_back_with_its_buckets() {
    let Some(mut emulator) = Emulator::Ministack.start() else { return };
    emulator.create_bucket("kept");
    emulator.kill();
    assert!(TcpStream::connect(("127.0.0.1", emulator.port())).is_err(), "it is down");
    emulator.restart();
    let port = emulator.port();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "it is back");
    drop(emulator);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it is gone with its handle");
}

#[test]
fn the_second_opinion_starts() {
    let Some(emulator) = Emulator::Moto.start() else { return };
    emulator.create_bucket("fresh");
}
