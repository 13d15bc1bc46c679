//! `/compact`, and waiting for what takes a model's time without being a turn.

use super::{Next, Repl};
use crate::print::Stop;
use anyhow::{Context, Result};

/// How something ended that can be stopped.
pub(super) enum Waited<T> {
    /// With this, and with a stop on the way if there was one.
    Done(T, Option<Stop>),
    /// Somebody did not want to wait until it had stopped.
    Left(Stop),
}

impl Repl {
    /// Waits for work on the session. The first Ctrl-C or SIGTERM stops it, the second one leaves it.
    pub(super) async fn watched<T>(&mut self, work: impl Future<Output = T>) -> Result<Waited<T>> {
        tokio::pin!(work);
        let mut stopped = None;
        loop {
            let stop = tokio::select! {
                done = &mut work => return Ok(Waited::Done(done, stopped)),
                pressed = tokio::signal::ctrl_c() => pressed.map(|()| Stop::Interrupt).context("Ctrl-C cannot be watched")?,
                _ = self.terminate.recv() => Stop::Terminate,
            };
            if stopped.is_some() {
                return Ok(Waited::Left(stop));
            }
            stopped = Some(stop);
            self.session.agent().abort();
        }
    }

    /// `/compact [INSTRUCTIONS]`
    pub(super) async fn compact(&mut self, instructions: &str) -> Result<Next> {
        let (session, instructions) = (self.session.clone(), Some(instructions.to_owned()));
        let compacting = session.compact(instructions.filter(|text| !text.is_empty()));
        match self.watched(compacting).await? {
            Waited::Left(stop) => Ok(Next::Drop(stop.exit_code())),
            Waited::Done(done, Some(Stop::Terminate)) => {
                drop(done);
                Ok(Next::Leave(Stop::Terminate.exit_code()))
            }
            // That it began and how it ended is shown as it happens.
            Waited::Done(Ok(_compacted), _) => Ok(Next::Line),
            Waited::Done(Err(error), _) => Err(error.into()),
        }
    }
}
