//! A compressor that has the host's model summarize a conversation before it fills the window, and cuts it where a turn begins.

mod cut;
mod settings;

use capstan_sdk::SummaryOrder;
use capstan_sdk::prelude::*;

use settings::Config;

/// What is worth a call of the model, as a share of the room: a conversation that is near the threshold for another reason (a long
/// system prompt, many tools) would be summarized again and again for nothing.
const LEAST_SHARE: f64 = 0.1;

/// What every summary keeps in mind.
const INSTRUCTIONS: &str = "Keep, in this order: what the user wants, in the user's own words, and how that changed; what was decided, \
and why; which files were read or changed, with their paths and what changed in them; which commands were run and what came \
of them; errors that are not solved yet, word for word; what is left to do, the next step first. Leave out greetings, \
contents of files that can be read again, and attempts that led nowhere beyond one line each on why.";

fn early(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    let config = config::get::<Config>()?.checked()?;
    let window = if context.window_tokens == 0 { config.window_tokens } else { context.window_tokens };
    let room = f64::from(window.saturating_sub(context.reserve_tokens));
    let used = f64::from(context.used_tokens);
    // A wish of the user's means that somebody asked for it by hand.
    let is_due = window > 0 && used > room * config.start;
    if !is_due && context.instructions.is_none() {
        return Ok(Action::None);
    }
    // Both numbers count the same messages; the host's also knows what the provider counted, instructions and tools
    // among it.
    let sizes: Vec<usize> = messages.iter().map(cut::tokens).collect();
    let estimated: usize = sizes.iter().sum();
    let factor = if used > 0.0 { (estimated as f64 / used).min(1.0) } else { 1.0 };
    let budget = if window > 0 { room * config.keep * factor } else { estimated as f64 * config.keep };
    let first_kept = cut::first_kept(&messages, config.turns, budget as usize);
    let gone: usize = sizes[..first_kept].iter().sum();
    let is_worth_it = gone as f64 >= room * factor * LEAST_SHARE || context.instructions.is_some();
    if first_kept == 0 || !is_worth_it {
        return Ok(Action::None);
    }
    Ok(Action::Summarize(SummaryOrder {
        first_kept: u32::try_from(first_kept)?,
        instructions: instructions(&config.instructions, context.instructions.as_deref()),
    }))
}

/// The standing instructions, then the user's, which count for more.
fn instructions(configured: &str, wished: Option<&str>) -> String {
    let mut text = INSTRUCTIONS.to_owned();
    for more in
        [configured, wished.unwrap_or_default()].into_iter().map(str::trim).filter(|it| !it.is_empty())
    {
        text.push_str("\nAbove all: ");
        text.push_str(more);
    }
    text
}

capstan_sdk::extension! {
    summary: "Has old messages summarized early, and keeps the newest turns as they are.",
    config: config::schema::<Config>(),
    requests: [Request::power(Power::Compress, "It has old messages replaced by a summary when a conversation grows long.")],
    compressors: [compressor("early", early)],
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
