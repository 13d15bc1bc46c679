//! What the host does for an extension on request. Each answers [`HostError::Denied`](crate::types::HostError::Denied) without its grant.

/// Partial results of the running tool call. Always available; without effect outside tools.
pub mod progress {
    use crate::host;

    /// Replaces what was reported before. At most 64 KiB.
    pub fn report(text: impl AsRef<str>) {
        host::progress::report(text.as_ref());
    }
}

/// Persistent storage of this extension alone. Needs [`Request::key_value`](crate::Request::key_value).
pub mod store {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use crate::types::HostError;
    use crate::{Error, host, json};

    /// The bytes under a key of 1 to 256 bytes.
    ///
    /// # Errors
    ///
    /// Not granted, or the host failed.
    pub fn get(key: &str) -> Result<Option<Vec<u8>>, HostError> {
        host::key_value::get(key)
    }

    /// Keeps bytes. Key and value count against the granted bytes.
    ///
    /// # Errors
    ///
    /// Not granted, no room left, or the host failed.
    pub fn set(key: &str, value: &[u8]) -> Result<(), HostError> {
        host::key_value::set(key, value)
    }

    /// Forgets a key. A key that does not exist is no error.
    ///
    /// # Errors
    ///
    /// Not granted, or the host failed.
    pub fn remove(key: &str) -> Result<(), HostError> {
        host::key_value::remove(key)
    }

    /// The keys that start with `prefix`, in the order of their bytes.
    ///
    /// # Errors
    ///
    /// Not granted, or the host failed.
    pub fn keys(prefix: &str) -> Result<Vec<String>, HostError> {
        host::key_value::list_keys(prefix)
    }

    /// What [`put`] stored under a key.
    ///
    /// # Errors
    ///
    /// As [`get`], and where the stored JSON does not fit the type.
    pub fn load<T: DeserializeOwned>(key: &str) -> Result<Option<T>, Error> {
        let Some(bytes) = get(key)? else { return Ok(None) };
        json::parse(std::str::from_utf8(&bytes)?, &format!("the stored value of `{key}`")).map(Some)
    }

    /// Stores a value as JSON.
    ///
    /// # Errors
    ///
    /// As [`set`], and where the value has no JSON form.
    pub fn put(key: &str, value: &impl Serialize) -> Result<(), Error> {
        Ok(set(key, &serde_json::to_vec(value)?)?)
    }
}

/// Facts of the running session that the agent sees in its prompt. Needs
/// [`Request::session_memory`](crate::Request::session_memory).
pub mod session_memory {
    use crate::host;
    use crate::types::HostError;

    /// One fact.
    ///
    /// # Errors
    ///
    /// Not granted, or the host failed.
    pub fn get(key: &str) -> Result<Option<String>, HostError> {
        host::session_memory::get(key)
    }

    /// Adds or replaces a fact.
    ///
    /// # Errors
    ///
    /// Not granted, no room left, or the host failed.
    pub fn set(key: &str, value: &str) -> Result<(), HostError> {
        host::session_memory::set(key, value)
    }

    /// Forgets a fact. A key that does not exist is no error.
    ///
    /// # Errors
    ///
    /// Not granted, or the host failed.
    pub fn remove(key: &str) -> Result<(), HostError> {
        host::session_memory::remove(key)
    }

    /// All of it, as the prompt shows it.
    ///
    /// # Errors
    ///
    /// Not granted, or the host failed.
    pub fn snapshot() -> Result<String, HostError> {
        host::session_memory::snapshot()
    }
}

/// Programs on the host. Needs [`Request::process`](crate::Request::process) for the program.
pub mod process {
    use crate::host;
    use crate::types::HostError;

    pub use crate::bindings::contract::capstan::extension::process::{Command, Outcome};

    impl Command {
        /// A program by its file name or absolute path, with its arguments. No shell is involved. It starts with
        /// empty input, an empty environment, and in an empty temporary directory; set the fields for more.
        pub fn new<A: Into<String>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Self {
            Self {
                program: program.to_owned(),
                arguments: arguments.into_iter().map(Into::into).collect(),
                stdin: Vec::new(),
                environment: Vec::new(),
                directory: None,
                timeout_ms: 0,
            }
        }

        /// Runs it to its end.
        ///
        /// # Errors
        ///
        /// Not granted, or it could not be started. A program that ran and failed is an [`Outcome`].
        pub fn run(&self) -> Result<Outcome, HostError> {
            host::process::run(self)
        }
    }

    impl Outcome {
        /// A program that ended by itself and wrote this; for a fake host of a test.
        pub fn new(exit_code: i32, stdout: impl Into<Vec<u8>>) -> Self {
            Self {
                exit_code: Some(exit_code),
                stdout: stdout.into(),
                stderr: Vec::new(),
                truncated: false,
                timed_out: false,
            }
        }

        /// Whether it ended by itself with the exit code 0.
        #[must_use]
        pub fn is_success(&self) -> bool {
            self.exit_code == Some(0) && !self.timed_out
        }
    }
}

/// The host's model. Needs [`Request::model`](crate::Request::model).
pub mod model {
    use crate::host;
    use crate::types::{HostError, Message, ModelResponse};

    /// One completion without tools; its tokens count against the granted budget of the turn.
    ///
    /// # Errors
    ///
    /// Not granted, the budget is used up, or the request failed.
    pub fn complete(messages: &[Message], max_tokens: u32) -> Result<ModelResponse, HostError> {
        host::model::complete(messages, max_tokens)
    }

    /// One question, one answer.
    ///
    /// # Errors
    ///
    /// As [`complete`].
    pub fn ask(prompt: impl Into<String>, max_tokens: u32) -> Result<String, HostError> {
        Ok(complete(&[Message::user(prompt)], max_tokens)?.message.text())
    }
}

/// Events of the extension's own in the turn's stream. Always available.
pub mod events {
    use serde::Serialize;

    use crate::{Error, host};

    /// Emits data under a label (`[a-z0-9-]{1,48}`). Its JSON holds at most 64 KiB.
    ///
    /// # Errors
    ///
    /// The data has no JSON form.
    pub fn emit(label: &str, data: &impl Serialize) -> Result<(), Error> {
        host::events::emit(label, &serde_json::to_string(data)?);
        Ok(())
    }
}
