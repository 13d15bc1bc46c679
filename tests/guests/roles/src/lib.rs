//! Plays every part beside tools and hooks: plan formats, compaction strategies, a watcher, a memory in a file, commands.

mod compaction;
mod notes;
mod plans;

use capstan_sdk::prelude::*;
use capstan_sdk::{events, store};

/// Names each event, and what an event of an extension's own holds.
fn watch(event: &str) -> Result<()> {
    let event: serde_json::Value = serde_json::from_str(event)?;
    let kind = event["type"].as_str().unwrap_or("(none)");
    log::info!("seen: {kind} {}", event["data"]);
    // Were this heard by observers, it would never end.
    events::emit("heard", &kind)
}

fn count(arguments: &str) -> Result<String> {
    Ok(format!("{} words", arguments.split_whitespace().count()))
}

/// What no screen may show as it is.
fn paint(_arguments: &str) -> Result<String> {
    Ok("\u{1b}[31mred\u{202e}".to_owned())
}

/// Storage is granted, so what this says is the host's word about its own.
fn keep(arguments: &str) -> Result<String> {
    store::set("kept", arguments.as_bytes())?;
    Ok("kept".to_owned())
}

fn tell(arguments: &str) -> Result<String> {
    events::emit("told", &arguments)?;
    Ok(String::new())
}

fn refuse(arguments: &str) -> Result<String> {
    Err(Error::new(format!("not with `{arguments}`")))
}

fn spin(_arguments: &str) -> Result<String> {
    loop {
        std::hint::black_box(());
    }
}

capstan_sdk::extension! {
    summary: "Plays every part beside tools and hooks.",
    requests: [
        Request::power(Power::Compress, "It shortens conversations."),
        Request::power(Power::Remember, "It keeps notes."),
        Request::write_directory("./notes", "The notes lie there."),
        Request::key_value(1_000, "To see whether a plan parser sees it."),
        Request::environment("PATH", "To see whether a plan parser sees it."),
    ],
    plan_parsers: [plan_parser("list", plans::list), plan_parser("surroundings", plans::surroundings)],
    compressors: [
        compressor("tail", compaction::tail),
        compressor("summary", compaction::summary),
        compressor("fresh", compaction::fresh),
        compressor("orphan", compaction::orphan),
    ],
    observer: watch,
    memory: notes::Notes,
    commands: [
        command("count", "Counts the words of the line.", count),
        command("paint", "Answers what no screen may show.", paint),
        command("keep", "Keeps the line in its storage.", keep),
        command("tell", "Tells observers the line.", tell),
        command("refuse", "Does not do it.", refuse),
        command("spin", "Never ends.", spin),
    ],
}
