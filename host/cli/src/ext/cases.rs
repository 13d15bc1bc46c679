//! Recorded cases: what an extension is asked in a test, and what is expected of it.
//!
//! They stand in `NAME.cases.toml` beside the component or in its project, one `[[case]]` each. `sdk/guides/cases.md` is for
//! those who write them.

use super::asked::{self, Question};
use super::call::Call;
use super::compressed::Conversation;
use super::expect::Expect;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// The file. Unknown keys are refused: a misspelt expectation would expect nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cases {
    /// In the order in which they run.
    #[serde(rename = "case")]
    pub(super) cases: Vec<Case>,
}

/// A struct with the fields that say what is called, and others. Not `#[serde(flatten)]`, which loses the line of a mistake.
macro_rules! with_call {
    ($(#[$about:meta])* $name:ident { $($(#[$about_field:meta])* $public:vis $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            /// The tool to call.
            tool: Option<String>,
            /// Its arguments: a table, or a text of JSON for what TOML cannot say.
            arguments: Option<Value>,
            /// The stage of the hook to ask.
            hook: Option<String>,
            /// What the hook is asked about.
            input: Option<Question>,
            /// A text for a plan parser.
            parse: Option<Parse>,
            /// A conversation for a compressor.
            compress: Option<Compress>,
            /// A slash command to run.
            command: Option<Command>,
            /// An event that the observer is told of, or a list of them; each a table or a text of JSON.
            observe: Option<Value>,
            $($(#[$about_field])* $public $field: $type,)*
        }

        impl $name {
            /// What it calls.
            pub(super) fn call(&self) -> Result<Call> {
                let Self { tool, arguments, hook, input, parse, compress, command, observe, .. } = self;
                let mut calls = Vec::new();
                calls.extend(tool.as_ref().map(|tool| {
                    let arguments = arguments.as_ref().map_or_else(|| Ok(no_fields()), json);
                    Ok(Call::Tool(tool.clone(), arguments.context("`arguments`")?))
                }));
                calls.extend(hook.as_ref().map(|stage| {
                    let question = input.clone().unwrap_or_default();
                    Ok(Call::Hook(asked::stage(stage)?, Box::new(question)))
                }));
                calls.extend(parse.clone().map(|Parse { parser, raw, goal }| Ok(Call::Parse { parser, raw, goal })));
                calls.extend(compress.clone().map(|Compress { compressor, conversation }| {
                    Ok(Call::Compress(compressor, Box::new(conversation)))
                }));
                calls.extend(command.clone().map(|Command { name, arguments }| Ok(Call::Command(name, arguments))));
                calls.extend(observe.as_ref().map(|events| {
                    let events = match events {
                        Value::Array(events) => events.iter().map(json).collect::<Result<_>>(),
                        event => json(event).map(|event| vec![event]),
                    };
                    Ok(Call::Observe(events.context("`observe`")?))
                }));
                ensure!(
                    arguments.is_none() || tool.is_some(),
                    "`arguments` are those of a tool, so they need `tool` beside them"
                );
                ensure!(input.is_none() || hook.is_some(), "`input` is that of a hook, so it needs `hook` beside it");
                match (calls.pop(), calls.len()) {
                    (Some(call), 0) => call,
                    _ => bail!(
                        "a case has one of `tool`, `hook`, `parse`, `compress`, `command` and `observe`, and not more"
                    ),
                }
            }
        }
    };
}

with_call! {
    /// One case.
    Case {
        /// What it shows.
        pub(super) name: String,
        /// Calls before the one that it is about, with the same storage and files. Each must go well.
        #[serde(default)]
        pub(super) before: Vec<Before>,
        /// Granted, as with `ext run --allow`.
        #[serde(default)]
        pub(super) allow: Vec<String>,
        /// The configuration table.
        #[serde(default = "no_fields")]
        pub(super) config: Value,
        /// Files in the workspace by their paths.
        #[serde(default)]
        files: BTreeMap<String, String>,
        /// What its storage holds at first: texts as they are, everything else as JSON.
        #[serde(default)]
        pub(super) stored: BTreeMap<String, Value>,
        /// What is to come out.
        pub(super) expect: Option<Expect>,
    }
}

with_call! {
    /// A call before that of the case.
    Before {}
}

/// A text for a plan parser.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parse {
    parser: String,
    raw: String,
    #[serde(default)]
    goal: String,
}

/// A conversation for a compressor.
#[derive(Debug, Clone)]
struct Compress {
    compressor: String,
    conversation: Conversation,
}

/// A slash command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    name: String,
    #[serde(default)]
    arguments: String,
}

impl<'de> Deserialize<'de> for Compress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut fields = Map::deserialize(deserializer)?;
        let Some(Value::String(compressor)) = fields.remove("compressor") else {
            return Err(D::Error::missing_field("compressor"));
        };
        let conversation = serde_json::from_value(Value::Object(fields)).map_err(D::Error::custom)?;
        Ok(Self { compressor, conversation })
    }
}

fn no_fields() -> Value {
    Value::Object(Map::new())
}

/// A text is JSON, for what TOML cannot say.
fn json(value: &Value) -> Result<Value> {
    match value {
        Value::String(text) => serde_json::from_str(text).context("it is a text, but not of JSON"),
        table => Ok(table.clone()),
    }
}

impl Cases {
    /// Reads a file of cases.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let cases: Self = toml::from_str(text)?;
        ensure!(!cases.cases.is_empty(), "there is no case in it");
        Ok(cases)
    }
}

impl Case {
    /// Writes its files into an empty workspace.
    pub(super) fn furnish(&self, workspace: &Path) -> Result<()> {
        for (name, text) in &self.files {
            let path = workspace.join(inside(name)?);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, text).with_context(|| format!("the file {name} cannot be written"))?;
        }
        Ok(())
    }
}

/// A path that stays in the workspace.
pub(super) fn inside(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    ensure!(stays && !name.is_empty(), "`{name}` is no path below the workspace");
    Ok(path)
}

#[cfg(test)]
#[path = "cases_tests.rs"]
mod tests;
