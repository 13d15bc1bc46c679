//! Plans as data: JSON or YAML, fenced or as it stands.

use capstan_sdk::{Error, Explain};
use serde_json::{Map, Value};

use crate::blocks::{self, Block};
use crate::lines::Line;
use crate::settings::Nested;
use crate::steps::{self, Collector};
use crate::yaml;

/// Keys of the list of steps, in the order in which they are looked for.
const LISTS: [&str; 11] = [
    "steps", "plan", "tasks", "todos", "todo", "phases", "stages", "actions", "items", "substeps", "subtasks",
];

/// Keys of lists whose entries hold steps.
const PHASES: [&str; 2] = ["phases", "stages"];

/// Keys of a step's text.
const TEXTS: [&str; 9] =
    ["description", "task", "action", "step", "text", "content", "instruction", "instructions", "summary"];

/// Keys of a step's short name, which stands before its text.
const NAMES: [&str; 3] = ["title", "name", "phase"];

/// Beginnings of lines that are tried as JSON. A text may have many braces and hold no plan.
const MAX_ATTEMPTS: usize = 16;

/// Steps within steps deeper than this are refused.
const MAX_LEVELS: usize = 8;

/// A place where a plan might be.
struct Source {
    is_yaml: bool,
    text: String,
    /// Number of its first line.
    line: usize,
    /// Named as such, so that a mistake in it is worth telling.
    is_certain: bool,
}

