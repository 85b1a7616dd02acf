//! Credentials from the SDK's chain, kept until shortly before they expire.
//!
//! The chain's providers ask anew on each call: a file, a process, a server. So whoever signs asks here. Concurrent
//! requests wait for one load; a failed load is not kept.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use tokio::sync::Mutex;

use super::error::{CallError, causes};

/// The time a load may take: two connection attempts' worth.
const LOAD_TIMEOUT: Duration = Duration::from_millis(6200);

/// Credentials this close to their expiry are loaded again.
const EXPIRY_MARGIN: Duration = Duration::from_secs(10);

/// The lifetime of credentials that name none, such as those of a process.
const LIFETIME_WITHOUT_EXPIRY: Duration = Duration::from_secs(15 * 60);

/// The credentials of one provider configuration.
pub(super) struct CredentialsCache {
    provider: Option<SharedCredentialsProvider>,
    cached: Mutex<Option<CachedCredentials>>,
}

struct CachedCredentials {
    credentials: Credentials,
    stale_at: SystemTime,
}

impl CredentialsCache {
    pub(super) fn new(provider: Option<SharedCredentialsProvider>) -> Self {
        CredentialsCache { provider, cached: Mutex::new(None) }
    }

    /// Credentials that are valid at this time.
    pub(super) async fn get(&self, now: SystemTime) -> Result<Credentials, CallError> {
        let mut cached = self.cached.lock().await;
        if let Some(CachedCredentials { credentials, stale_at }) = &*cached
            && now < *stale_at
        {
            return Ok(credentials.clone());
        }
        let credentials = self.load().await.map_err(|error| CallError::NoCredentials(causes(&error)))?;
        let expiry = credentials.expiry().unwrap_or(now + LIFETIME_WITHOUT_EXPIRY);
        let stale_at = expiry.checked_sub(EXPIRY_MARGIN).unwrap_or(now);
        *cached = Some(CachedCredentials { credentials: credentials.clone(), stale_at });
        Ok(credentials)
    }

    async fn load(&self) -> Result<Credentials, CredentialsError> {
        let Some(provider) = &self.provider else {
            return Err(CredentialsError::not_loaded("no source of credentials is configured"));
        };
        match tokio::time::timeout(LOAD_TIMEOUT, provider.provide_credentials()).await {
            Ok(loaded) => loaded,
            Err(_) => Err(CredentialsError::provider_timed_out(LOAD_TIMEOUT)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use aws_credential_types::provider::future;

    use super::*;

    /// Gives credentials for a minute each time, or none at all.
    #[derive(Debug)]
    struct Source {
        loads: Arc<AtomicU64>,
        works: bool,
    }

    impl ProvideCredentials for Source {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let load = self.loads.fetch_add(1, Ordering::SeqCst);
            let expiry = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * (load + 1));
            future::ProvideCredentials::ready(match self.works {
                true => Ok(Credentials::new("AKID", "hunter2", None, Some(expiry), "test")),
                false => Err(CredentialsError::not_loaded("nobody is signed in")),
            })
        }
    }

    fn cache(works: bool) -> (CredentialsCache, Arc<AtomicU64>) {
        let loads = Arc::<AtomicU64>::default();
        let source = Source { loads: loads.clone(), works };
        (CredentialsCache::new(Some(SharedCredentialsProvider::new(source))), loads)
    }

    #[tokio::test]
    async fn credentials_are_loaded_again_shortly_before_they_expire() {
        let (cache, loads) = cache(true);
        for (second, expected) in [(0, 1), (49, 1), (50, 2), (109, 2), (200, 3)] {
            cache.get(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).await.unwrap();
            assert_eq!(loads.load(Ordering::SeqCst), expected, "at {second} s");
        }
    }

    /// RETRY-3
    #[tokio::test]
    async fn a_failed_load_is_told_and_not_kept() {
        let (cache, loads) = cache(false);
        for _ in 0..2 {
            let error = cache.get(SystemTime::UNIX_EPOCH).await.unwrap_err();
            let CallError::NoCredentials(told) = error else { panic!("{error:?}") };
            assert!(told.contains("nobody is signed in"), "{told}");
        }
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }
}
