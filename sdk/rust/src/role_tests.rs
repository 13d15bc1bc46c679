use serde_json::{Value, json};

use super::*;
use crate::bindings::contract::exports::capstan::extension as exports;
use crate::{Power, Request, store, testing};

fn numbered(raw: &str, goal: &str) -> Result<Plan, Error> {
    let steps: Vec<String> =
        raw.lines().filter_map(|line| Some(line.split_once(". ")?.1.to_owned())).collect();
    if steps.is_empty() {
        Err(Error::new(format!("no step for `{goal}`")))
    } else {
        Ok(steps.into_iter().collect())
    }
}

fn last(messages: Vec<Message>, context: &Compaction) -> Result<Action, Error> {
    if context.used_tokens < context.window_tokens {
        return Ok(Action::None);
    }
    Ok(Action::Replace(messages.into_iter().rev().take(1).collect()))
}

fn shout(arguments: &str) -> Result<String, Error> {
    Ok(arguments.to_uppercase())
}

fn renamed(tool: &str, mut arguments: Value) -> Result<Value, Error> {
    let Some(old) = arguments.as_object_mut().and_then(|object| object.remove("old")) else {
        return Err(Error::new(format!("bad shape for {tool}")));
    };
    Ok(json!({ "new": old }))
}

struct Notes;

impl Memory for Notes {
    fn save(&self, entry: Entry) -> Result<String, Error> {
        store::put("note", &entry.content)?;
        Ok("note".to_owned())
    }

    fn search(&self, query: Query) -> Result<Vec<Entry>, Error> {
        let content: Option<String> = store::load("note")?;
        let entry =
            |content| Entry { id: Some("note".into()), content, metadata: "{}".into(), score: Some(1.0) };
        Ok(content.into_iter().filter(|content| content.contains(&query.text)).map(entry).collect())
    }

    fn delete(&self, id: &str) -> Result<(), Error> {
        Ok(store::remove(id)?)
    }
}

crate::extension! {
    requests: [
        Request::key_value(1000, "To keep notes."),
        Request::power(Power::Remember, "To remember.").optional(),
    ],
    plan_parsers: [plan_parser("numbered", numbered)],
    compressors: [compressor("last", last)],
    commands: [command("shout", "Says it loud.", shout)],
    tool_arguments: renamed,
    memory: Notes,
}

#[test]
fn every_role_is_described() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!(descriptor.plan_parsers, ["numbered"]);
    assert_eq!(descriptor.compressors, ["last"]);
    assert_eq!(descriptor.commands[0].name, "shout");
    let required: Vec<bool> = descriptor.requests.iter().map(|request| request.required).collect();
    assert_eq!(required, [true, false]);
}

#[test]
fn a_plan_is_parsed_by_the_parser_of_that_name() {
    let parse = |parser: &str, raw: &str| {
        <Extension as exports::plan_parser::Guest>::parse(
            parser.to_owned(),
            raw.to_owned(),
            "goal".to_owned(),
        )
    };
    let plan = parse("numbered", "1. one\n2. two").unwrap();
    assert_eq!(plan.steps.iter().map(|step| step.description.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(parse("numbered", "").unwrap_err(), "no step for `goal`");
    assert_eq!(parse("other", "").unwrap_err(), "this extension has no plan parser `other`");
}

#[test]
fn a_compressor_sees_the_budget() {
    let compress = |used_tokens| {
        let context = Compaction {
            session_id: String::new(),
            window_tokens: 100,
            used_tokens,
            reserve_tokens: 10,
            instructions: None,
        };
        let messages = vec![Message::user("a"), Message::user("b")];
        <Extension as exports::compressor::Guest>::compress("last".to_owned(), messages, context).unwrap()
    };
    assert_eq!(compress(1), Action::None);
    assert_eq!(compress(200), Action::Replace(vec![Message::user("b")]));
}

#[test]
fn commands_and_argument_repairs_answer_texts() {
    let run = |name: &str| <Extension as exports::commands::Guest>::run(name.to_owned(), "hi".to_owned());
    assert_eq!(run("shout").unwrap(), "HI");
    assert!(run("whisper").is_err());
    let prepare =
        |text: &str| <Extension as exports::tool_arguments::Guest>::prepare("t".to_owned(), text.to_owned());
    assert_eq!(prepare(r#"{"old":"x"}"#).unwrap(), r#"{"new":"x"}"#);
    assert_eq!(prepare("{}").unwrap_err(), "bad shape for t");
    assert!(prepare("{").unwrap_err().starts_with("the arguments"));
}

#[test]
fn a_memory_saves_finds_and_forgets() {
    use exports::memory::Guest;
    testing::Host::new().run(|| {
        let entry =
            Entry { id: None, content: "tea at five".to_owned(), metadata: "{}".to_owned(), score: None };
        let id = <Extension as Guest>::save(entry).unwrap();
        let query = || Query { text: "tea".to_owned(), top_k: 1, threshold: None, filter: None };
        assert_eq!(<Extension as Guest>::search(query()).unwrap().len(), 1);
        <Extension as Guest>::delete(id).unwrap();
        assert!(<Extension as Guest>::search(query()).unwrap().is_empty());
    });
}
