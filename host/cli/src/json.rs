//! `capstan --mode json`: every event of the run as one line of JSON on stdout.

use crate::args::Args;
use crate::explain::Explanations;
use crate::output::Output;
use crate::start::Start;
use crate::{compose, events, print};
use anyhow::Result;
use std::process::ExitCode;
use std::time::Duration;

/// How long the end waits for a slow reader. Far beyond what any takes that reads at all.
pub(crate) const READER_MAY_TAKE: Duration = Duration::from_secs(60);

/// Runs the prompt; the first line is that of the session's file, the others are its events.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let prompt = print::prompt(&args)?;
    let Start { home, which } = Start::of(&args.session)?;
    let composed = compose::session(&home, &args.setup, print::plan(which)).await?;
    let prompt = composed.live.commands().current().expand(prompt)?;
    let output = Output::stdout()?;
    output.line(&composed.header).await;
    let explanations = Explanations::of(&home, &composed);
    events::write(&composed.session, composed.live.running(), &output);
    let turn = print::turn(&composed.session, prompt).await;
    let turn = print::kept(&explanations, turn);
    composed.finish(&home).await;
    // Also what extensions said to the end of the session.
    output.flush(READER_MAY_TAKE).await;
    let turn = turn?;
    Ok(turn.exit_code())
}
