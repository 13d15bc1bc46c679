//! The built-in rules: what a single command destroys.

mod devices;
mod files;
mod git;

use crate::finding::Finding;
use crate::unwrap::program;
use crate::words::Argument;

pub(crate) use devices::written as device;

/// The objection to one command, if any. `directory` is where the command line went by `cd`.
pub(crate) fn check(arguments: &[Argument], directory: Option<&str>) -> Option<Finding> {
    let (first, rest) = arguments.split_first()?;
    let name = program(&first.text);
    match name {
        "rm" => files::remove(rest, directory),
        "find" => files::find(rest, directory),
        "chmod" | "chown" | "chgrp" => files::change(name, rest, directory),
        "mv" => files::move_away(rest, directory),
        "git" => git::check(rest),
        "kill" if rest.last().is_some_and(|target| target.text == "-1") && rest.len() > 1 => {
            Some(Finding::Block("`kill` with the target `-1` ends every process of the user.".to_owned()))
        }
        "crontab" if rest.iter().any(|argument| argument.text == "-r") => {
            Some(Finding::Ask("`crontab -r` deletes all scheduled jobs.".to_owned()))
        }
        _ => devices::check(name, rest),
    }
}

/// Commands inside the arguments of another one, `find … -exec` and git aliases.
pub(crate) fn nested(arguments: &[Argument]) -> Vec<Vec<Argument>> {
    let Some((first, rest)) = arguments.split_first() else { return Vec::new() };
    match program(&first.text) {
        "find" => files::executed(rest),
        "git" => git::aliases(rest),
        _ => Vec::new(),
    }
}

/// Whether an option is there: one of the long names (also with a value), or the letter among joined short options.
fn has_option(arguments: &[Argument], letter: char, long: &[&str]) -> bool {
    options(arguments).any(|option| match option.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or(name);
            // Programs accept every unambiguous beginning of a long option.
            long.iter().any(|full| name.len() >= 3 && full.starts_with(name))
        }
        None => option.chars().skip(1).any(|character| character == letter),
    })
}

/// The options before `--`.
fn options(arguments: &[Argument]) -> impl Iterator<Item = &str> {
    arguments
        .iter()
        .map(|argument| argument.text.as_str())
        .take_while(|text| *text != "--")
        .filter(|text| text.starts_with('-') && text.len() > 1)
}

/// The arguments that are no options.
fn operands(arguments: &[Argument]) -> impl Iterator<Item = &Argument> {
    let mut only_operands = false;
    arguments.iter().filter(move |argument| {
        if only_operands {
            return true;
        }
        if argument.text == "--" {
            only_operands = true;
            return false;
        }
        !argument.text.starts_with('-') || argument.text.len() == 1
    })
}
