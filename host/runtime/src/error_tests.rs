use super::*;
use capstan_ports::{ModelErrorKind, RuntimeError, SessionError, SessionId};
use std::error::Error;

fn model(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "one/two: no answer")
}

fn memory() -> MemoryError {
    MemoryError::Search { message: "locked".into(), source: Some("busy".into()) }
}

// 004-110, 004-151
#[test]
fn each_kind_of_error_says_what_happened() {
    let all = [
        (AgentError::Llm(model(ModelErrorKind::Auth)), "one/two: no answer"),
        (AgentError::Tool(ToolError::failed("no room")), "no room"),
        (AgentError::Memory(memory()), "the memory could not be searched: locked"),
        (AgentError::PlanParse("no steps".into()), "no plan could be read: no steps"),
        (AgentError::HookBlocked("not today".into()), "blocked by a hook: not today"),
        (AgentError::LimitExceeded("too much".into()), "too much"),
        (AgentError::Config("no provider".into()), "the agent cannot be built: no provider"),
        (AgentError::Other("odd".into()), "odd"),
    ];
    assert_eq!(all.len(), 8);
    for (error, text) in all {
        assert_eq!(error.to_string(), text);
    }
}

fn converted<E>(error: E) -> AgentError
where
    AgentError: From<E>,
{
    let tried: Result<(), E> = Err(error);
    let question = || -> Result<(), AgentError> { Ok(tried?) };
    question().unwrap_err()
}

// 004-111, 004-112
#[test]
fn errors_of_the_parts_convert_and_stay_what_they_are() {
    let llm = converted(model(ModelErrorKind::RateLimited).because("socket"));
    assert_eq!(llm.source().unwrap().to_string(), "socket", "what lies beneath the part is reached");
    assert!(matches!(llm, AgentError::Llm(ModelError { kind: ModelErrorKind::RateLimited, .. })));
    assert!(matches!(converted(ToolError::Aborted), AgentError::Tool(ToolError::Aborted)));
    let memory = converted(memory());
    assert_eq!(memory.source().unwrap().to_string(), "busy");
    assert!(matches!(memory, AgentError::Memory(MemoryError::Search { .. })));
}

// 004-113, 004-114, 004-115, 004-116, 004-117 (X22)
#[test]
fn what_may_succeed_later_is_said() {
    let yes = [
        AgentError::Llm(model(ModelErrorKind::RateLimited)),
        AgentError::Llm(model(ModelErrorKind::Network)),
        AgentError::Tool(ToolError::TimedOut("slow".into())),
        AgentError::Memory(memory()),
    ];
    let no = [
        AgentError::Llm(model(ModelErrorKind::Auth)),
        AgentError::Llm(model(ModelErrorKind::ContextOverflow)),
        AgentError::Tool(ToolError::Denied("no".into())),
        AgentError::Tool(ToolError::failed("no")),
        AgentError::PlanParse(String::new()),
        AgentError::Config(String::new()),
        AgentError::HookBlocked(String::new()),
        AgentError::LimitExceeded(String::new()),
        AgentError::Other(String::new()),
    ];
    assert!(yes.iter().all(AgentError::is_recoverable));
    assert!(!no.iter().any(AgentError::is_recoverable));
}

//
#[test]
fn every_error_of_the_loop_has_its_word_here() {
    let hook = || ("h".to_owned(), "not now".to_owned());
    let name = |error: LoopError| {
        let text = error.to_string();
        let error = AgentError::from(error);
        match &error {
            AgentError::Llm(_) => "Llm",
            AgentError::Tool(_) => "Tool",
            AgentError::Memory(_) => "Memory",
            AgentError::PlanParse(_) => "PlanParse",
            AgentError::HookBlocked(reason) => {
                assert_eq!(reason, "not now");
                "HookBlocked"
            }
            AgentError::LimitExceeded(_) => "LimitExceeded",
            AgentError::Config(_) => "Config",
            AgentError::Other(said) => {
                assert_eq!(*said, text);
                "Other"
            }
        }
    };
    let exists = SessionError::Exists { id: SessionId::new("s") };
    let boxed = || -> Box<dyn Error + Send + Sync> { "why".into() };
    let (hook_one, reason_one) = hook();
    let (hook_two, reason_two) = hook();
    let table = [
        (LoopError::Model(model(ModelErrorKind::Auth)), "Llm"),
        (LoopError::BranchSummary(model(ModelErrorKind::Auth)), "Llm"),
        (LoopError::Compaction(model(ModelErrorKind::Auth)), "Llm"),
        (LoopError::Runtime(RuntimeError::UnknownTool { name: "x".into() }), "Tool"),
        (LoopError::Memory(memory()), "Memory"),
        (LoopError::HookAborted { hook: hook_one, reason: reason_one }, "HookBlocked"),
        (LoopError::CompactionRefused { hook: hook_two, reason: reason_two }, "HookBlocked"),
        (LoopError::ToolLoopExceeded { limit: 1 }, "LimitExceeded"),
        (LoopError::RepeatedFailure { tool: "x".into(), times: 9 }, "LimitExceeded"),
        (LoopError::DuplicateTool { name: "x".into() }, "Config"),
        (LoopError::ExtensionName { name: "x".into() }, "Config"),
        (LoopError::AlreadyRunning, "Other"),
        (LoopError::ContinueWithoutMessages, "Other"),
        (LoopError::ContinueFromAssistant, "Other"),
        (LoopError::Closed, "Other"),
        (LoopError::Session(exists), "Other"),
        (LoopError::Aborted, "Other"),
        (LoopError::NotDeferred { call_id: "c".into() }, "Other"),
        (LoopError::AlreadyCompacted, "Other"),
        (LoopError::NothingToCompact, "Other"),
        (LoopError::CompactionCancelled, "Other"),
        (LoopError::Context { source: boxed() }, "Other"),
        (LoopError::Listener { message: "m".into() }, "Other"),
        (LoopError::Extension { name: "x".into(), source: boxed() }, "Other"),
    ];
    for (error, wanted) in table {
        let said = error.to_string();
        assert_eq!(name(error), wanted, "{said}");
    }
}
