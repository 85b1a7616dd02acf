//! An emulator of AWS, for as long as a test lasts.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) struct Emulator {
    child: Child,
    pub(crate) port: u16,
}

impl Emulator {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("/tmp/aws-venv/bin/ministack")
            .env("GATEWAY_PORT", port.to_string())
            .env("BIND_HOST", "127.0.0.1")
            .env("LOG_LEVEL", "ERROR")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let emulator = Emulator { child, port };
        #[allow(clippy::disallowed_methods)]
        for _ in 0..1000 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return emulator;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the emulator does not answer");
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
