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
    use crate::types::HostError;

    pub(crate) fn get(key: &str) -> Result<Option<Vec<u8>>, HostError> {
        super::with(|state| Ok(state.host.stored.get(key).cloned()))
    }

    pub(crate) fn set(key: &str, value: &[u8]) -> Result<(), HostError> {
        super::with(|state| state.host.stored.insert(key.to_owned(), value.to_vec()));
        Ok(())
    }

    pub(crate) fn remove(key: &str) -> Result<(), HostError> {
        super::with(|state| state.host.stored.remove(key));
        Ok(())
    }

    pub(crate) fn list_keys(prefix: &str) -> Result<Vec<String>, HostError> {
        super::with(|state| {
            Ok(state.host.stored.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
        })
    }
}

pub(crate) mod session_memory {
    use crate::types::HostError;

    pub(crate) fn get(key: &str) -> Result<Option<String>, HostError> {
        super::with(|state| Ok(state.host.facts.get(key).cloned()))
    }

    pub(crate) fn set(key: &str, value: &str) -> Result<(), HostError> {
        super::with(|state| state.host.facts.insert(key.to_owned(), value.to_owned()));
        Ok(())
    }

    pub(crate) fn remove(key: &str) -> Result<(), HostError> {
        super::with(|state| state.host.facts.remove(key));
        Ok(())
    }

    pub(crate) fn snapshot() -> Result<String, HostError> {
        super::with(|state| {
            let lines: Vec<String> =
                state.host.facts.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            Ok(lines.join("\n"))
        })
    }
}

pub(crate) mod process {
    use crate::process::{Command, Outcome};
    use crate::types::HostError;

    pub(crate) fn run(command: &Command) -> Result<Outcome, HostError> {
        let program = super::with(|state| state.host.program.clone());
        match program {
            Some(program) => program(command),
            None => Err(HostError::Denied(format!("process:{}", command.program))),
        }
    }
}

pub(crate) mod model {
    use crate::types::{HostError, Message, ModelResponse, StopReason};

    pub(crate) fn complete(messages: &[Message], max_tokens: u32) -> Result<ModelResponse, HostError> {
        let model = super::with(|state| state.host.model.clone());
        let Some(model) = model else { return Err(HostError::Denied("model".to_owned())) };
        Ok(ModelResponse {
            message: Message::assistant(model(messages, max_tokens)?),
            stop_reason: StopReason::Stop,
            usage: None,
            reasoning_summary: None,
        })
    }
}
