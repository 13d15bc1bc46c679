//! Servers for people and for programs.

use super::Place;
use crate::screen::{self, BAD, BOLD, DIM, GOOD, WARN, brief, visible};
use anyhow::Result;
use capstan_mcp::client::{Look, Seen, Server, Standing};
use futures::future::join_all;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

/// What is known of one server.
type Known<'s> = (&'s Server, Option<Result<Look, String>>);

/// All servers; those that are enabled are started for it.
pub(super) async fn list(place: &Place, json: bool) -> Result<ExitCode> {
    let servers: Vec<_> = place.config.mcp.values().collect();
    let looks = servers.iter().map(|server| place.servers.look(server.name.as_str()));
    let known: Vec<Known<'_>> = servers.iter().copied().zip(join_all(looks).await).collect();
    if json {
        let all: Vec<_> = known.iter().map(|(server, look)| as_json(server, look.as_ref())).collect();
        screen::json(&serde_json::to_string(&all)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if known.is_empty() {
        screen::note(&format!(
            "There are no MCP servers. To add one, put a table [mcp.NAME] with `command` or `url` into {}",
            screen::path(&place.home.config_file())
        ));
    }
    let mut out = String::new();
    for (server, look) in &known {
        head(&mut out, server, look.as_ref())?;
        if let Some(Ok(look)) = look {
            tools(&mut out, server, look)?;
        }
    }
    screen::show(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// One server, with what it wrote to stderr. Fails if the server does.
pub(super) async fn test(place: &Place, name: &str, json: bool) -> Result<ExitCode> {
    let server = place.server(name)?;
    let look = place.servers.look(name).await;
    let code = if matches!(look, Some(Ok(_))) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if json {
        screen::json(&as_json(server, look.as_ref()).to_string())?;
        return Ok(code);
    }
    let mut out = String::new();
    head(&mut out, server, look.as_ref())?;
    if let Some(Ok(look)) = &look {
        tools(&mut out, server, look)?;
        if !look.stderr.is_empty() {
            writeln!(out, "{DIM}    the end of what it wrote to stderr:")?;
            for line in look.stderr.lines() {
                writeln!(out, "      {}", brief(line, 200))?;
            }
            write!(out, "{DIM:#}")?;
        }
    }
    screen::show(&out)?;
    Ok(code)
}

fn head(out: &mut String, server: &Server, look: Option<&Result<Look, String>>) -> Result<()> {
    let reach = brief(&server.reach.to_string(), 120);
    match look {
        None => writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}disabled{DIM:#}  {reach}", server.name)?,
        Some(Err(reason)) => {
            writeln!(out, "{BOLD}{}{BOLD:#}  {BAD}failed{BAD:#}  {reach}", server.name)?;
            for line in visible(reason).lines() {
                writeln!(out, "    {line}")?;
            }
        }
        Some(Ok(look)) => {
            writeln!(out, "{BOLD}{}{BOLD:#}  {GOOD}ready{GOOD:#}  {reach}", server.name)?;
            let about = &look.about;
            let own = [&about.name, &about.version].map(|text| brief(text, 60)).join(" ");
            let own =
                if own.trim().is_empty() { "a server that does not say its name".to_owned() } else { own };
            writeln!(
                out,
                "{DIM}    {own}, protocol {}, ready in {} ms{DIM:#}",
                brief(&about.protocol, 20),
                look.took.as_millis()
            )?;
        }
    }
    Ok(())
}

fn tools(out: &mut String, server: &Server, look: &Look) -> Result<()> {
    let width = look.tools.iter().map(|tool| tool.definition.name.len()).max().unwrap_or(0);
    for tool in &look.tools {
        let (style, word) = match tool.standing {
            Standing::Approved => (GOOD, "allowed"),
            Standing::New => (WARN, "new"),
            Standing::Modified { .. } => (WARN, "modified"),
        };
        let reads = if tool.is_read_only { " (only reads, by your word)" } else { "" };
        writeln!(
            out,
            "    {:width$}  {style}{word:8}{style:#}  {}{reads}",
            tool.definition.name,
            brief(&tool.definition.description, 80)
        )?;
    }
    for tool in &look.left_out {
        writeln!(out, "    {BAD}{}{BAD:#} is left out: {}", brief(&tool.tool, 60), brief(&tool.reason, 300))?;
    }
    if look.tools.iter().any(|tool| tool.standing != Standing::Approved) {
        writeln!(
            out,
            "{DIM}    to look at what is not allowed, and allow it: capstan mcp allow {}{DIM:#}",
            server.name
        )?;
    }
    Ok(())
}

/// The word for where a tool stands.
pub(super) fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Approved => "allowed",
        Standing::New => "new",
        Standing::Modified { .. } => "modified",
    }
}

fn as_json(server: &Server, look: Option<&Result<Look, String>>) -> Value {
    let mut value = json!({"name": server.name.as_str(), "reach": server.reach.to_string()});
    match look {
        None => value["state"] = json!("disabled"),
        Some(Err(reason)) => {
            value["state"] = json!("failed");
            value["reason"] = json!(reason);
        }
        Some(Ok(look)) => {
            value["state"] = json!("ready");
            value["protocol"] = json!(look.about.protocol);
            value["server"] = json!({"name": look.about.name, "version": look.about.version});
            value["readyMs"] = json!(look.took.as_millis() as u64);
            value["tools"] = look.tools.iter().map(tool_json).collect();
            let left_out = look.left_out.iter();
            value["leftOut"] =
                left_out.map(|tool| json!({"tool": tool.tool, "reason": tool.reason})).collect();
            value["stderr"] = json!(look.stderr);
        }
    }
    value
}

fn tool_json(tool: &Seen) -> Value {
    let mut value = json!({
        "tool": tool.own,
        "name": tool.definition.name,
        "state": word(&tool.standing),
        "readOnly": tool.is_read_only,
        "description": tool.definition.description,
        "parameters": tool.definition.parameters,
    });
    if let Standing::Modified { difference } = &tool.standing {
        value["difference"] = json!(difference);
    }
    value
}
