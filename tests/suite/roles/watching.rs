//! Observers: what they see, and that nothing they do is felt by the turn.

use super::{GROW, SPIN, TRAP, install_roles, roles};
use anyhow::{Context, Result};
use capstan_ports::event::AgentEvent;
use capstan_ports::message::{Message, ToolCall, text_of};
use capstan_ports::session::SessionId;
use capstan_ports::turn_event::TurnEvent;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::guest::Guest;
use capstan_tests::logged::Logged;
use capstan_tests::product;
use capstan_tests::sandboxed::{Granted, Place, call, tool_context, turn};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The types of the events, in order.
fn seen(stderr: &str) -> Vec<String> {
    let named = stderr.lines().filter_map(|line| line.split_once("seen: "));
    named.filter_map(|(_, rest)| Some(rest.split_whitespace().next()?.to_owned())).collect()
}

#[tokio::test]
async fn an_observer_sees_the_lines_of_json_mode_and_how_the_turn_ended() -> Result<()> {
    let server = ScriptedServer::play([Answer::call("nope", json!({})), Answer::text("done")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    let run = product.run(&["--mode", "json", "-v", "-p", "hello"]).await?.with_code(0);
    let mut lines: Vec<_> = run
        .json_lines()?
        .iter()
        .filter_map(|line| line["type"].as_str().map(str::to_owned))
        // What grows is left out, and what stands around the run is none of its events.
        .filter(|kind| {
            let beside = ["session", "extension_usage", "message_update", "tool_execution_update"];
            !beside.contains(&kind.as_str())
        })
        .collect();
    let mut seen = seen(&run.stderr);
    assert!(seen.contains(&"tool_execution_end".to_owned()), "{}", run.stderr);
    // How the turn ended has no line in that mode.
    let ended = seen.iter().position(|kind| kind == "turn_completed").context("it completed")?;
    seen.remove(ended);
    lines.retain(|kind| kind != "turn_completed");
    assert_eq!(seen, lines);
    Ok(())
}

// 003-108
#[tokio::test]
async fn an_observer_sees_events_of_extensions_and_calls_that_were_put_off() -> Result<()> {
    let logged = Logged::begin();
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    let observer = extension.observer(&SessionId::new("test")).context("it has one")?;
    let data = json!({ "n": 1 });
    let custom = |data| TurnEvent::Custom { source: "x".to_owned(), label: "y".to_owned(), data };
    let call =
        ToolCall { id: "c".to_owned(), name: "bash".to_owned(), arguments: Value::Null, malformed: None };
    observer.on_event(&custom(data)).await;
    observer.on_event(&TurnEvent::ToolCallDeferred { call: call.clone(), reason: "later".to_owned() }).await;
    // What a screen shows says this already.
    observer.on_event(&TurnEvent::ToolCallPending { call }).await;
    observer.on_agent_event(&AgentEvent::AgentStart).await;
    assert_eq!(logged.with("seen: ").len(), 3, "{:#?}", logged.lines());
    assert_eq!(logged.with("seen: extension_event {\"n\":1}").len(), 1);
    Ok(())
}

// 003-108: through the whole product, and without an echo: observers hear no observers.
#[tokio::test]
async fn what_a_command_tells_reaches_observers_and_what_observers_tell_does_not() -> Result<()> {
    let server = ScriptedServer::play([]).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    let run = product.run_with(&["-v"], "/tell one\n/keep two\n/tell three\n").await?.with_code(0);
    assert_eq!(run.stdout, "kept\n", "{}", run.stderr);
    let heard: Vec<_> = run.stderr.lines().filter(|line| line.contains("seen: ")).collect();
    assert_eq!(heard.len(), 2, "{heard:#?}");
    assert!(
        heard[0].contains("extension_event \"one\"") && heard[1].contains("extension_event \"three\""),
        "{heard:#?}"
    );
    Ok(())
}

// C2
#[tokio::test]
async fn an_observer_that_fails_is_left_out_and_that_is_said_once() -> Result<()> {
    let place = Place::new()?;
    for (id, body, said) in [
        ("trapper", TRAP, "trapped"),
        ("grower", GROW, "memory"),
        ("spinner", SPIN, "did not answer within 5 s"),
    ] {
        let logged = Logged::begin();
        let extension = place.load(&Guest::new(id).observer(body)).await?;
        let observer = extension.observer(&SessionId::new("test")).context("it has one")?;
        for _ in 0..3 {
            observer.on_event(&TurnEvent::TurnCompleted).await;
        }
        let lines = logged.with("is left out from now on");
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains(id) && lines[0].contains(said), "{lines:#?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_event_too_large_for_observers_is_no_failure_of_one() -> Result<()> {
    let logged = Logged::begin();
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    let observer = extension.observer(&SessionId::new("test")).context("it has one")?;
    let message = Arc::new(Message::user("x".repeat(9 << 20)));
    observer.on_agent_event(&AgentEvent::MessageEnd { message }).await;
    assert_eq!(logged.with("too large for observers").len(), 1);
    observer.on_agent_event(&AgentEvent::AgentStart).await;
    assert_eq!(logged.with("seen: agent_start").len(), 1);
    Ok(())
}

// 003-066, C2
#[tokio::test]
async fn an_observer_that_never_returns_neither_delays_nor_fails_the_turn() -> Result<()> {
    let answers = (0..8).map(|_| Answer::call("nope", json!({}))).chain([Answer::text("done")]);
    let server = ScriptedServer::play(answers).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&Guest::new("spinner").observer(SPIN))?;
    let run = product.run(&["-p", "hello"]).await?.with_code(0);
    // The observer has the first event of many and does not give it back, while nine rounds pass.
    assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    assert_eq!(server.requests().len(), 9);
    Ok(())
}

// Calls of one instance wait for each other, so an observer must not share one with a tool.
#[tokio::test]
async fn an_observer_holds_up_no_tool_of_an_extension_with_one_instance_a_session() -> Result<()> {
    let (guest, body) = Guest::new("lasting").text_result("done");
    let mut guest = guest.tool("work", &body).observer(SPIN);
    guest.session_lifetime = true;
    let extension = Place::new()?.load(&guest).await?;
    let observer = extension.observer(&turn().session_id).context("it has one")?;
    let tool = extension.tools().remove(0);
    let (event, call, context) = (TurnEvent::TurnCompleted, call("work", json!({})), tool_context());
    let watching = observer.on_event(&event);
    tokio::pin!(watching);
    // The observer has the instance, if there is but one, before the tool asks for it.
    let began = tokio::time::timeout(Duration::from_millis(100), &mut watching).await;
    assert!(began.is_err(), "it spins");
    tokio::select! {
        biased;
        worked = tool.execute(&call, &context) => assert_eq!(text_of(&worked?.content), "done"),
        () = watching => anyhow::bail!("the tool had to wait for the observer"),
    }
    Ok(())
}
