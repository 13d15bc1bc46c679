//! Parts that a program puts in the place of others, with the rest unchanged.

use anyhow::Result;
use capstan_agent::{AgentConfig, EventBus, RuntimeBundle, ToolRegistry, TypedTool};
use capstan_ports::{Message, NoopCompressor, SessionId, SessionStore, Tool, ToolOutcome, TurnEvent};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::FileStore;
use capstan_tests::guest::Guest;
use capstan_tests::sandboxed::Place;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// One turn with a tool `greet`; what the session then holds, without times, and the events.
async fn turn_with(tool: Arc<dyn Tool>) -> Result<(Vec<Value>, Vec<String>)> {
    let root = tempfile::tempdir()?;
    let store = Arc::new(FileStore::new(root.path().join("sessions"), root.path()));
    let bus = EventBus::default();
    let mut events = bus.subscribe();
    let model = ScriptedModel::new([
        Answer::text("").and_call_with_id("call-1", "greet", json!({})),
        Answer::text("done"),
    ]);
    let tools = Arc::new(ToolRegistry::with_tools([tool])?);
    let bundle = RuntimeBundle::from_ports(
        Arc::new(model),
        tools.clone(),
        tools,
        store.clone(),
        Arc::new(bus),
        Arc::new(NoopCompressor),
        None,
        None,
        AgentConfig::default(),
    );
    let turn = bundle.run_turn(Message::user("hi"), "s-1").await?;
    assert_eq!(turn.message.text(), "done");
    // What a next process would find.
    let kept = FileStore::new(root.path().join("sessions"), root.path()).load(&SessionId::new("s-1")).await?;
    let messages = kept.messages.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    let mut told = Vec::new();
    loop {
        let event = events.recv().await?;
        told.push(event.to_string());
        if *event == TurnEvent::TurnCompleted {
            break;
        }
    }
    Ok((messages.into_iter().map(without_times).collect(), told))
}

fn without_times(message: Value) -> Value {
    match message {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| name != "timestamp");
            Value::Object(kept.map(|(name, value)| (name, without_times(value))).collect::<Map<_, _>>())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(without_times).collect()),
        other => other,
    }
}

// 003-155, 003-156, 003-157
#[tokio::test]
async fn a_sandboxed_tool_runtime_takes_the_place_of_one_in_the_process_and_the_agent_notices_nothing()
-> Result<()> {
    let native = TypedTool::new("greet", "Greets.", |_: Map<String, Value>, _| async {
        Ok(ToolOutcome::text("hello"))
    });
    let place = Place::new()?;
    let (guest, body) = Guest::new("greeter").text_result("hello");
    let sandboxed = place.load(&guest.tool("greet", &body)).await?.tools()[0].clone();
    let (messages, events) = turn_with(Arc::new(native)).await?;
    assert_eq!(messages.len(), 4, "{messages:#?}");
    assert!(messages[2].to_string().contains("hello"), "{messages:#?}");
    assert_eq!(turn_with(sandboxed).await?, (messages, events));
    Ok(())
}
