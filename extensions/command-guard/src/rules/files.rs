//! Deleting, moving and opening up whole trees.

use super::{has_option, operands, options};
use crate::finding::Finding;
use crate::paths::{self, Place};
use crate::unwrap::program;
use crate::words::Argument;

/// `rm`.
pub(super) fn remove(arguments: &[Argument], directory: Option<&str>) -> Option<Finding> {
    if options(arguments).any(|option| option.starts_with("--no-preserve")) {
        return Some(Finding::Block(
            "`rm --no-preserve-root` exists only to delete the root of the file system.".to_owned(),
        ));
    }
    let recursive = has_option(arguments, 'r', &["recursive"])
        || options(arguments).any(|option| is_short(option) && option.contains('R'));
    if !recursive {
        return None;
    }
    let mut found = None;
    for target in operands(arguments) {
        let place = paths::place(&target.text, target.known, directory);
        let Some(loss) = place.loss() else { continue };
        let text = format!("`rm -r {}` deletes {loss}.", target.text);
        let everything_here = place == Place::Current && target.text.ends_with('*');
        Finding::raise(
            &mut found,
            if everything_here || place == Place::RootIfEmpty {
                Finding::Ask(text)
            } else {
                Finding::Block(format!("{text} Name the files or the subfolder instead."))
            },
        );
    }
    found
}

/// `find` with `-delete` or `-exec rm`.
pub(super) fn find(arguments: &[Argument], directory: Option<&str>) -> Option<Finding> {
    let start = arguments
        .iter()
        .position(|argument| argument.text.starts_with(['-', '(', '!']))
        .unwrap_or(arguments.len());
    let (roots, expression) = arguments.split_at(start);
    let removes = expression.iter().any(|argument| argument.text == "-delete")
        || executed(arguments)
            .iter()
            .any(|command| command.first().is_some_and(|name| program(&name.text) == "rm"));
    if !removes {
        return None;
    }
    // Tests narrow down what is deleted; without any it is the whole tree.
    const TESTS: [&str; 14] = [
        "-name", "-iname", "-path", "-ipath", "-regex", "-type", "-empty", "-newer", "-mtime", "-mmin",
        "-atime", "-size", "-user", "-perm",
    ];
    let narrowed = expression.iter().any(|argument| TESTS.contains(&argument.text.as_str()));
    let here = [Argument::known(".")];
    let roots = if roots.is_empty() { &here[..] } else { roots };
    roots.iter().find_map(|root| {
        let place = paths::place(&root.text, root.known, directory);
        let loss = place.loss()?;
        let text = format!("`find {}` with a delete removes files below {loss}.", root.text);
        match place {
            Place::Current | Place::Above | Place::RootIfEmpty if narrowed => None,
            Place::Home | Place::System if narrowed => Some(Finding::Ask(text)),
            _ => Some(Finding::Block(format!("{text} Start at the subfolder that is meant."))),
        }
    })
}

/// The commands after `-exec`, `-execdir`, `-ok` and `-okdir`.
pub(super) fn executed(arguments: &[Argument]) -> Vec<Vec<Argument>> {
    let mut all = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest
        .iter()
        .position(|argument| matches!(argument.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        rest = &rest[at + 1..];
        let end = rest
            .iter()
            .position(|argument| matches!(argument.text.as_str(), ";" | "+"))
            .unwrap_or(rest.len());
        all.push(rest[..end].to_vec());
        rest = &rest[end..];
    }
    all
}

/// `chmod`, `chown` and `chgrp` over a whole tree.
pub(super) fn change(name: &str, arguments: &[Argument], directory: Option<&str>) -> Option<Finding> {
    let recursive = options(arguments)
        .any(|option| option == "--recursive" || (is_short(option) && option.contains('R')));
    if !recursive {
        return None;
    }
    operands(arguments).skip(1).find_map(|target| match paths::place(&target.text, target.known, directory) {
        place @ (Place::Root | Place::System | Place::Home | Place::RootIfEmpty) => Some(Finding::Block(format!(
            "`{name} -R … {}` changes the rights of {}, which cannot be undone. Name the subfolder instead.",
            target.text,
            place.loss()?
        ))),
        Place::Current | Place::Above | Place::Elsewhere => None,
    })
}

/// `mv` of a place that others rely on.
pub(super) fn move_away(arguments: &[Argument], directory: Option<&str>) -> Option<Finding> {
    let operands: Vec<&Argument> = operands(arguments).collect();
    let (target, sources) = operands.split_last()?;
    if target.text == "/dev/null" {
        return Some(Finding::Block("`mv … /dev/null` destroys the files or the device.".to_owned()));
    }
    sources.iter().find_map(|source| match paths::place(&source.text, source.known, directory) {
        place @ (Place::Root | Place::System | Place::Home) if !source.text.ends_with('*') => {
            Some(Finding::Block(format!("`mv {}` moves {} away.", source.text, place.loss()?)))
        }
        _ => None,
    })
}

fn is_short(option: &str) -> bool {
    !option.starts_with("--")
}
