//! The scripted MCP server as a program; see `capstan_tests::mcp`.
//!
//! First argument: its folder. Then flags: `--modern`, `--deaf` (answers nothing), `--mute-at-discover`, `--slow MILLISECONDS`,
//! `--exit` (at once, with a line on stderr), `--shout` (a line of no protocol before everything else), `--child` (leaves a process
//! behind that outlives it, whose id is in `child`), `--stay` (does not end when its input does).

use capstan_tests::mcp::script::{A_MOMENT, Reaction, TOO_MANY_BYTES, react};
use serde_json::Value;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let flags: Vec<String> = arguments.collect();
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    drop(std::fs::write(folder.join("pid"), std::process::id().to_string()));
    if has("--exit") {
        eprintln!("there is no database");
        return ExitCode::from(3);
    }
    if has("--child") {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let id = child.map(|child| child.id().to_string()).unwrap_or_default();
        drop(std::fs::write(folder.join("child"), id));
    }
    if let Some(at) = flags.iter().position(|flag| flag == "--slow") {
        let milliseconds = flags.get(at + 1).and_then(|text| text.parse().ok()).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
    let mut stdout = std::io::stdout().lock();
    if has("--shout") {
        drop(writeln!(stdout, "Welcome to the scripted server!"));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if has("--deaf") || has("--mute-at-discover") && message["method"] == "server/discover" {
            continue;
        }
        let mut say = |message: &Value| writeln!(stdout, "{message}").and_then(|()| stdout.flush());
        let said = match react(&folder, has("--modern"), &message) {
            Reaction::Say(messages) => messages.iter().enumerate().try_for_each(|(n, message)| {
                if n > 0 {
                    std::thread::sleep(A_MOMENT);
                }
                say(message)
            }),
            Reaction::Babble(text, answer) => write!(stdout, "{text}")
                .and_then(|()| writeln!(stdout, "{answer}"))
                .and_then(|()| stdout.flush()),
            Reaction::Announce(told, answer) => say(&told).and_then(|()| say(&answer)),
            Reaction::Flood => {
                let piece = vec![b'x'; 1 << 20];
                let pieces = TOO_MANY_BYTES / piece.len();
                (0..pieces).try_for_each(|_| stdout.write_all(&piece)).and_then(|()| stdout.write_all(b"\n"))
            }
            Reaction::Nothing => Ok(()),
            Reaction::Crash => {
                eprintln!("out of cheese");
                return ExitCode::from(7);
            }
        };
        if said.is_err() {
            break;
        }
    }
    while has("--stay") {
        std::thread::sleep(Duration::from_secs(1));
    }
    ExitCode::SUCCESS
}
