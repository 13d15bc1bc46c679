//! The command port: a slash command of the interactive mode and of rpc.

use crate::session::SessionId;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// A command that did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("/{name} failed: {message}")]
pub struct CommandError {
    /// Which command.
    pub name: String,
    /// Why, and what the user can do.
    pub message: String,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Something that the user can call by name.
#[async_trait]
pub trait CommandPort: Send + Sync {
    /// Without the slash: `[a-z0-9-]{1,32}`.
    fn name(&self) -> &str;

    /// One line for the list of commands.
    fn description(&self) -> &str;

    /// Whose it is: an extension's id, or the host's own name.
    fn owner(&self) -> &str;

    /// Runs it with the rest of the line. Answers what the user is shown.
    ///
    /// # Errors
    /// The text is shown to the user; nothing reaches the model.
    async fn run(
        &self,
        session: &SessionId,
        arguments: &str,
        cancel: &CancellationToken,
    ) -> Result<String, CommandError>;
}
