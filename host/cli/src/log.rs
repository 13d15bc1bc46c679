//! What the host and the extensions say besides the answer: lines on stderr.

use std::io::IsTerminal;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Shows warnings; with `-v` what extensions log, with `-vv` the host's own steps.
///
/// Only our own crates speak: at their debug level, libraries of the network stack would print headers, and keys are in them.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let colour =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .without_time()
        .with_target(false)
        .with_filter(level)
        .with_filter(filter_fn(|event| event.target().starts_with("capstan")));
    // A second start, in a test, finds the first one's subscriber and is content with it.
    if tracing_subscriber::registry().with(lines).try_init().is_err() {
        tracing::debug!("logging had been started before");
    }
}
