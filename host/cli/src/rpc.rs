//! `capstan --mode rpc`: another program drives the agent. Commands come as lines of JSON on stdin, answers and events go as
//! lines of JSON to stdout, in the form of pi's rpc mode.
//!
//! At the end of stdin what is on goes on to its end, questions are answered with no, and the program ends. When nobody reads
//! stdout any more, and after Ctrl-C and SIGTERM, what is on is ended first. In each case the session is whole.

mod answer;
mod command;
mod desk;
mod facts;
mod framing;
mod history;
mod questions;
mod queues;
mod runs;
mod shell;
mod talk;

use crate::args::Args;
use crate::compose::{self, Composed, Plan};
use crate::explain::Explanations;
use crate::loader::{Loader, Say};
use crate::output::Output;
use crate::print::Stop;
use crate::start::Start;
use crate::watch::Follower;
use crate::{events, print, screen, usage};
use answer::Response;
use anyhow::{Context, Result};
use capstan_agent::trace::{HookEffect, HookRecord};
use capstan_policy::PermissionMode;
use command::Incoming;
use desk::Desk;
use framing::{Frame, MAX_LINE_BYTES};
use questions::Questions;
use queues::{QueueWatch, Queues};
use runs::{Runs, Watch};
use shell::Shell;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

/// How long the end waits for a client that has not read everything yet.
const CLIENT_MAY_TAKE: Duration = Duration::from_secs(5);

/// Serves the client on stdin and stdout to its end.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let Start { home, which } = Start::of(&args.session)?;
    let output = Output::stdout()?;
    let questions = Arc::new(Questions::new(output.clone()));
    let plan = Plan {
        which,
        default_mode: PermissionMode::ReadOnly,
        person: Some(questions.clone()),
        // All extensions are there before the first command is taken up: a gate that is not there yet would be an open one.
        loader: Loader::default(),
    };
    let composed = compose::session(&home, &args.setup, plan).await?;
    let explanations = Explanations::of(&home, &composed);
    let hook_records = composed.trace.follow();
    let Composed { session, catalog, notices, live, sessions, models, loader, shell, .. } = composed;
    let (runs, queues) = (Arc::new(Runs::default()), Arc::new(Queues::default()));
    let agent = session.agent();
    // In this order: an answer comes before what follows from it, and a run is over before its end is written.
    agent.subscribe(Arc::new(Watch(runs.clone())));
    agent.subscribe(Arc::new(QueueWatch {
        queues: queues.clone(),
        session: session.clone(),
        output: output.clone(),
    }));
    events::write(&session, live.running(), &output);
    let (look_at_deferred, deferred) = mpsc::unbounded_channel();
    let desk = Arc::new(Desk {
        session: session.clone(),
        sessions,
        models,
        commands: live.commands(),
        running: live.running(),
        explanations,
        questions,
        runs,
        queues,
        shell: Shell::new(shell, home.workspace.clone(), output.clone()),
        tasks: TaskTracker::new(),
        stop_others: Mutex::default(),
        look_at_deferred,
        max_retries: desk::retries_when_on(&session),
        output: output.clone(),
        home: home.clone(),
    });
    if !args.setup.no_extensions {
        let say: Say = Arc::new(|text| screen::note(&format!("capstan: {text}")));
        let follower = Follower::new(home.clone(), args.setup, live, loader, &catalog, &notices, say);
        tokio::spawn(follower.follow());
    }
    // A session that is continued may have calls that wait for an answer.
    desk.look_at_deferred.send(()).ok();
    let beside =
        [tokio::spawn(desk.clone().settle(deferred)), tokio::spawn(report(desk.clone(), hook_records))];
    let code = serve(&desk, &output).await?;
    beside.iter().for_each(tokio::task::JoinHandle::abort);
    print::finish(&session).await;
    usage::keep(&home, desk.running.lock().unwrap_or_else(PoisonError::into_inner).iter());
    output.flush(CLIENT_MAY_TAKE).await;
    Ok(code)
}

/// Takes up commands until there are no more, and waits for what they began.
async fn serve(desk: &Arc<Desk>, output: &Output) -> Result<ExitCode> {
    let mut terminate = print::terminate()?;
    let lines = framing::lines(std::io::stdin()).context("stdin cannot be read")?;
    let mut served = Box::pin(async {
        take_up(desk, lines).await;
        desk.questions.close();
        desk.tasks.close();
        desk.tasks.wait().await;
    });
    let mut stop = async || {
        tokio::select! {
            _ = terminate.recv() => Ok(Some(Stop::Terminate)),
            pressed = tokio::signal::ctrl_c() => {
                pressed.context("Ctrl-C cannot be watched")?;
                anyhow::Ok(Some(Stop::Interrupt))
            }
        }
    };
    let stopped = tokio::select! {
        () = &mut served => return Ok(ExitCode::SUCCESS),
        () = output.closed() => None,
        stopped = stop() => stopped?,
    };
    // A command that is being taken up ends here, and holds up nobody any more.
    drop(served);
    desk.questions.close();
    desk.stop();
    desk.shell.abort();
    desk.tasks.close();
    tokio::select! {
        () = desk.tasks.wait() => {}
        // A run that waits for its client to read does not end by itself. The session mends at its next start.
        () = tokio::time::sleep(CLIENT_MAY_TAKE) => {}
        // Whoever says it twice does not want to wait.
        again = stop() => drop(again?),
    }
    Ok(stopped.map_or(ExitCode::SUCCESS, Stop::exit_code))
}

async fn take_up(desk: &Arc<Desk>, mut lines: mpsc::Receiver<Frame>) {
    while let Some(frame) = lines.recv().await {
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong(n_bytes) => {
                let text = format!("the line has {n_bytes} bytes; at most {MAX_LINE_BYTES} are read");
                desk.output.line(&Response::failed(None, "parse", text)).await;
                continue;
            }
        };
        match command::read(&line) {
            Incoming::Request(request) => desk.handle(*request).await,
            Incoming::Reply(reply) => desk.questions.answer(reply),
            Incoming::Malformed(response) => desk.output.line(&response).await,
        }
    }
}

/// Tells the client of hooks that fail.
async fn report(desk: Arc<Desk>, records: Option<mpsc::UnboundedReceiver<HookRecord>>) {
    let Some(mut records) = records else { return };
    while let Some(record) = records.recv().await {
        if let HookEffect::Failed(error) = &record.effect {
            let stage = crate::ext::stage_name(&record.stage);
            desk.extension_error(&record.hook, &stage, error).await;
        }
    }
}
