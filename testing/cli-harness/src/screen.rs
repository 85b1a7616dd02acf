//! A terminal with a program in it, and what stands on its screen.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portable_pty::{ChildKiller, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::Folder;

/// After so long a test is given up: nothing here takes more than a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so much that was not waited for, too.
const HEARD_MAX: usize = 2_000;

/// A terminal of 80 by 24 with a program in it, which ends with it.
pub struct Screen {
    id: u32,
    killer: Box<dyn ChildKiller + Send + Sync>,
    end: std::sync::mpsc::Receiver<u32>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    parser: Arc<Mutex<vt100::Parser>>,
    news: std::sync::mpsc::Receiver<()>,
}

impl Screen {
    /// Runs the folder's binary in it, with these arguments, separated by spaces.
    pub fn run(folder: &Folder, arguments: &str) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut child = pair.slave.spawn_command(command(folder, arguments)).unwrap();
        drop(pair.slave);
        let parser = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 200)));
        let (sender, news) = std::sync::mpsc::channel();
        let (mut reader, seen) = (pair.master.try_clone_reader().unwrap(), parser.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                seen.lock().unwrap().process(&bytes[..count]);
                let _ = sender.send(());
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        let (id, killer) = (child.process_id().unwrap(), child.clone_killer());
        let (sender, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait().unwrap().exit_code()));
        Screen { id, killer, end, master: pair.master, keyboard, parser, news }
    }

    /// Runs the binary until a text stands on the screen, and closes the terminal. Returns whether the program ends.
    pub fn ends_when_closed(folder: &Folder, arguments: &str, text: &str) -> bool {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let mut child = pair.slave.spawn_command(command(folder, arguments)).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut parser = vt100::Parser::new(24, 80, 0);
        let mut bytes = [0; 4096];
        while !parser.screen().contents().contains(text) {
            let count = reader.read(&mut bytes).unwrap();
            parser.process(&bytes[..count]);
        }
        drop((reader, pair.master));
        let id = child.process_id().unwrap().to_string();
        let (sender, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait()));
        let ended = end.recv_timeout(PATIENCE).is_ok();
        if !ended {
            let _ = std::process::Command::new("kill").args(["-s", "KILL", &id]).status();
        }
        ended
    }

    /// Waits until a text stands on the screen.
    pub fn wait_for(&mut self, text: &str) {
        self.until(&format!("{text:?}"), |screen| screen.text().contains(text));
    }

    /// All that stands on the screen.
    pub fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    /// Whether the cursor is shown, as it must be in the end.
    pub fn cursor_is_shown(&self) -> bool {
        !self.parser.lock().unwrap().screen().hide_cursor()
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Sends a signal to the program.
    pub fn signal(&self, name: &str) {
        let id = self.id.to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Makes the terminal larger or smaller.
    pub fn resize(&mut self, rows: u16, cols: u16) {
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.parser.lock().unwrap().screen_mut().set_size(rows, cols);
    }

    /// Waits for the end, and for all that was written until then; the exit code.
    pub fn ended(&mut self) -> u32 {
        let code = self.end.recv_timeout(PATIENCE);
        let code = code.unwrap_or_else(|_| panic!("waited in vain for the end:\n{}", self.text()));
        while self.news.recv_timeout(PATIENCE).is_ok() {}
        code
    }

    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let mut heard = 0;
        while !holds(self) {
            // Progress is news ten times a second, and might go on for ever.
            heard += 1;
            assert!(heard < HEARD_MAX, "waited in vain for {what}:\n{}", self.text());
            let news = self.news.recv_timeout(PATIENCE);
            // The last news may have been what was waited for.
            assert!(news.is_ok() || holds(self), "waited in vain for {what}:\n{}", self.text());
        }
    }
}

fn command(folder: &Folder, arguments: &str) -> CommandBuilder {
    let mut command = CommandBuilder::new(folder.binary());
    command.args(arguments.split_whitespace());
    command.cwd(folder.path());
    command.env_clear();
    for (name, value) in folder.environment() {
        command.env(name, value);
    }
    command.env("TERM", "xterm-256color");
    command
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.killer.kill();
    }
}
