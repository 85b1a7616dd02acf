//! The streams of the process as they are written: all of it, or an error that says why not.

use std::io::{self, Write};

/// Standard output. Not by the library's handle, which takes a stream that cannot be written for one that nobody wants.
#[cfg(unix)]
pub(super) fn standard_output() -> Box<dyn Write + Send> {
    use std::os::fd::AsFd;
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(stream) => Box::new(Patient(std::fs::File::from(stream))),
        Err(_) => Box::new(Patient(io::stdout())),
    }
}

/// Standard error.
#[cfg(unix)]
pub(super) fn standard_error() -> Box<dyn Write + Send> {
    Box::new(Patient(io::stderr()))
}

#[cfg(not(unix))]
pub(super) fn standard_output() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

#[cfg(not(unix))]
pub(super) fn standard_error() -> Box<dyn Write + Send> {
    Box::new(io::stderr())
}

/// A stream that waits for its reader, also where whoever started us left it non-blocking.
#[cfg(unix)]
struct Patient<S>(S);

#[cfg(unix)]
impl<S: Write + std::os::fd::AsFd> Write for Patient<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // A signal that ends the wait only makes the next attempt come sooner.
                    let _ = poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None);
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
