//! Programs that only run another program: what is behind them is what counts.

use crate::words::{Argument, joined};

/// What a command really runs.
#[derive(Debug, PartialEq)]
pub(crate) enum Inner {
    /// The command itself.
    Itself,
    /// Another command.
    Command(Vec<Argument>),
    /// A text that a shell reads.
    Script(String),
    /// A shell that reads its standard input.
    Input,
    /// A text that a shell reads and that cannot be known.
    Hidden,
}

/// A program that runs the rest of its arguments.
struct Wrapper {
    name: &'static str,
    /// Options that take the next argument.
    valued: &'static [&'static str],
    /// Arguments before the command, `timeout`'s duration for example.
    skipped: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], skipped: usize) -> Wrapper {
    Wrapper { name, valued, skipped }
}

const WRAPPERS: [Wrapper; 26] = [
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-r", "-t", "-T", "-U", "--user", "--group", "--host",
            "--chdir",
        ],
        0,
    ),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("env", &["-u", "-C", "--unset", "--chdir"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("coproc", &[], 0),
    wrapper("chroot", &["--userspec", "--groups"], 1),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-u"], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("setarch", &[], 1),
    wrapper("taskset", &[], 1),
    wrapper("chrt", &[], 1),
    wrapper("pkexec", &["--user"], 0),
    wrapper("fakeroot", &["-l", "-s", "-i"], 0),
    wrapper("unshare", &[], 0),
    wrapper(
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-d",
            "-a",
            "-L",
            "-s",
            "-E",
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
        ],
        0,
    ),
];

pub(crate) const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"];

/// The last part of a program's path.
pub(crate) fn program(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Looks behind one layer.
pub(crate) fn unwrap(arguments: &[Argument]) -> Inner {
    let Some((first, rest)) = arguments.split_first() else { return Inner::Itself };
    let name = program(&first.text);
    if SHELLS.contains(&name) {
        return shell(rest);
    }
    match name {
        "eval" => script(rest),
        "trap" => match rest.first() {
            Some(action) if action.text.contains(char::is_whitespace) => script(&rest[..1]),
            _ => Inner::Itself,
        },
        "watch" => script(&behind_options(rest, &["-n", "--interval"])),
        "su" | "runuser" | "script" => {
            let command =
                rest.iter().position(|argument| matches!(argument.text.as_str(), "-c" | "--command"));
            match command.and_then(|at| rest.get(at + 1)) {
                Some(text) => script(std::slice::from_ref(text)),
                None => Inner::Itself,
            }
        }
        "ssh" => {
            let behind = behind_options(
                rest,
                &["-i", "-l", "-p", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-e", "-m"],
            );
            // The first is the host.
            if behind.len() > 1 { script(&behind[1..]) } else { Inner::Itself }
        }
        "flock" => {
            let behind = behind_options(rest, &["-w", "-E", "--timeout"]);
            match behind.get(1) {
                Some(option) if option.text == "-c" => script(&behind[2..]),
                Some(_) => Inner::Command(behind[1..].to_vec()),
                None => Inner::Itself,
            }
        }
        "command" => {
            if rest.first().is_some_and(|argument| matches!(argument.text.as_str(), "-v" | "-V")) {
                return Inner::Itself;
            }
            command(behind_options(rest, &[]))
        }
        "env"
            if rest
                .iter()
                .any(|argument| argument.text.starts_with("-S") || argument.text == "--split-string") =>
        {
            let at = rest
                .iter()
                .position(|argument| argument.text.starts_with("-S") || argument.text == "--split-string");
            let mut tail = rest[at.unwrap_or(0)..].to_vec();
            match tail.first_mut() {
                Some(option) if option.text.len() > 2 && option.text.starts_with("-S") => {
                    option.text.drain(..2);
                }
                _ => {
                    tail.remove(0);
                }
            }
            script(&tail)
        }
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => {
                let mut behind = behind_options(rest, wrapper.valued);
                behind.drain(..wrapper.skipped.min(behind.len()));
                while behind.first().is_some_and(|argument| is_assignment(&argument.text)) {
                    behind.remove(0);
                }
                command(behind)
            }
            None => Inner::Itself,
        },
    }
}

fn command(arguments: Vec<Argument>) -> Inner {
    if arguments.is_empty() { Inner::Itself } else { Inner::Command(arguments) }
}

fn script(arguments: &[Argument]) -> Inner {
    joined(arguments).map_or(Inner::Hidden, Inner::Script)
}

/// `sh -c TEXT`, also with joined options such as `-lc`; otherwise a script file, or the input.
fn shell(arguments: &[Argument]) -> Inner {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let text = argument.text.as_str();
        if text.starts_with("--") && text.len() > 2 {
            at += if matches!(text, "--rcfile" | "--init-file") { 2 } else { 1 };
        } else if let Some(letters) =
            text.strip_prefix('-').filter(|letters| !letters.is_empty() && *letters != "-")
        {
            if letters.contains('c') {
                let behind = behind_options(&arguments[at + 1..], &["-o", "-O"]);
                return behind.first().map_or(Inner::Itself, |text| script(std::slice::from_ref(text)));
            }
            if letters.contains('s') {
                return Inner::Input;
            }
            at += if matches!(letters, "o" | "O") { 2 } else { 1 };
        } else if matches!(text, "-" | "--") || text.starts_with('+') {
            at += 1;
        } else {
            return if matches!(text, "/dev/stdin" | "/dev/fd/0") { Inner::Input } else { Inner::Itself };
        }
    }
    Inner::Input
}

/// The arguments behind the leading options.
fn behind_options(arguments: &[Argument], valued: &[&str]) -> Vec<Argument> {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let text = argument.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text.len() < 2 {
            break;
        }
        at += if valued.contains(&text) { 2 } else { 1 };
    }
    arguments.get(at..).unwrap_or_default().to_vec()
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}
