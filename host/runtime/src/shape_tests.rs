//! What the compiler and the sources say about the crate as a whole.

use crate::*;

fn is_shared<T: Send + Sync + ?Sized>() {}

// 004-152 (NF3), 004-163: parts are trait objects behind `Arc`, and what does I/O is `async` and answers a `Result`.
#[test]
fn every_public_type_can_be_shared_between_threads() {
    is_shared::<dyn Agent>();
    is_shared::<AgentBuilder>();
    is_shared::<RuntimeBundle>();
    is_shared::<AgentConfig>();
    is_shared::<CompactConfig>();
    is_shared::<dyn Clock>();
    is_shared::<SystemClock>();
    is_shared::<ConversationMemory>();
    is_shared::<CostTracker>();
    is_shared::<AgentError>();
    is_shared::<InMemoryStore>();
    is_shared::<Document>();
    is_shared::<KnowledgeStore>();
    is_shared::<PromptTemplate>();
    is_shared::<PromptComposer>();
    is_shared::<ProviderRegistry>();
    is_shared::<MemoryRetriever>();
    is_shared::<AgentSession>();
    is_shared::<ChatResponse>();
    is_shared::<SessionMemory>();
    is_shared::<SessionMemorySetTool>();
    is_shared::<TaskAgent>();
    is_shared::<Plan>();
    is_shared::<PlanRecord>();
    is_shared::<JsonPlanParser>();
    is_shared::<FallbackPlanParser>();
    is_shared::<dyn PlanObserver>();
    is_shared::<dyn Turns>();
}

// 004-055: a stream is read by one reader, which may be on another thread.
#[test]
fn a_stream_can_be_moved_to_another_thread() {
    fn is_sent<T: Send>() {}
    is_sent::<TurnStream<'_>>();
}

// 004-150 (NF1), 004-164: nothing but what the loop uses, too, and nothing of screens, gateways or several agents.
#[test]
fn the_crate_depends_on_the_loop_and_on_nothing_new() {
    let manifest = include_str!("../Cargo.toml");
    let section = manifest.split_once("[dependencies]\n").unwrap().1.split("\n\n").next().unwrap();
    let names: Vec<&str> = section.lines().map(|line| line.split(['.', ' ']).next().unwrap()).collect();
    let known = [
        "capstan-agent",
        "capstan-ports",
        "async-trait",
        "futures",
        "serde",
        "serde_json",
        "thiserror",
        "tokio",
        "tokio-util",
        "tracing",
        // Ids of plans and of conversations' messages; the session crate has it anyway.
        "uuid",
    ];
    assert!(names.contains(&"capstan-agent"), "{names:?}");
    let new: Vec<_> = names.iter().filter(|name| !known.contains(name)).collect();
    assert!(new.is_empty(), "{new:?}");
}

// 004-051, 004-052
#[test]
fn a_session_knows_no_memory_of_conversations() {
    for source in [include_str!("session.rs"), include_str!("session_history.rs")] {
        assert!(source.contains("SessionLog"), "the sources are the ones meant");
        assert!(!source.contains("ConversationMemory") && !source.contains("KnowledgeStore"));
        assert!(!source.contains("memory_store"));
    }
}

// 004-155 (NF6)
#[test]
fn the_crates_that_programs_build_on_do_not_compile_with_an_undocumented_item() {
    for library in [
        include_str!("lib.rs"),
        include_str!("../../ports/src/lib.rs"),
        include_str!("../../agent/src/lib.rs"),
        include_str!("../../session/src/lib.rs"),
    ] {
        assert!(library.contains("#![deny(missing_docs)]"));
    }
}

// 004-020 (X20): the documentation holds a program that makes the bundle itself and must not compile.
#[test]
fn the_bundle_can_only_be_built() {
    let source = include_str!("bundle.rs");
    assert!(source.contains("```compile_fail,E0639"));
    assert!(source.contains("#[non_exhaustive]\npub struct RuntimeBundle"));
    assert!(!source.contains("pub fn new"));
}

// 004-007
#[test]
fn a_role_runs_no_turns() {
    let methods = include_str!("role.rs").lines().filter(|line| line.trim_start().starts_with("fn "));
    assert_eq!(methods.count(), 3, "name, prompt and tools");
    assert!(!include_str!("role.rs").contains("fn submit_turn"));
}

// 004-160: one concern a file, and the names of the seed at the root.
#[test]
fn each_concern_has_its_file_and_its_name_at_the_root() {
    for (source, name) in [
        (include_str!("role.rs"), "pub trait Agent"),
        (include_str!("bundle.rs"), "pub struct RuntimeBundle"),
        (include_str!("config.rs"), "pub struct AgentConfig"),
        (include_str!("session.rs"), "pub struct AgentSession"),
        (include_str!("session_memory.rs"), "pub struct SessionMemory"),
        (include_str!("task.rs"), "pub struct TaskAgent"),
        (include_str!("builder.rs"), "pub struct AgentBuilder"),
        (include_str!("error.rs"), "pub enum AgentError"),
    ] {
        assert!(source.contains(name), "{name}");
    }
}
