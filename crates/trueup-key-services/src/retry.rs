//! Calls that a service turned away for the moment are repeated a few times, with growing pauses.
//!
//! Wrapping and unwrapping leave nothing behind at the service, so repeating them is always safe.

use std::time::Duration;

use trueup_core::{KnownSecrets, Value};
use trueup_provider::Clock;
use trueup_state::sealing::KeyServiceError;

/// The attempts at one call.
const ATTEMPTS_MAX: u32 = 4;

/// The first pause; each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(200);

/// The longest pause that a service may ask for. One that asks for more is out of reach.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The longest text of a service that is shown.
const TEXT_LENGTH_MAX: usize = 500;

/// A failed call.
pub(crate) struct CallFailure {
    pub(crate) error: KeyServiceError,
    pub(crate) retry: Retry,
}

/// Whether a failed call is worth another attempt.
pub(crate) enum Retry {
    Never,
    /// After this pause, if the service asked for one.
    After(Option<Duration>),
}

impl From<KeyServiceError> for CallFailure {
    fn from(error: KeyServiceError) -> Self {
        CallFailure { error, retry: Retry::Never }
    }
}

/// Calls until it succeeds, fails for good, or was tried often enough.
pub(crate) async fn with_retries<T, Calling>(
    clock: &dyn Clock,
    call: impl Fn() -> Calling + Send,
) -> Result<T, KeyServiceError>
where
    Calling: Future<Output = Result<T, CallFailure>> + Send,
{
    let mut pause = PAUSE_FIRST;
    for _ in 1..ATTEMPTS_MAX {
        let failure = match call().await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let asked = match failure.retry {
            Retry::After(asked) => asked.unwrap_or_default(),
            Retry::Never => return Err(failure.error),
        };
        if asked > PAUSE_MAX {
            return Err(failure.error);
        }
        clock.sleep(pause.max(asked)).await;
        pause *= 2;
    }
    call().await.map_err(|failure| failure.error)
}

/// A service's own words, made fit to be shown: on one line, not too long, and without these secrets.
pub(crate) fn presentable(text: &str, secrets: &[&str]) -> String {
    let secrets: Vec<Value> = secrets.iter().map(|secret| Value::from(*secret).into_secret()).collect();
    let known = KnownSecrets::default();
    known.learn(&secrets);
    let concealed = known.scrubbed(text).into_owned();
    let words: Vec<&str> = concealed.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(TEXT_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_service_are_shown_on_one_short_line_without_secrets() {
        assert_eq!(presentable("2 errors:\n\t* denied\x1b\n", &[]), "2 errors: * denied");
        assert_eq!(presentable("token hvs.abc is no good", &["hvs.abc"]), "token (secret) is no good");
        assert_eq!(presentable(&"ä".repeat(501), &[]).chars().count(), TEXT_LENGTH_MAX + 1);
    }
}
