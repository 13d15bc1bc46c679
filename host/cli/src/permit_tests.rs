use super::*;
use capstan_ports::session::SessionId;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Scripted {
    reply: Reply,
    asked: AtomicUsize,
}

#[async_trait]
impl Person for Scripted {
    async fn reply(&self, _question: &str, _call: &ToolCall) -> Reply {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.reply
    }
}

fn person(reply: Reply) -> Arc<Scripted> {
    Arc::new(Scripted { reply, asked: AtomicUsize::new(0) })
}

fn turn() -> TurnContext {
    TurnContext { session_id: SessionId::new("s"), turn: 0, round: 0, model: Arc::from("m") }
}

fn bash() -> ToolCall {
    ToolCall { id: "1".to_owned(), name: "bash".to_owned(), arguments: json!({}), malformed: None }
}

async fn run(permits: &Permits, command: &str) -> Permission {
    permits.decide(&turn(), &bash(), &CallAccess::Execute(command.to_owned())).await
}

#[tokio::test]
async fn a_person_is_asked_each_time_until_they_say_always() {
    let once = person(Reply::Once);
    let permits = Permits::new(PermissionMode::Ask, Some(once.clone()));
    for _ in 0..2 {
        assert_eq!(run(&permits, "ls").await, Permission::Allow);
    }
    assert_eq!(once.asked.load(Ordering::Relaxed), 2);

    let always = person(Reply::Always);
    let permits = Permits::new(PermissionMode::Ask, Some(always.clone()));
    for command in ["ls", "ls", "rm x"] {
        assert_eq!(run(&permits, command).await, Permission::Allow);
    }
    assert_eq!(always.asked.load(Ordering::Relaxed), 2, "`always` is for the same command only");
}

#[tokio::test]
async fn no_person_and_no_are_denials_that_the_model_can_read() {
    let permits = Permits::new(PermissionMode::Ask, None);
    assert!(
        matches!(run(&permits, "ls").await, Permission::Deny(text) if text.contains("--permissions all"))
    );
    let permits = Permits::new(PermissionMode::Ask, Some(person(Reply::No)));
    assert!(matches!(run(&permits, "ls").await, Permission::Deny(text) if text.contains("said no")));
    let permits = Permits::new(PermissionMode::All, None);
    assert_eq!(run(&permits, "ls").await, Permission::Allow, "the same call, allowed");
}

#[tokio::test]
async fn reading_is_never_asked_about() {
    let nobody = Permits::new(PermissionMode::Ask, None);
    let access = CallAccess::Read(PathBuf::from("/w/a"));
    assert_eq!(nobody.decide(&turn(), &bash(), &access).await, Permission::Allow);
}

#[tokio::test]
async fn a_gates_question_reaches_the_person_or_is_a_denial() {
    let there = Permits::new(PermissionMode::All, Some(person(Reply::Once)));
    assert_eq!(there.ask(&turn(), &bash(), "guard", "push?").await, Permission::Allow);
    let nobody = Permits::new(PermissionMode::All, None);
    assert!(
        matches!(nobody.ask(&turn(), &bash(), "guard", "push?").await, Permission::Deny(text) if text.contains("guard"))
    );
}
