use super::*;
use crate::recall::{InMemory, RetrieveTool};
use crate::scripted_tests::call;
use capstan_ports::SessionId;
use capstan_ports::message::text_of;
use capstan_ports::tool::{NoProgress, TurnContext};
use tokio_util::sync::CancellationToken;

async fn said(tool: &dyn Tool, arguments: Value) -> String {
    let turn =
        TurnContext { session_id: SessionId::new("s"), turn: 0, round: 0, model: Arc::from("scripted/test") };
    let context = ToolContext { turn, cancel: CancellationToken::new(), progress: Arc::new(NoProgress) };
    match tool.execute(&call("id", &tool.definition().name, arguments), &context).await {
        Ok(outcome) => text_of(&outcome.content),
        Err(error) => error.to_string(),
    }
}

// 003-076, 003-079
#[tokio::test]
async fn the_model_keeps_finds_and_forgets() {
    let memory: Arc<dyn MemoryPort> = Arc::new(InMemory::default());
    let remember = RememberTool::new(memory.clone(), "notes");
    let retrieve = RetrieveTool::new(memory.clone());
    let forget = ForgetTool::new(memory, "notes");
    assert_eq!(said(&remember, json!({"content": "the cat is called Mio"})).await, "Kept as m1.");
    let found = said(&retrieve, json!({"query": "cat"})).await;
    assert_eq!(found, "- the cat is called Mio (id m1)");
    assert_eq!(said(&forget, json!({"id": "m1"})).await, "Forgotten: m1.");
    assert_eq!(said(&retrieve, json!({"query": "cat"})).await, "Nothing was found.");
    assert!(said(&forget, json!({"id": "m1"})).await.contains("there is no such entry"));
}

#[test]
fn permissions_see_whose_memory_it_is() {
    let memory: Arc<dyn MemoryPort> = Arc::new(InMemory::default());
    let tools: [Arc<dyn Tool>; 2] =
        [Arc::new(RememberTool::new(memory.clone(), "notes")), Arc::new(ForgetTool::new(memory, "notes"))];
    for tool in tools {
        assert_eq!(tool.access(&json!({})), CallAccess::Sandboxed("notes".to_owned()));
    }
}
