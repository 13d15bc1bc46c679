//! The storage port: what an extension keeps of its own from one call to the next.

use crate::extension::ExtensionId;
use async_trait::async_trait;

/// Why storage did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The owner's room is used up; nothing was changed.
    #[error(
        "the storage of {owner} is full: {wanted} bytes would be needed and {quota} are granted; remove keys that are no longer needed"
    )]
    Full {
        /// Whose storage.
        owner: ExtensionId,
        /// Bytes of all keys and values after the change.
        wanted: u64,
        /// Bytes that are granted.
        quota: u64,
    },
    /// It cannot be read or written.
    #[error("the storage of {owner} cannot be used: {message}")]
    Unusable {
        /// Whose storage.
        owner: ExtensionId,
        /// What was attempted, where, and what the user can do.
        message: String,
        /// What lies beneath.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Keeps bytes by owner and key. Owners do not see each other's, and several processes may use it at the same time.
#[async_trait]
pub trait StoragePort: Send + Sync {
    /// The value of a key; `None` where there is none.
    ///
    /// # Errors
    /// [`StorageError::Unusable`].
    async fn get(&self, owner: &ExtensionId, key: &str) -> Result<Option<Vec<u8>>, StorageError>;

    /// Sets a key, in place of the value that it had, if all keys and values together stay within `quota` bytes.
    ///
    /// # Errors
    /// [`StorageError`]; the key then has the value that it had.
    async fn set(&self, owner: &ExtensionId, key: &str, value: &[u8], quota: u64)
    -> Result<(), StorageError>;

    /// Removes a key. A key that does not exist is no error.
    ///
    /// # Errors
    /// [`StorageError::Unusable`].
    async fn remove(&self, owner: &ExtensionId, key: &str) -> Result<(), StorageError>;

    /// Keys that begin with `prefix`, in the order of their bytes.
    ///
    /// # Errors
    /// [`StorageError::Unusable`].
    async fn list_keys(&self, owner: &ExtensionId, prefix: &str) -> Result<Vec<String>, StorageError>;
}
