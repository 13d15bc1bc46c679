use serde_json::json;

use super::*;
use crate::process::Command;
use crate::types::HostError;
use crate::{config, events, model, process, progress, session_memory, store};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How many.
    limit: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { limit: 7 }
    }
}

#[test]
fn configuration_is_typed_and_mistakes_name_the_key() {
    assert_eq!(config::get::<Config>().unwrap(), Config { limit: 7 });
    with_config(json!({ "limit": 9 }), || assert_eq!(config::get::<Config>().unwrap().limit, 9));
    let error = with_config(json!({ "limit": "x" }), || config::get::<Config>().unwrap_err());
    assert!(error.message().starts_with("the configuration at `limit`: invalid type"), "{error}");
    assert!(config::schema::<Config>().contains("How many."));
}

#[test]
fn hosts_nest_and_are_put_back_even_when_a_test_fails() {
    with_config(json!({ "limit": 1 }), || {
        let failed = std::panic::catch_unwind(|| with_config(json!({ "limit": 2 }), || panic!("on purpose")));
        assert!(failed.is_err());
        assert_eq!(config::get::<Config>().unwrap().limit, 1);
    });
    assert_eq!(config::get::<Config>().unwrap().limit, 7);
}

#[test]
fn storage_facts_events_and_progress_work_without_a_grant_in_tests() {
    let host = Host::new().stored("a", "1").fact("name", "Ada");
    let (_, told) = host.run(|| {
        store::set("b", b"2").unwrap();
        assert_eq!(store::keys("").unwrap(), ["a", "b"]);
        assert_eq!(store::load::<u32>("b").unwrap(), Some(2));
        store::remove("a").unwrap();
        assert_eq!(store::get("a").unwrap(), None);
        session_memory::set("city", "London").unwrap();
        session_memory::remove("none").unwrap();
        assert_eq!(session_memory::get("city").unwrap().as_deref(), Some("London"));
        assert_eq!(session_memory::snapshot().unwrap(), "city: London\nname: Ada");
        events::emit("note", &json!([1])).unwrap();
        progress::report("half");
    });
    assert_eq!(told.events, [("note".to_owned(), "[1]".to_owned())]);
    assert_eq!(told.progress, ["half"]);
}

#[test]
fn programs_and_the_model_are_denied_until_a_test_gives_them() {
    let git = || Command::new("git", ["status"]).run();
    assert_eq!(git().unwrap_err(), HostError::Denied("process:git".to_owned()));
    assert_eq!(model::ask("hi", 10).unwrap_err(), HostError::Denied("model".to_owned()));
    let host = Host::new()
        .program(|command| {
            Ok(process::Outcome {
                exit_code: Some(0),
                stdout: command.arguments.join(" ").into_bytes(),
                stderr: Vec::new(),
                truncated: false,
                timed_out: false,
            })
        })
        .model(|messages, max_tokens| Ok(format!("{} {max_tokens}", messages[0].text())));
    host.run(|| {
        let outcome = git().unwrap();
        assert!(outcome.is_success());
        assert_eq!(outcome.stdout, b"status");
        assert_eq!(model::ask("hi", 10).unwrap(), "hi 10");
    });
}
