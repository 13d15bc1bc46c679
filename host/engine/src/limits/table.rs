//! The table of limits in the documentation.

use super::{
    Limits, MAX_CALLS_OF_ONE, MAX_CONCURRENT_CALLS, MAX_FILE_BYTES, MAX_KEPT, MAX_STDIO_BYTES, Role,
};
use std::fmt::Write as _;
use std::time::Duration;

/// A limit's name and how its value is written.
type Row = (&'static str, fn(&Limits) -> String);

/// All limits as Markdown, as the README of this crate shows them.
pub fn table() -> String {
    let rows: [Row; 9] = [
        ("wall time", |limits| time(limits.deadline)),
        ("memory, all together", |limits| bytes(limits.memory_bytes as u64)),
        ("bytes into the guest", |limits| bytes(limits.input_bytes as u64)),
        ("bytes out in one host call", |limits| bytes(limits.hostcall_bytes as u64)),
        ("bytes written to files", |limits| bytes(limits.written_bytes)),
        ("calls of host functions", |limits| count(limits.host_calls)),
        ("open resources", |limits| count(limits.resources as u64)),
        ("elements of each table", |limits| count(limits.table_elements as u64)),
        ("log lines × bytes", |limits| {
            format!("{} × {}", count(limits.log_lines.into()), bytes(limits.log_line_bytes as u64))
        }),
    ];
    let mut text = String::from("| in one call |");
    let mut cells = |line: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        text.write_fmt(line).unwrap_or_default();
    };
    Role::ALL.iter().for_each(|role| cells(format_args!(" {} |", role.name())));
    cells(format_args!("\n|---|{}\n", "---|".repeat(Role::ALL.len())));
    for (name, value) in rows {
        cells(format_args!("| {name} |"));
        Role::ALL.iter().for_each(|role| cells(format_args!(" {} |", value(&Limits::of(*role)))));
        cells(format_args!("\n"));
    }
    cells(format_args!(
        "\nA file may have {}. {MAX_CONCURRENT_CALLS} calls run at the same time, {MAX_CALLS_OF_ONE} of one extension; more wait \
         their turn. {MAX_KEPT} instances are kept from call to call. {} of stdout and as much of stderr are kept of a call.\n",
        bytes(MAX_FILE_BYTES),
        bytes(MAX_STDIO_BYTES as u64),
    ));
    text
}

fn time(duration: Duration) -> String {
    match duration.as_millis() {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0 => "–".to_owned(),
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    }
}

/// With a comma before each three digits.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
