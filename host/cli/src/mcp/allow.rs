//! What a server says of its tools, for a person to decide on; and the decision.

use super::{Place, approvals, show};
use crate::ext::confirm;
use crate::home::Home;
use crate::screen::{self, BOLD, DIM, GOOD, WARN, visible};
use anyhow::{Context, Result, bail};
use capstan_mcp::client::{Look, Seen, Standing};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Shows the tools that are not allowed as they are, and allows them.
pub(super) async fn allow(place: &Place, name: &str, wanted: &[String], yes: bool) -> Result<ExitCode> {
    let server = place.server(name)?;
    let look = place.servers.look(name).await.context("the server is not there")?;
    let look = look.map_err(|reason| anyhow::anyhow!("the MCP server {name} did not start: {reason}"))?;
    let chosen = choose(name, &look, wanted)?;
    if chosen.is_empty() {
        screen::note(&format!("capstan: everything of {name} that you name is allowed already"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut card = format!("{BOLD}{name}{BOLD:#} {DIM}{}{DIM:#}\n", visible(&server.reach.to_string()));
    for tool in &chosen {
        describe(&mut card, tool)?;
    }
    writeln!(
        card,
        "The server runs outside of the sandbox, with your rights. What it says of its tools goes to the model word for word."
    )?;
    screen::show(&card)?;
    // A script that names the server has decided; a person at a terminal reads first.
    if !yes && std::io::stdin().is_terminal() && !confirm("Allow this?")? {
        screen::note("capstan: nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let names: Vec<_> = chosen.iter().map(|tool| tool.own.clone()).collect();
    place.servers.allow(name, &names);
    approvals::save(&place.home, &place.servers.approvals())?;
    screen::note(&format!("{GOOD}allowed{GOOD:#} {} of {name}", names.len()));
    Ok(ExitCode::SUCCESS)
}

/// Takes everything back from a server.
pub(super) fn revoke(home: &Home, name: &str) -> Result<ExitCode> {
    let mut approvals = approvals::load(home)?;
    let changed = approvals.revoke(name);
    approvals::save(home, &approvals)?;
    let shown = screen::brief(name, 60);
    screen::note(&format!(
        "{GOOD}off{GOOD:#} {shown}{}. To use it again: capstan mcp allow {shown}",
        if changed { "" } else { " (nothing of it was allowed)" }
    ));
    Ok(ExitCode::SUCCESS)
}

/// Those that are not allowed as they are now, of those that are named.
fn choose<'l>(name: &str, look: &'l Look, wanted: &[String]) -> Result<Vec<&'l Seen>> {
    for own in wanted {
        if look.tools.iter().all(|tool| tool.own != *own) {
            let why = look.left_out.iter().find(|tool| tool.tool == *own);
            let why = why.map_or_else(
                || format!("capstan mcp test {name} shows what it offers"),
                |tool| tool.reason.clone(),
            );
            bail!("{name} has no tool {} that can be allowed: {why}", screen::brief(own, 80));
        }
    }
    let is_chosen = |tool: &&Seen| {
        tool.standing != Standing::Approved && (wanted.is_empty() || wanted.contains(&tool.own))
    };
    Ok(look.tools.iter().filter(is_chosen).collect())
}

/// Everything that a model would read, because all of it can lead a model astray.
fn describe(card: &mut String, tool: &Seen) -> Result<()> {
    let definition = &tool.definition;
    writeln!(card, "  {BOLD}{}{BOLD:#} {WARN}{}{WARN:#}", definition.name, show::word(&tool.standing))?;
    let text = match &tool.standing {
        Standing::Modified { difference } => difference.clone(),
        Standing::Approved | Standing::New => {
            format!("{}\ntakes {}", definition.description, definition.parameters)
        }
    };
    for line in visible(&text).lines() {
        writeln!(card, "      {line}")?;
    }
    Ok(())
}
