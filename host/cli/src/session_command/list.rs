//! `capstan session list`.

use crate::home::Home;
use crate::screen::{self, BOLD, DIM, WARN};
use anyhow::Result;
use capstan_session::{Condition, Listed};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

/// Characters of a name or a first message that fit beside the rest of the line.
const MAX_TITLE_CHARS: usize = 60;

pub(super) fn run(home: &Home, all: bool, as_json: bool) -> Result<()> {
    let cwd = (!all).then_some(home.workspace.as_path());
    let listed = capstan_session::list(&home.sessions(), cwd)?;
    if as_json {
        let values: Vec<_> = listed.iter().map(as_value).collect();
        return super::data(&format!("{}\n", serde_json::to_string_pretty(&values)?));
    }
    if listed.is_empty() {
        let more = if all { "" } else { "; those of other directories: capstan session list --all" };
        let place = if all { home.sessions() } else { home.workspace.clone() };
        screen::note(&format!("capstan: there are no sessions of {}{more}", screen::path(&place)));
        return Ok(());
    }
    let now = SystemTime::now();
    let mut out = String::new();
    for session in &listed {
        let age = now.duration_since(session.modified).unwrap_or_default();
        let at_least = if session.is_whole { "" } else { "+" };
        write!(
            out,
            "{BOLD}{:36}{BOLD:#}  {:>11}  {:>5}{at_least} messages  {}",
            screen::visible(session.id.as_str()),
            ago(age),
            session.n_messages,
            title(session)
        )?;
        if all {
            write!(out, "  {DIM}{}{DIM:#}", screen::brief(&session.cwd, usize::MAX))?;
        }
        writeln!(out)?;
    }
    screen::show(&out)?;
    Ok(())
}

/// What to know it by, and what is wrong with it.
fn title(session: &Listed) -> String {
    let wrong = match &session.condition {
        Condition::Good => None,
        Condition::OtherVersion(version) => Some(format!("format version {version}")),
        Condition::Damaged { line } => Some(format!("damaged in line {line}; opens read-only")),
        Condition::Unreadable { reason } => {
            let reason = screen::brief(reason, MAX_TITLE_CHARS);
            return format!("{WARN}no session: {reason}{WARN:#} in {}", screen::path(&session.path));
        }
    };
    let title = match (&session.name, &session.first_message) {
        (Some(name), _) => screen::brief(name, MAX_TITLE_CHARS),
        (None, Some(said)) => screen::brief(said, MAX_TITLE_CHARS),
        (None, None) => "(nothing was said)".to_owned(),
    };
    match wrong {
        Some(wrong) => format!("{title}  {WARN}{wrong}{WARN:#}"),
        None => title,
    }
}

fn as_value(session: &Listed) -> Value {
    let (state, detail) = match &session.condition {
        Condition::Good => ("good", Value::Null),
        Condition::OtherVersion(version) => ("otherVersion", json!(version)),
        Condition::Damaged { line } => ("damaged", json!(line)),
        Condition::Unreadable { reason } => ("unreadable", json!(reason)),
    };
    json!({
        "id": session.id,
        "path": session.path,
        "cwd": session.cwd,
        "name": session.name,
        "firstMessage": session.first_message,
        "messageCount": session.n_messages,
        "isWhole": session.is_whole,
        "began": session.began,
        "modified": humantime::format_rfc3339_millis(session.modified).to_string(),
        "parentSession": session.parent_session,
        "state": state,
        "detail": detail,
    })
}

/// How long ago, as people say it.
pub(crate) fn ago(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s ago"),
        seconds @ 60..7200 => format!("{} min ago", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}
