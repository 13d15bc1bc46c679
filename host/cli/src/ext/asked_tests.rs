use super::*;
use async_trait::async_trait;

/// Amends results that say so, and rewrites what it is asked about at the other stages.
struct Changer;

#[async_trait]
impl Hook for Changer {
    fn name(&self) -> &str {
        "changer"
    }

    fn handles(&self, _stage: HookStage, _tool: Option<&str>) -> bool {
        true
    }

    async fn after_tool_call(
        &self,
        _context: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        Ok(outcome.is_error.then(|| Amendment {
            content: Some(vec![Content::text(format!("{} is fine", call.name))]),
            is_error: Some(false),
            ..Amendment::default()
        }))
    }

    async fn before_turn(&self, _: &HookContext, input: &Message) -> Result<Verdict<Message>, HookError> {
        Ok(Verdict::Rewrite(Message::user(format!("{}!", input.text()))))
    }

    async fn after_model(
        &self,
        _context: &HookContext,
        answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        Ok(Verdict::Abort(answer.text()))
    }
}

async fn said(stage: HookStage, question: Value) -> Result<Value> {
    let context = HookContext::new(turn(), CancellationToken::new());
    let question = serde_json::from_value(question)?;
    Ok(answer(&Changer, stage, &context, question).await??)
}

#[tokio::test]
async fn an_amendment_shows_only_the_fields_that_it_replaces() {
    let stage = HookStage::AfterToolCall;
    let plain = json!({"tool": "work", "result": "text"});
    assert_eq!(said(stage, plain).await.unwrap(), json!({"verdict": "proceed"}));
    let failed = json!({"tool": "work", "result": {"content": [], "isError": true}});
    assert_eq!(
        said(stage, failed).await.unwrap(),
        json!({"verdict": "amend", "content": [{"type": "text", "text": "work is fine"}], "isError": false})
    );
    assert!(said(stage, json!({"tool": "work"})).await.unwrap_err().to_string().contains("`result`"));
}

#[tokio::test]
async fn messages_are_texts_or_whole_and_rewrites_come_back_whole() {
    let asked = json!({"message": "hello"});
    let rewritten = said(HookStage::BeforeTurn, asked.clone()).await.unwrap();
    assert_eq!(rewritten["message"]["content"][0]["text"], "hello!");
    let whole = json!({"message": {"role": "user", "content": "hello"}});
    let again = said(HookStage::BeforeTurn, whole.clone()).await.unwrap();
    assert_eq!(again["message"]["content"], rewritten["message"]["content"]);
    let ended = said(HookStage::AfterModel, asked).await.unwrap();
    assert_eq!(ended, json!({"verdict": "abort", "reason": "hello"}));
    assert!(said(HookStage::AfterModel, whole).await.is_err(), "a user's message is no answer");
}

#[test]
fn a_question_with_a_misspelt_field_is_none() {
    assert!(serde_json::from_value::<Question>(json!({"tol": "bash"})).is_err());
}
