//! The steps, and which code runs each.

use crate::fill::{self, Way};
use crate::{files, http, machine};
use capstan_sdk::prelude::*;
use serde_json::{Value, json};

/// One thing to try. `at` names the granted directory that a path is relative to.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "try", rename_all = "kebab-case")]
pub(crate) enum Step {
    /// The directories that were granted, as the guest sees them.
    Granted,
    /// Reads a file with the standard library, by its absolute path.
    StdRead { path: String },
    /// Writes a file with the standard library, by its absolute path.
    StdWrite { path: String, text: String },
    /// Reads a file. The answer has the length and the first bytes.
    Read { at: String, path: String },
    /// Reads a file without following a last link.
    ReadNoFollow { at: String, path: String },
    /// Opens for writing; with `create` and `truncate` as they say.
    Write { at: String, path: String, text: String, create: bool, truncate: bool },
    /// Opens for reading and asks for another size.
    Resize { at: String, path: String, bytes: u64, write: bool },
    /// Names in a directory, sorted.
    List { at: String, path: String },
    /// Kind and size.
    Stat { at: String, path: String, follow: bool },
    /// Makes a directory.
    Mkdir { at: String, path: String },
    /// Removes a file or a link.
    Remove { at: String, path: String },
    /// Removes a directory.
    Rmdir { at: String, path: String },
    /// Renames, within one directory or from one to another.
    Rename { at: String, path: String, to_at: String, to: String },
    /// A hard link.
    Link { at: String, path: String, to_at: String, to: String },
    /// A symbolic link at `path` that leads to `target`.
    Symlink { at: String, path: String, target: String },
    /// What a link says.
    Readlink { at: String, path: String },
    /// Sets the modification time to now.
    Touch { at: String, path: String },
    /// The same of a link itself.
    TouchNoFollow { at: String, path: String },
    /// The same through a descriptor that was opened for reading.
    TouchOpen { at: String, path: String },
    /// Makes a file that must not be there.
    Make { at: String, path: String },
    /// Counts the entries of a directory.
    Count { at: String, path: String },
    /// Writes pieces of `bytes` to a new file in one of WASI's ways, until `times` are written or one fails. Each begins
    /// `step` bytes after the one before.
    Fill { at: String, path: String, way: Way, bytes: usize, step: u64, times: u32 },
    /// Waits until a file is there.
    Wait { at: String, path: String },
    /// Puts `one` and `other` in turn at `path`, by renaming.
    Swap { at: String, path: String, one: String, other: String, times: u32 },
    /// Reads a file again and again and answers with the different things that it saw.
    Hammer { at: String, path: String, times: u32 },
    /// Opens a file again and again without closing it, and answers how often that worked.
    Hoard { at: String, path: String, times: u32 },
    /// Every environment variable.
    Environment,
    /// The arguments of the program.
    Arguments,
    /// The working directory.
    WorkingDirectory,
    /// Whether any of the three streams is a terminal.
    Terminals,
    /// What can be read from stdin.
    Stdin,
    /// Both clocks: what they say, and how fine they are.
    Clocks,
    /// How small the steps of the monotonic clock are, in nanoseconds.
    ClockSteps,
    /// Random numbers of each kind.
    Random,
    /// This many random bytes in one call; answers how many came.
    RandomBytes { bytes: u64 },
    /// Waits.
    Sleep { millis: u64 },
    /// A TCP connection.
    Connect { ip: [u8; 4], port: u16 },
    /// A UDP socket bound to a port.
    Bind { port: u16 },
    /// Looks a name up.
    Resolve { name: String },
    /// Makes an HTTP request and reads the answer.
    Http { request: http::Request },
    /// Makes a request several times before any answer is read.
    HttpMany { request: http::Request, times: u32 },
    /// Prints `text` over and over until `bytes` are written.
    Print { to: Stream, text: String, bytes: usize },
    /// Writes log lines.
    Log { text: String, lines: u32 },
    /// Emits events.
    Emit { label: String, data: String, times: u32 },
    /// Reports progress.
    Progress { text: String },
    /// Reads this extension's configuration.
    Config,
    /// Panics with `text` repeated to at least `bytes`.
    Panic { text: String, bytes: usize },
    /// Leaves the program.
    Exit { code: u8 },
    /// Takes memory and touches it.
    Allocate { mib: usize },
    /// Computes without end.
    Spin,
}

