//! Asking: yes or no with arrow keys, and a name to be typed.
//!
//! Keys are read in raw mode, which a guard ends however the question does. Signals are looked at in between, so that a
//! question does not outlive the wish to be asked.

use std::io::Write;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;

use super::ink::written;
use super::look::{Mark, Meaning};
use super::{Ui, width};

/// How often a question looks up from the keyboard.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Begins the line anew.
const REDRAW: &str = "\r\x1b[2K";

/// What was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Neither: Ctrl-C, or a signal.
    Interrupted,
}

/// Raw mode for as long as it lives.
struct RawMode;

impl RawMode {
    fn enter() -> Option<RawMode> {
        terminal::enable_raw_mode().ok().map(|()| RawMode)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _ = terminal::disable_raw_mode();
    }
}

/// What a key does to a question.
enum Pressed {
    Choose(bool),
    Toggle,
    Accept,
    Char(char),
    Erase,
    Interrupt,
    Other,
}

impl Ui {
    /// Asks a question. No is chosen at first.
    pub(crate) fn ask(&self, question: &str, interrupted: &dyn Fn() -> bool) -> Answer {
        let Some(raw) = RawMode::enter() else { return Answer::Interrupted };
        let mut yes = false;
        self.side("", &self.choice(question, yes));
        let answer = loop {
            match next_key(interrupted) {
                Pressed::Choose(chosen) => yes = chosen,
                Pressed::Toggle => yes = !yes,
                Pressed::Char('y' | 'Y') => break Answer::Yes,
                Pressed::Char('n' | 'N') => break Answer::No,
                Pressed::Accept => break if yes { Answer::Yes } else { Answer::No },
                Pressed::Interrupt => break Answer::Interrupted,
                Pressed::Char(_) | Pressed::Erase | Pressed::Other => continue,
            }
            self.side(REDRAW, &self.choice(question, yes));
        };
        drop(raw);
        let told = match answer {
            Answer::Yes => "Yes",
            Answer::No => "No",
            Answer::Interrupted => "interrupted",
        };
        self.side(REDRAW, &format!("{question} {told}\n"));
        answer
    }

    /// Asks for a text to be typed; `None` if that was interrupted.
    pub(crate) fn ask_text(&self, question: &str, interrupted: &dyn Fn() -> bool) -> Option<String> {
        self.typed(question, true, interrupted)
    }

    /// Asks for a text that nobody else should read; nothing shows of it.
    pub(crate) fn ask_hidden(
        &self,
        question: &str,
        interrupted: &dyn Fn() -> bool,
    ) -> Option<trueup_core::Secret<String>> {
        self.typed(question, false, interrupted).map(trueup_core::Secret::new)
    }

    fn typed(&self, question: &str, shown: bool, interrupted: &dyn Fn() -> bool) -> Option<String> {
        let raw = RawMode::enter()?;
        let mut text = String::new();
        self.side("", &format!("{question} "));
        let answered = loop {
            match next_key(interrupted) {
                Pressed::Char(char) => {
                    text.push(char);
                    if shown {
                        self.side("", &char.to_string());
                    }
                }
                Pressed::Erase => {
                    if let Some(char) = text.pop().filter(|_| shown) {
                        let columns = width(&char.to_string());
                        self.side(&format!("\x1b[{columns}D\x1b[K"), "");
                    }
                }
                Pressed::Accept => break true,
                Pressed::Interrupt => break false,
                Pressed::Choose(_) | Pressed::Toggle | Pressed::Other => {}
            }
        };
        drop(raw);
        self.side("", "\n");
        answered.then_some(text)
    }

    fn choice(&self, question: &str, yes: bool) -> String {
        let look = self.err();
        let option = |name: &str, chosen: bool| match chosen {
            true => look.paint(Meaning::Strong, &format!("{} {name}", look.mark(Mark::Pointer))),
            false => look.paint(Meaning::Quiet, &format!("  {name}")),
        };
        format!("{question}  {}   {}", option("No", !yes), option("Yes", yes))
    }

    /// Moves the cursor, then writes.
    fn side(&self, sequence: &str, text: &str) {
        let mut streams = self.streams();
        let text = format!("{sequence}{}", written(text));
        let _ = streams.err.write_all(text.as_bytes()).and_then(|()| streams.err.flush());
    }
}

/// Waits for a key.
fn next_key(interrupted: &dyn Fn() -> bool) -> Pressed {
    loop {
        if interrupted() {
            return Pressed::Interrupt;
        }
        match crossterm::event::poll(Duration::ZERO) {
            Ok(false) if keyboard_is_gone() => return Pressed::Interrupt,
            Ok(false) => continue,
            Ok(true) => {}
            Err(_) => return Pressed::Interrupt,
        }
        return match crossterm::event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => pressed(key),
            // A resize draws the question anew.
            Ok(_) => Pressed::Other,
            Err(_) => Pressed::Interrupt,
        };
    }
}

/// Waits a moment for keys. True if there will be none, because the terminal was closed: crossterm would read its end over
/// and over.
#[cfg(unix)]
fn keyboard_is_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let mut keyboard = [PollFd::new(&stdin, PollFlags::IN)];
    let look_up = Timespec::try_from(LOOK_UP).ok();
    // A signal that ends the wait is looked at next.
    poll(&mut keyboard, look_up.as_ref()).is_ok() && keyboard[0].revents().contains(PollFlags::HUP)
}

#[cfg(not(unix))]
fn keyboard_is_gone() -> bool {
    crossterm::event::poll(LOOK_UP).is_err()
}

fn pressed(key: KeyEvent) -> Pressed {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => Pressed::Interrupt,
        KeyCode::Esc => Pressed::Interrupt,
        KeyCode::Left | KeyCode::Up => Pressed::Choose(false),
        KeyCode::Right | KeyCode::Down => Pressed::Choose(true),
        KeyCode::Tab | KeyCode::BackTab => Pressed::Toggle,
        KeyCode::Enter => Pressed::Accept,
        KeyCode::Backspace => Pressed::Erase,
        KeyCode::Char(char) if !control => Pressed::Char(char),
        _ => Pressed::Other,
    }
}
