//! A component's slash command as the command port.

use super::MAX_REASON_BYTES;
use crate::abi::Interface;
use crate::error::CallError;
use crate::extension::{Caller, Extension};
use crate::import::printable;
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::command::{CommandError, CommandPort};
use capstan_ports::extension::CommandDeclaration;
use capstan_ports::session::SessionId;
use tokio_util::sync::CancellationToken;

/// Bytes of an answer that the user is shown; the rest is cut. Nobody reads more of it on a screen.
const MAX_SHOWN_BYTES: usize = 64 << 10;

pub(super) struct ComponentCommand {
    extension: Extension,
    declaration: CommandDeclaration,
}

impl ComponentCommand {
    pub(super) fn new(extension: &Extension, declaration: &CommandDeclaration) -> Self {
        Self { extension: extension.clone(), declaration: declaration.clone() }
    }

    fn error(&self, source: CallError) -> CommandError {
        CommandError {
            name: self.declaration.name.clone(),
            message: format!("the extension {}: {source}", self.extension.id()),
            source: Some(Box::new(source)),
        }
    }
}

#[async_trait]
impl CommandPort for ComponentCommand {
    fn name(&self) -> &str {
        &self.declaration.name
    }

    fn description(&self) -> &str {
        &self.declaration.description
    }

    fn owner(&self) -> &str {
        self.extension.id().as_str()
    }

    async fn run(
        &self,
        session: &SessionId,
        arguments: &str,
        cancel: &CancellationToken,
    ) -> Result<String, CommandError> {
        // What a person asks for is like a turn of its own.
        self.extension.begin_budget(session);
        let caller = Caller { session, turn: None, cancel, progress: None, input_bytes: arguments.len() };
        let (name, rest) = (self.declaration.name.clone(), arguments.to_owned());
        let answer = self.extension.call(Role::Command, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.commands else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_run(store, &name, &rest).await.map(Some)
            })
        });
        match answer.await.map_err(|source| self.error(source))? {
            Some(Ok(text)) => Ok(printable(&text, MAX_SHOWN_BYTES)),
            Some(Err(text)) => Err(CommandError {
                name: self.declaration.name.clone(),
                message: printable(&text, MAX_REASON_BYTES),
                source: None,
            }),
            None => Err(self.error(CallError::NotExported(Interface::Commands))),
        }
    }
}
