//! Git commands that lose work: others' by force, one's own by reset.

use super::{has_option, options};
use crate::finding::Finding;
use crate::words::{self, Argument};

/// Options before the subcommand that take the next argument.
const VALUED: [&str; 7] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

/// The subcommand and its arguments.
fn subcommand(arguments: &[Argument]) -> Option<(&str, &[Argument])> {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        if !argument.text.starts_with('-') {
            return Some((&argument.text, &arguments[at + 1..]));
        }
        at += if VALUED.contains(&argument.text.as_str()) { 2 } else { 1 };
    }
    None
}

pub(super) fn check(arguments: &[Argument]) -> Option<Finding> {
    let (name, rest) = subcommand(arguments)?;
    let says = |option: &str| rest.iter().any(|argument| argument.text == option);
    let ask = |text: &str| Some(Finding::Ask(text.to_owned()));
    match name {
        "push" => push(rest),
        "reset" if says("--hard") => ask("`git reset --hard` throws away changes that are not committed."),
        "clean" if has_option(rest, 'f', &["force"]) && !has_option(rest, 'n', &["dry-run"]) => {
            ask("`git clean -f` deletes files that git does not know.")
        }
        "checkout" | "restore" if says(".") || says(":/") || says("*") => Some(Finding::Ask(format!(
            "`git {name}` of everything throws away all changes that are not committed."
        ))),
        "stash" if says("clear") => ask("`git stash clear` deletes all stashed work."),
        "reflog" if says("expire") => ask("`git reflog expire` deletes the way back to lost commits."),
        "filter-branch" | "filter-repo" => {
            Some(Finding::Ask(format!("`git {name}` rewrites the history of the repository.")))
        }
        _ => None,
    }
}

fn push(rest: &[Argument]) -> Option<Finding> {
    let forced = options(rest)
        .any(|option| option == "--force" || (!option.starts_with("--") && option.contains('f')));
    // `--for` and `--forc` mean `--force-with-lease` to nobody, but git accepts them for `--force`.
    let shortened = options(rest).any(|option| matches!(option, "--forc" | "--for" | "--fo"));
    let refspec = rest.iter().find(|argument| argument.text.starts_with('+'));
    if forced || shortened {
        return Some(Finding::Block(
            "`git push --force` overwrites what others have pushed. Push to a new branch, or let a person do it.".to_owned(),
        ));
    }
    if let Some(refspec) = refspec {
        return Some(Finding::Block(format!(
            "`git push … {}` forces by the `+` and overwrites what others have pushed. Push to a new branch.",
            refspec.text
        )));
    }
    if options(rest).any(|option| option.starts_with("--mirror")) {
        return Some(Finding::Block(
            "`git push --mirror` deletes and overwrites every branch of the remote.".to_owned(),
        ));
    }
    if options(rest).any(|option| option.starts_with("--force-")) {
        return Some(Finding::Ask(
            "`git push --force-with-lease` rewrites a branch of the remote.".to_owned(),
        ));
    }
    let deletes = options(rest)
        .any(|option| option.starts_with("--de") || (!option.starts_with("--") && option.contains('d')))
        || rest.iter().any(|argument| argument.text.len() > 1 && argument.text.starts_with(':'))
        || options(rest).any(|option| option == "--prune");
    deletes.then(|| Finding::Ask("this `git push` deletes a branch of the remote.".to_owned()))
}

/// Commands that `-c alias.NAME=!COMMAND` defines.
pub(super) fn aliases(arguments: &[Argument]) -> Vec<Vec<Argument>> {
    arguments
        .windows(2)
        .filter(|pair| pair[0].text == "-c" && pair[1].text.starts_with("alias."))
        .filter_map(|pair| {
            let (_, command) = pair[1].text.split_once("=!")?;
            Some(vec![
                words::Argument::known("eval"),
                Argument { text: command.to_owned(), known: pair[1].known },
            ])
        })
        .collect()
}
