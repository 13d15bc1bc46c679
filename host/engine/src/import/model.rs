//! Sub-completions by the host's model: the capability `model`.

use crate::bindings::capstan::extension::model;
use crate::bindings::capstan::extension::types::{HostError, Message, ModelResponse};
use crate::state::State;

impl model::Host for State {
    async fn complete(
        &mut self,
        _messages: Vec<Message>,
        _max_tokens: u32,
    ) -> wasmtime::Result<Result<ModelResponse, HostError>> {
        super::denied("model")
    }
}
