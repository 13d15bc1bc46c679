//! Which programs a command line runs, well enough to know whose output it is.

/// Programs that show files and texts: what they print is what was asked for, to the letter.
const READERS: [&str; 42] = [
    "cat", "head", "tail", "less", "more", "sed", "awk", "grep", "egrep", "fgrep", "rg", "ag", "ls", "find",
    "fd", "tree", "echo", "printf", "wc", "sort", "uniq", "cut", "tr", "diff", "cmp", "jq", "yq", "column",
    "nl", "xxd", "od", "hexdump", "strings", "file", "stat", "cd", "pwd", "export", "set", "true", "test",
    "bat",
];

/// Programs that only run another one.
const WRAPPERS: [&str; 22] = [
    "sudo", "env", "time", "nice", "timeout", "stdbuf", "nohup", "xvfb-run", "npx", "bunx", "poetry", "uv",
    "pipenv", "bundle", "exec", "command", "run", "python", "python3", "pnpm", "yarn", "npm",
];

/// The names of the programs of a command line, wrappers and what they run.
pub(crate) fn programs(command: &str) -> Vec<&str> {
    let mut programs = Vec::new();
    let is_end = |character: char| matches!(character, ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}');
    for simple in command.split(is_end) {
        // A wrapper's options and their values lie between it and the program.
        let mut looks_further = 0;
        for word in simple.split_whitespace() {
            let is_program = !word.contains('=') && !word.starts_with(['-', '>', '<', '"', '\'', '#', '$']);
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b's');
            if !is_program || is_number {
                continue;
            }
            let name = word.rsplit('/').next().unwrap_or(word);
            programs.push(name);
            if WRAPPERS.contains(&name) {
                looks_further = 3;
            } else if looks_further == 0 {
                break;
            }
            if looks_further == 1 {
                break;
            }
            looks_further -= 1;
        }
    }
    programs
}

/// Whether every program shows what it was asked for, so that nothing of it is noise.
pub(crate) fn only_reads(programs: &[&str]) -> bool {
    programs.iter().all(|program| READERS.contains(program))
}

/// Whether the person or the model wants the whole output: the command ends with the comment `# full`.
pub(crate) fn wants_all(command: &str) -> bool {
    command.trim_end().rsplit_once('#').is_some_and(|(_, comment)| comment.trim() == "full")
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
