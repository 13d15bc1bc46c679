//! Goes through everything that a command line runs, and collects the worst that is found.

use crate::finding::Finding;
use crate::script::{Command, Part, Pipeline, Redirect, Script, Word};
use crate::settings::{Config, Rule, Unreadable};
use crate::unwrap::{self, Inner, program};
use crate::words::{self, Argument, Variables};
use crate::{paths, reader, rules};
use capstan_sdk::glob;

/// Shells within shells beyond this are refused as unreadable.
const MAX_LAYERS: usize = 12;

/// Programs that fetch something from the network.
const DOWNLOADERS: [&str; 6] = ["curl", "wget", "fetch", "aria2c", "http", "https"];
/// Interpreters that run what they read.
const INTERPRETERS: [&str; 8] = ["python", "python2", "python3", "perl", "ruby", "node", "php", "deno"];

/// What flows into a command.
#[derive(Debug, Clone, PartialEq)]
enum Input {
    /// Nothing that could be said about it.
    Unknown,
    Text(String),
    /// Something from the network.
    Download,
}

pub(crate) struct Walk<'a> {
    config: &'a Config,
    variables: Variables,
    /// Where `cd` went; `None` for the folder in which the command line starts.
    directory: Option<String>,
    layers: usize,
    found: Option<Finding>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        Self { config, variables: Variables::new(), directory: None, layers: 0, found: None }
    }

    pub(crate) fn into_finding(self) -> Option<Finding> {
        self.found
    }

    /// A command line.
    pub(crate) fn text(&mut self, text: &str) {
        if self.layers >= MAX_LAYERS {
            return self.unreadable("it runs shells within shells without end");
        }
        self.layers += 1;
        match reader::read(text) {
            Ok(script) => self.script(&script),
            Err(reason) => self.unreadable(&reason.text()),
        }
        self.layers -= 1;
    }

    /// A program and its arguments.
    pub(crate) fn words<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let arguments: Vec<Argument> = words.map(Argument::known).collect();
        self.check(&arguments, &Input::Unknown, false);
    }

    fn raise(&mut self, finding: Finding) {
        Finding::raise(&mut self.found, finding);
    }

    fn unreadable(&mut self, why: &str) {
        let text = format!("the command cannot be read with certainty, because {why}.");
        self.raise(match self.config.unreadable {
            Unreadable::Ask => Finding::Ask(text),
            Unreadable::Block => Finding::Block(format!("{text} Write it in a simpler way.")),
        });
    }

    fn script(&mut self, script: &Script) {
        for name in &script.fork_bombs {
            self.raise(Finding::Block(format!(
                "the function `{name}` calls itself without end (a fork bomb)."
            )));
        }
        for pipeline in &script.pipelines {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let mut input = Input::Unknown;
        for command in &pipeline.commands {
            input = self.command(command, &input);
        }
    }

    /// Looks at one command and says what it hands to the next.
    fn command(&mut self, command: &Command, piped: &Input) -> Input {
        for (name, value) in &command.assignments {
            self.substitutions(value);
            self.assign(name, value);
        }
        let mut input = piped.clone();
        for redirect in &command.redirects {
            match redirect {
                Redirect::Output(target) => {
                    self.substitutions(target);
                    for target in words::resolve(target, &self.variables) {
                        if paths::is_device(&target.text) {
                            self.raise(rules::device(&format!("> {}", target.text), &target.text));
                        }
                    }
                }
                Redirect::Input(source) => {
                    self.substitutions(source);
                    input = if downloads_in(source) { Input::Download } else { Input::Unknown };
                }
                Redirect::Text(text) => {
                    self.substitutions(text);
                    // Splitting would join the lines, so only text without replacements is read.
                    input = text.plain().map_or(Input::Unknown, Input::Text);
                }
            }
        }
        for word in &command.words {
            self.substitutions(word);
        }
        let mut output = if *piped == Input::Download { Input::Download } else { Input::Unknown };
        if let Some(group) = &command.group {
            self.script(group);
            if downloads(group) {
                output = Input::Download;
            } else if let Some(text) = words::echoed(group, &self.variables) {
                output = Input::Text(text);
            }
        }
        let arguments: Vec<Argument> =
            command.words.iter().flat_map(|word| words::resolve(word, &self.variables)).collect();
        if arguments.is_empty() {
            return output;
        }
        self.check(&arguments, &input, command.words.iter().any(downloads_in));
        if fetches_itself(&arguments) {
            Input::Download
        } else {
            words::written(&arguments).map_or(output, Input::Text)
        }
    }

    /// The commands inside a word.
    fn substitutions(&mut self, word: &Word) {
        for part in &word.parts {
            if let Part::Substitution(script) = part {
                // A substitution runs in a shell of its own, which keeps its `cd` to itself.
                let directory = self.directory.clone();
                self.script(script);
                self.directory = directory;
            }
        }
    }

    /// Adds to what a variable can hold. An unknown value takes away what was known.
    fn assign(&mut self, name: &str, value: &Word) {
        let values = words::resolve(value, &self.variables);
        if values.iter().all(|value| value.known) {
            let texts = values.into_iter().map(|value| value.text);
            self.variables.entry(name.to_owned()).or_default().extend(texts);
        }
    }

    /// One command with its arguments. `fetches`: a word of it holds a download.
    fn check(&mut self, arguments: &[Argument], input: &Input, fetches: bool) {
        let Some(first) = arguments.first() else { return };
        let name = program(&first.text);
        let mut line = name.to_owned();
        for argument in &arguments[1..] {
            line.push(' ');
            line.push_str(&argument.text);
        }
        if let Some(rule) = matching(&self.config.block, &line) {
            return self.raise(Finding::Block(format!("`{line}`: {}", rule.reason)));
        }
        if self.config.allow.iter().any(|pattern| glob::matches(pattern, &line)) {
            return;
        }
        if let Some(rule) = matching(&self.config.ask, &line) {
            self.raise(Finding::Ask(format!("`{line}`: {}", rule.reason)));
        }
        if !first.known {
            return self.unreadable(&format!("the program in `{line}` is only known when it runs"));
        }
        match name {
            "cd" | "pushd" => self.enter(&arguments[1..]),
            "export" | "declare" | "local" | "readonly" | "typeset" => self.declare(&arguments[1..]),
            _ => {}
        }
        self.downloaded(name, arguments, input, fetches);
        if let Some(finding) = rules::check(arguments, self.directory.as_deref()) {
            self.raise(finding);
        }
        for inner in rules::nested(arguments) {
            self.layer(|walk| walk.check(&inner, &Input::Unknown, false));
        }
        match unwrap::unwrap(arguments) {
            Inner::Itself => {}
            Inner::Command(mut inner) => {
                if name == "xargs"
                    && let Input::Text(text) = input
                {
                    inner.extend(text.split_whitespace().map(Argument::known));
                }
                self.layer(|walk| walk.check(&inner, input, fetches));
            }
            Inner::Script(text) => self.text(&text),
            Inner::Input => {
                if let Input::Text(text) = input {
                    self.text(&text.clone());
                }
            }
            Inner::Hidden if fetches => {}
            Inner::Hidden => self.unreadable(&format!("what `{line}` runs is only known when it runs")),
        }
    }

    fn layer(&mut self, look: impl FnOnce(&mut Self)) {
        if self.layers >= MAX_LAYERS {
            return self.unreadable("it runs commands within commands without end");
        }
        self.layers += 1;
        look(self);
        self.layers -= 1;
    }

    fn enter(&mut self, arguments: &[Argument]) {
        let target = arguments.iter().find(|argument| !argument.text.starts_with('-'));
        self.directory = match target {
            None => Some("~".to_owned()),
            Some(target) if target.known => paths::enter(self.directory.as_deref(), &target.text),
            // Somewhere else, which is not the folder that the user works in.
            Some(_) => Some("./unknown".to_owned()),
        };
    }

    fn declare(&mut self, arguments: &[Argument]) {
        for argument in arguments.iter().filter(|argument| argument.known) {
            if let Some((name, value)) = argument.text.split_once('=') {
                self.variables.entry(name.to_owned()).or_default().insert(value.to_owned());
            }
        }
    }

    /// Running what comes from the network, unseen.
    fn downloaded(&mut self, name: &str, arguments: &[Argument], input: &Input, fetches: bool) {
        let is_shell = unwrap::SHELLS.contains(&name);
        let reads_input = match name {
            _ if is_shell => unwrap::unwrap(arguments) == Inner::Input,
            "source" | "." => arguments.get(1).is_some_and(|file| file.text == "/dev/stdin"),
            _ if INTERPRETERS.contains(&name) => {
                arguments.iter().skip(1).all(|argument| argument.text == "-")
            }
            _ => false,
        };
        let runs_words = is_shell || matches!(name, "eval" | "source" | ".") || INTERPRETERS.contains(&name);
        if (reads_input && *input == Input::Download) || (runs_words && fetches) {
            self.raise(Finding::Ask(format!("`{name}` would run a download that nobody has read.")));
        }
    }
}

fn matching<'r>(rules: &'r [Rule], line: &str) -> Option<&'r Rule> {
    rules.iter().find(|rule| glob::matches(&rule.pattern, line))
}

/// Whether a command is a downloader, also behind programs that only run another one.
fn fetches_itself(arguments: &[Argument]) -> bool {
    let mut command = arguments.to_vec();
    for _ in 0..MAX_LAYERS {
        match unwrap::unwrap(&command) {
            Inner::Command(inner) => command = inner,
            _ => break,
        }
    }
    command.first().is_some_and(|name| DOWNLOADERS.contains(&program(&name.text)))
}

fn downloads_in(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, Part::Substitution(script) if downloads(script)))
}

fn downloads(script: &Script) -> bool {
    script.pipelines.iter().flat_map(|pipeline| &pipeline.commands).any(|command| {
        let name = command.words.first().and_then(Word::plain);
        name.is_some_and(|name| DOWNLOADERS.contains(&program(&name)))
            || command.group.as_ref().is_some_and(downloads)
            || command.words.iter().any(downloads_in)
    })
}