/// Reads the first piece of data that holds a plan; `false` if none does. An error says what is wrong with what was meant as
/// one; it matters only if the text holds no plan in another form.
pub(crate) fn read(lines: &[Line<'_>], collector: &mut Collector<'_>) -> Result<bool, Error> {
    first_of(sources(lines), collector)
}

/// The same for JSON in the midst of a sentence.
pub(crate) fn read_inline(lines: &[Line<'_>], collector: &mut Collector<'_>) -> Result<bool, Error> {
    let at = |(at, line): (usize, &Line<'_>)| Some((at, line.text.find(['{', '['])?));
    let places = lines.iter().enumerate().filter_map(at).take(MAX_ATTEMPTS);
    let source = |(at, from): (usize, usize)| {
        let mut text = lines[at].text[from..].to_owned();
        text.push('\n');
        text.push_str(&joined(&lines[at + 1..]));
        Source { is_yaml: false, text, line: lines[at].number, is_certain: false }
    };
    first_of(places.map(source), collector)
}

fn first_of(sources: impl IntoIterator<Item = Source>, collector: &mut Collector<'_>) -> Result<bool, Error> {
    let mut problem = None;
    for source in sources {
        let before = (collector.steps.len(), collector.done);
        let outcome = source.value().and_then(|value| {
            let mut reader = Reader { line: source.line, collector };
            reader.plan(&value, "", None, 0).explain(format!("line {}: this is no plan", source.line))
        });
        match outcome {
            Ok(true) if (collector.steps.len(), collector.done) != before => return Ok(true),
            Ok(_) => {}
            Err(error) => {
                collector.steps.truncate(before.0);
                collector.done = before.1;
                if source.is_certain {
                    problem.get_or_insert(error);
                }
            }
        }
    }
    problem.map_or(Ok(false), Err)
}

fn sources<'a>(lines: &'a [Line<'a>]) -> impl Iterator<Item = Source> + 'a {
    let fenced = blocks::scan(lines).into_iter().filter_map(|(block, _)| {
        let Block::Code { info, body, .. } = block else { return None };
        let body = &lines[body];
        let first = body.iter().find(|line| !line.is_blank())?;
        let language = info.split([' ', '{', ',']).next().unwrap_or_default().to_ascii_lowercase();
        let (is_yaml, is_certain) = match language.as_str() {
            "json" | "jsonc" | "json5" => (false, true),
            "yaml" | "yml" => (true, true),
            "" | "text" => (false, first.text.starts_with(['{', '['])),
            _ => return None,
        };
        Some(Source { is_yaml, text: joined(body), line: body.first()?.number, is_certain })
    });
    let first = lines.iter().position(|line| !line.is_blank()).unwrap_or(0);
    let rest = &lines[first..];
    let is_yaml = rest.first().is_some_and(|line| {
        let key = line.text.strip_suffix(':');
        line.text == "---" || key.is_some_and(|key| LISTS.contains(&key))
    });
    let whole = is_yaml.then(|| Source {
        is_yaml: true,
        text: joined(rest),
        line: rest.first().map_or(1, |line| line.number),
        is_certain: false,
    });
    let starts = |line: &Line<'_>| line.indent == 0 && line.text.starts_with(['{', '[']);
    let bare = lines.iter().enumerate().filter(move |(_, line)| starts(line)).take(MAX_ATTEMPTS);
    let bare = bare.map(|(at, line)| Source {
        is_yaml: false,
        text: joined(&lines[at..]),
        line: line.number,
        is_certain: false,
    });
    fenced.chain(whole).chain(bare)
}

/// The lines as a text again.
fn joined(lines: &[Line<'_>]) -> String {
    let mut text = String::new();
    for line in lines {
        text.extend(std::iter::repeat_n(' ', line.indent));
        text.push_str(line.text);
        text.push('\n');
    }
    text
}

impl Source {
    fn value(&self) -> Result<Value, Error> {
        let within = |line: usize| self.line + line.saturating_sub(1);
        if self.is_yaml {
            return yaml::read(&self.text).map_err(|(line, problem)| {
                Error::new(format!("line {}: the YAML cannot be read: {problem}", within(line)))
            });
        }
        let mut values = serde_json::Deserializer::from_str(&self.text).into_iter();
        match values.next() {
            Some(Ok(value)) => Ok(value),
            Some(Err(problem)) => {
                let line = within(problem.line());
                let said = problem.to_string();
                // Its own numbers count from the beginning of the block.
                let said = said.split(" at line ").next().unwrap_or_default();
                Err(Error::new(format!("line {line}: the JSON cannot be read: {said}")))
            }
            None => Ok(Value::Null),
        }
    }
}

struct Reader<'r, 'c> {
    line: usize,
    collector: &'r mut Collector<'c>,
}

impl Reader<'_, '_> {
    /// A list of steps, or an object that holds one. `false`: this is neither.
    fn plan(&mut self, value: &Value, path: &str, within: Option<&str>, level: usize) -> Result<bool, Error> {
        match value {
            Value::Array(list) => self.list(list, path, within, level, false).map(|()| true),
            Value::Object(map) => {
                let Some((key, inner)) = entry(map, &LISTS, |value| value.is_array() || value.is_object())
                else {
                    return Ok(false);
                };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                match inner {
                    Value::Array(list) => {
                        self.list(list, &path, within, level, PHASES.contains(&key)).map(|()| true)
                    }
                    _ if level < MAX_LEVELS => self.plan(inner, &path, within, level + 1),
                    _ => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }

    fn list(
        &mut self,
        list: &[Value],
        path: &str,
        within: Option<&str>,
        level: usize,
        are_phases: bool,
    ) -> Result<(), Error> {
        if level > MAX_LEVELS {
            return Err(Error::new(format!("`{path}` lies deeper than {MAX_LEVELS} levels of steps")));
        }
        for (at, value) in list.iter().enumerate() {
            let path = format!("{path}[{at}]");
            let (text, children, done) = parts(value, &path)?;
            match children {
                Some((key, children)) if are_phases || self.collector.nested() == Nested::Steps => {
                    let title = steps::prefixed(within, text.trim_end_matches(':'));
                    let path = format!("{path}.{key}");
                    self.list(children, &path, Some(&title), level + 1, PHASES.contains(&key))?;
                }
                Some((key, children)) => {
                    let mut text = text;
                    fold(children, &format!("{path}.{key}"), 1, &mut text)?;
                    self.collector.step(&text, within, self.line, done);
                }
                None => self.collector.step(&text, within, self.line, done),
            }
        }
        Ok(())
    }
}

type Children<'v> = Option<(&'static str, &'v [Value])>;

/// The text of a step, the steps below it, and whether it is done.
fn parts<'v>(value: &'v Value, path: &str) -> Result<(String, Children<'v>, bool), Error> {
    let map = match value {
        Value::String(text) if !text.trim().is_empty() => return Ok((text.trim().to_owned(), None, false)),
        Value::Object(map) => map,
        _ => {
            return Err(Error::new(format!(
                "`{path}` is no step: write a text, or an object with `description`"
            )));
        }
    };
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    let text_of = |keys: &[&'static str]| {
        entry(map, keys, is_text).and_then(|(_, value)| value.as_str()).unwrap_or_default().trim()
    };
    let (name, text) = (text_of(&NAMES), text_of(&TEXTS));
    let text = match (name.is_empty(), text.is_empty()) {
        (_, true) => name.to_owned(),
        (true, false) => text.to_owned(),
        (false, false) if text.starts_with(name) => text.to_owned(),
        (false, false) => format!("{}: {text}", name.trim_end_matches(':')),
    };
    let children = entry(map, &LISTS, |value| value.as_array().is_some_and(|list| !list.is_empty()))
        .and_then(|(key, value)| Some((key, value.as_array()?.as_slice())));
    if text.is_empty() && children.is_none() {
        return Err(Error::new(format!("`{path}` says nothing: give it a `description`")));
    }
    let is_true = |key: &&str| map.get(*key) == Some(&Value::Bool(true));
    let status = map.get("status").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let done = ["done", "completed", "complete", "checked"].iter().any(is_true)
        || matches!(status.as_str(), "done" | "completed" | "complete" | "finished");
    Ok((text, children, done))
}

/// Adds steps as lines below a text.
fn fold(children: &[Value], path: &str, level: usize, text: &mut String) -> Result<(), Error> {
    if level > MAX_LEVELS {
        return Err(Error::new(format!("`{path}` lies deeper than {MAX_LEVELS} levels of steps")));
    }
    for (at, child) in children.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let (own, below, done) = parts(child, &path)?;
        let indent = (level - 1) * 2;
        let mark = if done { "- [x] " } else { "- " };
        let own = own.replace('\n', &format!("\n{:indent$}  ", ""));
        text.push_str(&format!("\n{:indent$}{mark}{own}", ""));
        if let Some((key, below)) = below {
            fold(below, &format!("{path}.{key}"), level + 1, text)?;
        }
    }
    Ok(())
}

/// The first of these keys whose value is fitting.
fn entry<'v>(
    map: &'v Map<String, Value>,
    keys: &[&'static str],
    fits: impl Fn(&Value) -> bool,
) -> Option<(&'static str, &'v Value)> {
    keys.iter().find_map(|key| map.get(*key).filter(|value| fits(value)).map(|value| (*key, value)))
}

#[cfg(test)]
#[path = "structured_tests.rs"]
mod tests;
