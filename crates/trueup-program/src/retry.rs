//! How failed operations are repeated: policies, and what is said of them where.

use std::str::FromStr;
use std::time::Duration;

use trueup_core::parse_duration;

/// How failed operations are repeated (RETRY-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most attempts, the first included.
    pub attempts_max: u32,
    /// The wait before the second attempt; it doubles from there.
    pub backoff: Duration,
    /// The longest wait.
    pub backoff_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            attempts_max: 10,
            backoff: Duration::from_secs(2),
            backoff_max: Duration::from_secs(30),
        }
    }
}

/// The parts of a policy that are set in one place: for a resource, for a type or for a run. Places that are further away
/// set the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetrySettings {
    /// As [`RetryPolicy::attempts_max`].
    pub attempts_max: Option<u32>,
    /// As [`RetryPolicy::backoff`].
    pub backoff: Option<Duration>,
    /// As [`RetryPolicy::backoff_max`].
    pub backoff_max: Option<Duration>,
}

impl RetrySettings {
    /// The same, with parts from further away where it sets none.
    #[must_use]
    pub fn or(self, further: RetrySettings) -> Self {
        RetrySettings {
            attempts_max: self.attempts_max.or(further.attempts_max),
            backoff: self.backoff.or(further.backoff),
            backoff_max: self.backoff_max.or(further.backoff_max),
        }
    }

    /// The policy, with defaults for the parts that nobody sets.
    pub fn policy(self) -> RetryPolicy {
        let usual = RetryPolicy::default();
        RetryPolicy {
            attempts_max: self.attempts_max.unwrap_or(usual.attempts_max),
            backoff: self.backoff.unwrap_or(usual.backoff),
            backoff_max: self.backoff_max.unwrap_or(usual.backoff_max),
        }
    }
}

impl From<RetryPolicy> for RetrySettings {
    fn from(RetryPolicy { attempts_max, backoff, backoff_max }: RetryPolicy) -> Self {
        RetrySettings {
            attempts_max: Some(attempts_max),
            backoff: Some(backoff),
            backoff_max: Some(backoff_max),
        }
    }
}

/// `3`, or `3,2s,30s`: attempts, first wait, longest wait.
impl FromStr for RetrySettings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write it like `3`, or `3,2s,30s`: attempts, first wait, longest wait".to_owned();
        let mut parts = text.split(',').map(str::trim);
        let attempts = parts.next().and_then(|part| part.parse().ok()).filter(|count| *count > 0);
        let mut wait = || parts.next().map(|part| parse_duration(part).ok_or_else(wrong)).transpose();
        let (backoff, backoff_max) = (wait()?, wait()?);
        match (attempts, parts.next()) {
            (Some(attempts), None) => {
                Ok(RetrySettings { attempts_max: Some(attempts), backoff, backoff_max })
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RETRY-2
    #[test]
    fn retry_settings_layer_field_by_field() {
        let near = RetrySettings { attempts_max: Some(2), ..RetrySettings::default() };
        let second = Some(Duration::from_secs(1));
        let far = RetrySettings { attempts_max: Some(9), backoff: second, backoff_max: None };
        let policy = near.or(far).policy();
        assert_eq!(policy.attempts_max, 2);
        assert_eq!(policy.backoff, Duration::from_secs(1));
        assert_eq!(policy.backoff_max, RetryPolicy::default().backoff_max);
    }

    #[test]
    fn retry_settings_are_read_as_people_write_them() {
        let attempts = RetrySettings { attempts_max: Some(3), ..RetrySettings::default() };
        assert_eq!("3".parse(), Ok(attempts));
        let waits = [250, 60_000].map(|ms| Some(Duration::from_millis(ms)));
        let all = RetrySettings { backoff: waits[0], backoff_max: waits[1], ..attempts };
        assert_eq!("3,250ms,1m".parse(), Ok(all));
        for wrong in ["", "0", "often", "3,soon", "3,1s,2s,3s"] {
            assert!(wrong.parse::<RetrySettings>().is_err(), "{wrong}");
        }
    }
}
