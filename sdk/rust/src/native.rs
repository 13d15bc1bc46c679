//! Stand-ins for the imports on native targets: one fake host for each thread, so that tests run side by side.

use std::cell::RefCell;

use crate::testing::{Host, Recorded};

pub(crate) struct State {
    pub(crate) host: Host,
    pub(crate) recorded: Recorded,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State { host: Host::new(), recorded: Recorded::default() });
}

/// Puts another state in the place of the present one and answers that.
pub(crate) fn swap(state: State) -> State {
    STATE.replace(state)
}

fn with<T>(use_it: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(use_it)
}

pub(crate) mod log {
    use crate::log::Level;

    pub(crate) fn write(level: Level, message: &str) {
        super::with(|state| state.recorded.logs.push((level, message.to_owned())));
    }
}

pub(crate) mod progress {
    pub(crate) fn report(text: &str) {
        super::with(|state| state.recorded.progress.push(text.to_owned()));
    }
}

pub(crate) mod cancellation {
    pub(crate) fn is_cancelled() -> bool {
        super::with(|state| state.host.cancelled)
    }
}

pub(crate) mod config {
    pub(crate) fn get() -> String {
        super::with(|state| state.host.config.to_string())
    }
}

pub(crate) mod events {
    pub(crate) fn emit(label: &str, data: &str) {
        super::with(|state| state.recorded.events.push((label.to_owned(), data.to_owned())));
    }
}

pub(crate) mod key_value {
    use super::State;
    use crate::types::HostError;

    /// What the host says without the grant.
    fn granted<T>(use_it: impl FnOnce(&mut State) -> T) -> Result<T, HostError> {
        super::with(|state| match state.host.denies_storage {
            true => Err(HostError::Denied("key-value".to_owned())),
            false => Ok(use_it(state)),
        })
    }

    pub(crate) fn get(key: &str) -> Result<Option<Vec<u8>>, HostError> {
        granted(|state| state.host.stored.get(key).cloned())
    }

    pub(crate) fn set(key: &str, value: &[u8]) -> Result<(), HostError> {
        super::with(|state| state.recorded.store_writes.push((key.to_owned(), Some(value.to_vec()))));
        granted(|state| drop(state.host.stored.insert(key.to_owned(), value.to_vec())))
    }

    pub(crate) fn remove(key: &str) -> Result<(), HostError> {
        super::with(|state| state.recorded.store_writes.push((key.to_owned(), None)));
        granted(|state| drop(state.host.stored.remove(key)))
    }

    pub(crate) fn list_keys(prefix: &str) -> Result<Vec<String>, HostError> {
        granted(|state| state.host.stored.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
    }
}

pub(crate) mod session_memory {
    use super::State;
    use crate::types::HostError;

    fn granted<T>(use_it: impl FnOnce(&mut State) -> T) -> Result<T, HostError> {
        super::with(|state| match state.host.denies_facts {
            true => Err(HostError::Denied("session-memory".to_owned())),
            false => Ok(use_it(state)),
        })
    }

    pub(crate) fn get(key: &str) -> Result<Option<String>, HostError> {
        granted(|state| state.host.facts.get(key).cloned())
    }

    pub(crate) fn set(key: &str, value: &str) -> Result<(), HostError> {
        super::with(|state| state.recorded.fact_writes.push((key.to_owned(), Some(value.to_owned()))));
        granted(|state| drop(state.host.facts.insert(key.to_owned(), value.to_owned())))
    }

    pub(crate) fn remove(key: &str) -> Result<(), HostError> {
        super::with(|state| state.recorded.fact_writes.push((key.to_owned(), None)));
        granted(|state| drop(state.host.facts.remove(key)))
    }

    pub(crate) fn snapshot() -> Result<String, HostError> {
        granted(|state| {
            let lines: Vec<String> =
                state.host.facts.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            lines.join("\n")
        })
    }
}

pub(crate) mod process {
    use crate::process::{Command, Outcome};
    use crate::types::HostError;

    pub(crate) fn run(command: &Command) -> Result<Outcome, HostError> {
        let program = super::with(|state| {
            state.recorded.programs.push(command.clone());
            state.host.program.clone()
        });
        match program {
            Some(program) => program(command),
            None => Err(HostError::Denied(format!("process:{}", command.program))),
        }
    }
}

pub(crate) mod model {
    use crate::types::{HostError, Message, ModelResponse};

    pub(crate) fn complete(messages: &[Message], max_tokens: u32) -> Result<ModelResponse, HostError> {
        let model = super::with(|state| {
            state.recorded.questions.push((messages.to_vec(), max_tokens));
            state.host.model.clone()
        });
        let Some(model) = model else { return Err(HostError::Denied("model".to_owned())) };
        Ok(ModelResponse::text(model(messages, max_tokens)?))
    }
}

#[cfg(feature = "http")]
pub(crate) mod http {
    use crate::http::url::Url;
    use crate::http::{Error, Request, Response};

    pub(crate) fn send(request: &Request, _url: &Url<'_>) -> Result<Response, Error> {
        let answer = super::with(|state| {
            state.recorded.requests.push(request.clone());
            state.host.http.clone()
        });
        match answer {
            Some(answer) => answer(request),
            None => Err(Error::denied(request)),
        }
    }
}
