//! `capstan memory …`: what the user keeps for the agent, in `memory.sqlite` below the data folder.

mod files;
mod import;

use crate::args::MemoryCommand;
use crate::home::Home;
use crate::screen::{self, BOLD, DIM};
use anyhow::{Context, Result, bail, ensure};
use capstan_ports::{MemoryEntry, MemoryPort, MemoryQuery, MemoryRecord, MemoryStore};
use capstan_storage::{REMEMBERED, SqliteMemory};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::Read;
use std::process::ExitCode;

/// Most bytes of one text. What a search finds goes to the model whole; a longer text is better imported, in parts.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Most bytes of a key.
const MAX_KEY_BYTES: usize = 1_024;

/// Characters of a key and of a text in a list.
const KEY_CHARS: usize = 200;
const TEXT_CHARS: usize = 100;

/// Runs one of the commands.
pub(crate) async fn run(command: MemoryCommand) -> Result<ExitCode> {
    let home = Home::find()?;
    let file = home.memory_file();
    match command {
        MemoryCommand::Add { key, text, json } => add(&SqliteMemory::new(file), key, &text, json).await?,
        MemoryCommand::Search { words, limit, json } => {
            let query = MemoryQuery { top_k: limit, ..MemoryQuery::new(words.join(" ")) };
            let found = MemoryPort::search(&SqliteMemory::read_only(file), &query).await?;
            let found = found.into_iter().map(|MemoryEntry { id, content, metadata, score }| {
                (MemoryRecord { metadata, ..MemoryRecord::new("", id.unwrap_or_default(), content) }, score)
            });
            show(found.collect(), json, "nothing was found")?;
        }
        MemoryCommand::List { json } => {
            let listed = SqliteMemory::read_only(file).list(REMEMBERED).await?;
            let listed = listed.into_iter().map(|record| (record, None));
            show(listed.collect(), json, "nothing is kept; begin with: capstan memory add TEXT")?;
        }
        MemoryCommand::Remove { key, json } => remove(&SqliteMemory::new(file), &key, json).await?,
        MemoryCommand::Import { folder, json } => {
            import::run(&SqliteMemory::new(file), &folder, json).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(memory: &SqliteMemory, key: Option<String>, text: &str, as_json: bool) -> Result<()> {
    let text = if text == "-" { piped()? } else { text.to_owned() };
    ensure!(!text.trim().is_empty(), "there is no text to keep");
    ensure!(
        text.len() <= MAX_TEXT_BYTES,
        "a text may have {}, this one is longer; put it into a file and use: capstan memory import DIR",
        screen::size(MAX_TEXT_BYTES as u64)
    );
    if let Some(key) = &key {
        let length = key.len();
        ensure!(
            (1..=MAX_KEY_BYTES).contains(&length),
            "a key must have 1 to {MAX_KEY_BYTES} bytes, this one has {length}"
        );
    }
    let key = memory.store(MemoryEntry { id: key, ..MemoryEntry::new(text) }).await?;
    if as_json {
        screen::json(&json!({ "key": key }).to_string())?;
    } else {
        screen::show(&format!("{}\n", line(&key)))?;
    }
    Ok(())
}

fn piped() -> Result<String> {
    let mut text = String::new();
    // One more byte shows that there was too much.
    let most = MAX_TEXT_BYTES as u64 + 1;
    std::io::stdin().lock().take(most).read_to_string(&mut text).context("the text cannot be read")?;
    // Most commands end their output with a line break that is not meant.
    Ok(text.trim_end_matches('\n').to_owned())
}

async fn remove(memory: &SqliteMemory, key: &str, as_json: bool) -> Result<()> {
    let mut removed = usize::from(MemoryStore::delete(memory, REMEMBERED, key).await?);
    if removed == 0 {
        let file =
            std::path::absolute(key).map_or_else(|_| key.into(), |path| path.to_string_lossy().into_owned());
        let parts = memory.list(REMEMBERED).await?;
        let parts = parts.into_iter().filter(|part| import::file_of(&part.metadata) == Some(file.as_str()));
        let parts: Vec<_> = parts.map(|part| part.key).collect();
        removed = parts.len();
        memory.change(REMEMBERED, Vec::new(), parts).await?;
    }
    if removed == 0 {
        bail!("nothing is kept under {key}; see what there is with: capstan memory list");
    }
    if as_json {
        screen::json(&json!({ "removed": removed }).to_string())?;
    } else {
        screen::note(&format!("capstan: {} forgotten", count(removed, "text")));
    }
    Ok(())
}

fn show(records: Vec<(MemoryRecord, Option<f64>)>, as_json: bool, otherwise: &str) -> Result<()> {
    if as_json {
        let values: Vec<_> = records.iter().map(|(record, score)| value(record, *score)).collect();
        screen::json(&serde_json::to_string_pretty(&values)?)?;
        return Ok(());
    }
    if records.is_empty() {
        screen::note(&format!("capstan: {otherwise}"));
        return Ok(());
    }
    let mut out = String::new();
    for (record, score) in &records {
        write!(out, "{BOLD}{}{BOLD:#}", screen::brief(&line(&record.key), KEY_CHARS))?;
        if let Some(score) = score {
            write!(out, "  {DIM}{score:.2}{DIM:#}")?;
        }
        writeln!(out, "  {}", screen::brief(&record.value, TEXT_CHARS))?;
    }
    screen::show(&out)?;
    Ok(())
}

fn value(record: &MemoryRecord, score: Option<f64>) -> Value {
    let mut value = Map::from_iter([
        ("key".to_owned(), json!(record.key)),
        ("text".to_owned(), json!(record.value)),
        ("metadata".to_owned(), json!(record.metadata)),
    ]);
    if let Some(score) = score {
        value.insert("score".to_owned(), json!(score));
    }
    Value::Object(value)
}

/// A key as it may be shown, on one line.
fn line(key: &str) -> String {
    screen::visible(key).replace('\n', "\\n")
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