/// Where to print.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// Runs one step.
pub(crate) fn run(step: Step, call: &Call) -> Result<Value, String> {
    match step {
        Step::Granted => Ok(json!(files::granted())),
        Step::StdRead { path } => {
            std::fs::read_to_string(path).map(Value::from).map_err(|error| error.to_string())
        }
        Step::StdWrite { path, text } => {
            std::fs::write(path, text).map(Value::from).map_err(|error| error.to_string())
        }
        Step::Read { at, path } => files::read(&at, &path, true),
        Step::ReadNoFollow { at, path } => files::read(&at, &path, false),
        Step::Write { at, path, text, create, truncate } => files::write(&at, &path, &text, create, truncate),
        Step::Resize { at, path, bytes, write } => files::resize(&at, &path, bytes, write),
        Step::List { at, path } => files::list(&at, &path),
        Step::Stat { at, path, follow } => files::stat(&at, &path, follow),
        Step::Mkdir { at, path } => files::on(&at, |directory| directory.create_directory_at(&path)),
        Step::Remove { at, path } => files::on(&at, |directory| directory.unlink_file_at(&path)),
        Step::Rmdir { at, path } => files::on(&at, |directory| directory.remove_directory_at(&path)),
        Step::Rename { at, path, to_at, to } => files::rename(&at, &path, &to_at, &to),
        Step::Link { at, path, to_at, to } => files::link(&at, &path, &to_at, &to),
        Step::Symlink { at, path, target } => {
            files::on(&at, |directory| directory.symlink_at(&target, &path))
        }
        Step::Readlink { at, path } => files::on(&at, |directory| directory.readlink_at(&path)),
        Step::Touch { at, path } => files::touch(&at, &path, true),
        Step::TouchNoFollow { at, path } => files::touch(&at, &path, false),
        Step::TouchOpen { at, path } => files::touch_open(&at, &path),
        Step::Make { at, path } => files::make(&at, &path),
        Step::Count { at, path } => files::count(&at, &path),
        Step::Fill { at, path, way, bytes, step, times } => fill::fill(&at, &path, way, bytes, step, times),
        Step::Wait { at, path } => files::wait(&at, &path),
        Step::Swap { at, path, one, other, times } => files::swap(&at, &path, &one, &other, times),
        Step::Hammer { at, path, times } => files::hammer(&at, &path, times),
        Step::Hoard { at, path, times } => files::hoard(&at, &path, times),
        Step::Environment => Ok(json!(machine::environment())),
        Step::Arguments => Ok(json!(std::env::args().collect::<Vec<_>>())),
        Step::WorkingDirectory => Ok(machine::working_directory()),
        Step::Terminals => Ok(machine::terminals()),
        Step::Stdin => machine::stdin(),
        Step::Clocks => Ok(machine::clocks()),
        Step::ClockSteps => Ok(machine::clock_steps()),
        Step::Random => Ok(machine::random()),
        Step::RandomBytes { bytes } => Ok(machine::random_bytes(bytes)),
        Step::Sleep { millis } => {
            std::thread::sleep(std::time::Duration::from_millis(millis));
            Ok(Value::Null)
        }
        Step::Connect { ip, port } => machine::connect(ip, port),
        Step::Bind { port } => machine::bind(port),
        Step::Resolve { name } => machine::resolve(&name),
        Step::Http { request } => http::send(&request),
        Step::HttpMany { request, times } => Ok(http::send_many(&request, times)),
        Step::Print { to, text, bytes } => machine::print(to, &text, bytes),
        Step::Log { text, lines } => {
            (0..lines).for_each(|line| log::info!("{line} {text}"));
            Ok(Value::Null)
        }
        Step::Emit { label, data, times } => {
            let emitted =
                (0..times).try_for_each(|_| capstan_sdk::events::emit(&label, &Value::from(data.as_str())));
            emitted.map(Value::from).map_err(|error| error.message().to_owned())
        }
        Step::Progress { text } => {
            call.progress(text);
            Ok(Value::Null)
        }
        Step::Config => config::get::<Value>().map_err(|error| error.message().to_owned()),
        Step::Panic { text, bytes } => machine::panic_with(&text, bytes),
        Step::Exit { code } => std::process::exit(code.into()),
        Step::Allocate { mib } => Ok(machine::allocate(mib)),
        Step::Spin => loop {
            std::hint::black_box(());
        },
    }
}
