//! What the host and the extensions say besides the answer: lines on stderr.

use crate::screen;
use std::fmt::Debug;
use std::io::IsTerminal;
use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
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
        // Its report would go to the same stderr that cannot be written.
        .log_internal_errors(false)
        .fmt_fields(debug_fn(field).delimited(" "))
        .with_filter(level)
        .with_filter(filter_fn(|event| event.target().starts_with("capstan")));
    // A second start, in a test, finds the first one's subscriber and is content with it.
    if tracing_subscriber::registry().with(lines).try_init().is_err() {
        tracing::debug!("logging had been started before");
    }
}

/// A field of a line. Errors of extensions, names of files and words of models get into all of them, so all are escaped.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> std::fmt::Result {
    let value = format!("{value:?}");
    match field.name() {
        "message" => write!(writer, "{}", screen::visible(&value)),
        name => write!(writer, "{name}={}", screen::visible(&value)),
    }
}
