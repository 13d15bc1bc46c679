//! Trying a failed model request again.

use async_trait::async_trait;
use capstan_ports::ModelError;
use serde::Serialize;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// When and how often a request that failed for a passing reason is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first. Zero switches retries off.
    pub max_retries: u32,
    /// The wait before the first of them; it doubles each time. The actual wait is up to a quarter shorter or longer.
    pub base_delay: Duration,
    /// The longest wait that a provider may ask for. Beyond it the request fails at once: a person decides better
    /// than a program whether to wait for an hour.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    /// Three retries after 2, 4 and 8 seconds; waits of up to a minute at a provider's wish.
    fn default() -> Self {
        Self { max_retries: 3, base_delay: Duration::from_secs(2), max_delay: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// How long to wait before retry number `attempt` (from 1); `None` when there is none.
    ///
    /// `random` comes from a [`RandomSource`]. It spreads the waits, so that clients which failed together do not come
    /// back together: by a quarter to both sides, or, when the provider named a wait, only to the longer side.
    pub fn delay(&self, attempt: u32, error: &ModelError, random: u32) -> Option<Duration> {
        if attempt > self.max_retries || !error.kind.is_transient() {
            return None;
        }
        let doubled = self.base_delay.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        match error.retry_after {
            Some(asked) if asked > self.max_delay => None,
            Some(asked) => Some(asked.saturating_add(share(asked / 4, random)).min(self.max_delay)),
            None => {
                Some((doubled - doubled / 4).saturating_add(share(doubled / 2, random)).min(self.max_delay))
            }
        }
    }
}

/// The part of `whole` that `random` is of its largest value.
fn share(whole: Duration, random: u32) -> Duration {
    let nanos = whole.as_nanos().saturating_mul(random.into()) / u128::from(u32::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Gives numbers that are evenly spread over all values. A seam, so that tests can say which.
pub type RandomSource = Arc<dyn Fn() -> u32 + Send + Sync>;

/// Numbers that differ between processes and calls. They spread waits and are no secret: the seeds that the standard
/// library draws for its hash tables are good enough and cost no further dependency.
pub fn random() -> u32 {
    let hash = RandomState::new().hash_one(0_u8);
    u32::try_from(hash >> 32).unwrap_or(u32::MAX)
}

/// What happens around retries, in pi's JSON form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RetryEvent {
    /// A request failed and is made again after a wait.
    AutoRetryStart {
        /// Counts from 1.
        attempt: u32,
        /// How many there can be.
        max_attempts: u32,
        /// The wait in milliseconds.
        delay_ms: u64,
        /// Why the request failed.
        error_message: String,
    },
    /// Retrying is over.
    AutoRetryEnd {
        /// Whether an answer came.
        success: bool,
        /// Of the last retry.
        attempt: u32,
        /// Why the last one failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_error: Option<String>,
    },
}

/// Receives [`RetryEvent`]s. It is called within the loop and must not block.
pub type RetryObserver = Arc<dyn Fn(RetryEvent) + Send + Sync>;

/// Waits. A seam, so that tests need not.
#[async_trait]
pub trait Sleeper: Send + Sync {
    /// Returns after `duration`. Dropping the future ends the wait.
    async fn sleep(&self, duration: Duration);
}

/// Waits by the runtime's clock.
pub struct RuntimeSleeper;

#[async_trait]
impl Sleeper for RuntimeSleeper {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Lets somebody who sees a retry coming call it off.
#[derive(Debug, Default)]
pub struct RetryStop(Notify);

impl RetryStop {
    /// Ends the wait in progress, and the retrying with it. Without one it does nothing; later waits are not meant.
    pub fn stop(&self) {
        self.0.notify_waiters();
    }

    /// Ends with the next [`RetryStop::stop`], counted from this call and not from the first look at the future: who is
    /// told of a retry may stop it before the wait has begun.
    pub(crate) fn stopped(&self) -> Notified<'_> {
        self.0.notified()
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
