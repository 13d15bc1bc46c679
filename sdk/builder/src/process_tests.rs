use std::time::{Duration, Instant};

use super::{CommandSpec, tail};
use crate::error::BuilderError;

const PLENTY: Duration = Duration::from_secs(30);

fn shell(script: &str) -> CommandSpec {
    CommandSpec::new("sh").args(["-c", script])
}

#[test]
fn a_command_prints_as_one_would_type_it() {
    let command =
        CommandSpec::new("/opt/my tools/cargo").args(["build", "it's", ""]).env("RUSTC", "/usr/bin/rustc");
    assert_eq!(command.to_string(), r"RUSTC=/usr/bin/rustc '/opt/my tools/cargo' build 'it'\''s' ''");
}

#[test]
fn output_and_status_are_collected() {
    let done = shell("echo out; echo err >&2; exit 3").capture(PLENTY).unwrap();
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!(done.status.code(), Some(3));
}

#[test]
fn a_failing_command_is_an_error_with_the_end_of_what_it_said() {
    let error = shell("echo 'error: no such crate' >&2; exit 101").capture_ok(PLENTY).unwrap_err();
    assert!(error.to_string().contains("error: no such crate"), "{error}");
    assert!(error.to_string().contains("101"), "{error}");
}

#[test]
fn a_command_that_says_nothing_on_stderr_is_quoted_from_stdout() {
    let error = shell("echo 'it went wrong'; exit 1").capture_ok(PLENTY).unwrap_err();
    assert!(error.to_string().contains("it went wrong"), "{error}");
}

#[test]
fn a_command_over_its_limit_is_stopped_even_if_a_grandchild_lives_on() {
    let started = Instant::now();
    let error = shell("sleep 20 & sleep 20").capture(Duration::from_millis(100)).unwrap_err();
    assert!(matches!(error, BuilderError::TimedOut { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let error = CommandSpec::new("/nowhere/rustc").capture(PLENTY).unwrap_err();
    assert!(matches!(error, BuilderError::Start { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/rustc"), "{error}");
}

#[test]
fn variables_are_set_and_taken_away() {
    let command = shell("echo ${HOME-none} $COLOUR").without(["HOME".into()]).env("COLOUR", "red");
    assert_eq!(command.capture(PLENTY).unwrap().stdout, "none red\n");
}

#[test]
fn a_tail_is_the_last_lines_only() {
    let long: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    assert!(tail(&long).starts_with("line 26\n") && tail(&long).ends_with("line 40"));
    assert_eq!(tail("short\n\n"), "short");
}
