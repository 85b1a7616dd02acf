//! A running binary without a terminal, and what it has said so far.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::Told;

/// A binary that runs until it ends or the test does.
#[derive(Debug)]
pub struct Started {
    /// `None` once it has been waited for.
    child: Option<Child>,
    errors: BufReader<ChildStderr>,
    /// Standard error as far as it was read.
    err: String,
    arguments: String,
}

impl Started {
    pub(crate) fn spawn(mut command: Command, arguments: &str) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Started { child: Some(child), errors, err: String::new(), arguments: arguments.to_owned() }
    }

    /// Waits until standard error shows a further line with this text.
    pub fn wait_for(&mut self, text: &str) {
        let from = self.err.len();
        while !self.err[from..].contains(text) {
            let read = self.errors.read_line(&mut self.err).unwrap();
            assert!(read > 0, "it ended without {text:?}:\n{}", self.err);
        }
    }

    /// Waits for its end.
    pub fn ended(mut self) -> Told {
        let child = self.child.take().unwrap();
        let told = std::thread::scope(|scope| {
            let reading = scope.spawn(|| self.errors.read_to_string(&mut self.err).unwrap());
            let told = Told::of(child.wait_with_output().unwrap(), &self.arguments);
            reading.join().unwrap();
            told
        });
        Told { err: std::mem::take(&mut self.err), ..told }
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Whether it has come to its end.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some())
    }

    /// Ends it without a chance to say or write anything more.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
