//! An observer that keeps a record of the tool calls of all sessions, and a slash command that shows it.
//!
//! It reads one event: the end of a round, which holds the model's message with its calls, and their results with the times at
//! which they came. So no state is needed between events: each gets a fresh instance, and what is kept lies in the storage.

mod entry;
mod record;
mod settings;
mod time;

use capstan_sdk::prelude::*;

use entry::Round;
use settings::Config;

/// What the record may take. An entry takes about 200 bytes, with arguments and results up to 900.
const STORAGE_BYTES: u32 = 1 << 20;

/// Stands in the event that is read; the others are passed over before their JSON is.
const ROUND: &str = "\"type\":\"turn_end\"";

/// Entries that `/audit` shows if nothing else is said.
const SHOWN: usize = 20;

fn watch(event: &str) -> Result<()> {
    if !event.contains(ROUND) {
        return Ok(());
    }
    let config: Config = config::get()?;
    let round: Round =
        serde_json::from_str(event).explain("a round could not be read, so it is not recorded")?;
    record::add(round.entries(&config), config.entries)
}

fn show(arguments: &str) -> Result<String> {
    match arguments.trim() {
        "clear" => {
            let count = record::clear()?;
            Ok(format!("Removed {count} entries."))
        }
        "" => record::shown(SHOWN),
        number => {
            let count = number
                .parse()
                .explain("/audit takes the number of entries to show, or `clear`: /audit 50")?;
            record::shown(count)
        }
    }
}

capstan_sdk::extension! {
    summary: "Keeps a record of tool calls; /audit shows it.",
    config: config::schema::<Config>(),
    requests: [Request::key_value(STORAGE_BYTES, "It keeps the record of tool calls there.")],
    observer: watch,
    commands: [command("audit", "Shows the record of tool calls: /audit [NUMBER | clear]", show)],
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
