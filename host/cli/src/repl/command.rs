//! One slash command: runs until it answers, or until the user has enough.

use crate::commands::Commands;
use crate::print::Stop;
use crate::screen::{self, visible};
use anyhow::{Context, Result};
use capstan_ports::{CommandPort, SessionId};
use tokio::signal::unix::Signal;
use tokio_util::sync::CancellationToken;

/// Runs it and shows what it answers. Ctrl-C and SIGTERM end it at once; then which of them is answered.
pub(super) async fn run(
    command: &dyn CommandPort,
    session: &SessionId,
    arguments: &str,
    terminate: &mut Signal,
) -> Result<Option<Stop>> {
    let cancel = CancellationToken::new();
    // Tells the command, also when this future is dropped.
    let _ended = cancel.clone().drop_guard();
    let stop = tokio::select! {
        answer = command.run(session, arguments, &cancel) => {
            match answer {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => screen::show(&format!("{}\n", screen::beginning(text.trim_end())))?,
                Err(error) => screen::complain(&anyhow::Error::new(error)),
            }
            return Ok(None);
        }
        pressed = tokio::signal::ctrl_c() => pressed.map(|()| Stop::Interrupt).context("Ctrl-C cannot be watched")?,
        _ = terminate.recv() => Stop::Terminate,
    };
    screen::note(&format!("capstan: /{} was interrupted", visible(command.name())));
    Ok(Some(stop))
}

/// Says that there is no such command, and which there are.
pub(super) fn unknown(name: &str, commands: &Commands) {
    screen::note(&format!(
        "capstan: there is no command /{}. To send this line to the model, begin it with //. There is:\n{}",
        screen::brief(name, 60),
        commands.list().trim_end()
    ));
}
