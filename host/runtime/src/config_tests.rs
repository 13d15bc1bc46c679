use super::*;
use crate::scripted_tests::*;
use capstan_provider::{Answer, ScriptedModel};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn limit<T>(result: Result<T, AgentError>) -> String {
    match result {
        Err(AgentError::LimitExceeded(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no limit was reached"),
    }
}

// 004-029
#[test]
fn the_defaults_are_the_documented_ones() {
    let AgentConfig { max_turns, max_tool_turns, session_ttl, compact_config } = AgentConfig::default();
    assert_eq!((max_turns, max_tool_turns, session_ttl, compact_config), (100, 10, None, None));
}

// 004-025
#[tokio::test]
async fn a_session_takes_no_more_turns_than_it_may() {
    let model = ScriptedModel::new(["a", "b", "c"].map(text));
    let config = AgentConfig { max_turns: 2, ..AgentConfig::default() };
    let mut session = session(builder(&model, &Arc::default()).config(config));
    for _ in 0..2 {
        session.submit_turn("hi").await.unwrap();
    }
    assert!(limit(session.submit_turn("hi").await).contains("all of its 2 turns"));
    assert_eq!((model.requests().len(), session.turn_index()), (2, 2));
}

// 004-026
#[tokio::test]
async fn a_model_that_only_calls_tools_is_stopped() {
    let model = ScriptedModel::new((0..9).map(|_| call("add")).chain([text("done")]));
    let notes = Arc::default();
    let config = AgentConfig { max_tool_turns: 3, ..AgentConfig::default() };
    let mut session = session(builder(&model, &notes).config(config));
    assert!(limit(session.submit_turn("hi").await).contains("3 tool rounds"));
    assert_eq!((notes.take().len(), model.requests().len(), session.turn_index()), (3, 4, 0));
}

/// Stands still until it is told to move.
#[derive(Default)]
struct Hands(AtomicU64);

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

// 004-027
#[tokio::test]
async fn a_session_ends_with_its_time() {
    let model = ScriptedModel::new(["a", "b", "c"].map(text));
    let clock = Arc::new(Hands(AtomicU64::new(1000)));
    let with = |session_ttl| {
        let config = AgentConfig { session_ttl, ..AgentConfig::default() };
        session(builder(&model, &Arc::default()).config(config).clock(clock.clone()))
    };
    let mut short = with(Some(Duration::from_secs(60)));
    let mut endless = with(None);
    clock.0.store(1059, Ordering::Relaxed);
    short.submit_turn("hi").await.unwrap();
    clock.0.store(1060, Ordering::Relaxed);
    assert!(limit(short.submit_turn("hi").await).contains("60s"));
    assert_eq!((short.turn_index(), model.requests().len()), (1, 1));
    clock.0.store(u64::MAX, Ordering::Relaxed);
    endless.submit_turn("hi").await.unwrap();
}

#[test]
fn the_machines_clock_does_not_go_back() {
    let clock = SystemClock::default();
    let before = clock.now();
    assert!(clock.now() >= before);
}

/// Counts compactions.
#[derive(Default)]
struct Compactions(Mutex<u32>);

#[async_trait::async_trait]
impl capstan_ports::EventSink for Compactions {
    async fn emit(&self, event: capstan_ports::AgentEvent) {
        if matches!(event, capstan_ports::AgentEvent::CompactionEnd { .. }) {
            *self.0.lock().unwrap() += 1;
        }
    }
}

// 004-028, 004-137
#[tokio::test]
async fn a_conversation_is_compacted_at_its_threshold_and_only_if_that_is_asked_for() {
    let long = "word ".repeat(400);
    for (compact_config, wanted) in
        [(Some(CompactConfig { enabled: true, reserve_tokens: 1000, keep_recent_tokens: 600 }), 1), (None, 0)]
    {
        let mut answers: Vec<Answer> =
            [100, 600, 1200].map(|read| Answer::text(long.clone()).with_usage(usage(read, 500))).into();
        // The summary, where one is asked for.
        answers.push(Answer::text("SUMMARY"));
        answers.push(Answer::text("last"));
        let model = ScriptedModel::new(answers);
        let info = capstan_ports::Model::info(&model).clone();
        let model = model.with_info(capstan_ports::ModelInfo { context_window: 2_600, ..info });
        let config = AgentConfig { compact_config, ..AgentConfig::default() };
        let mut session = session(builder(&model, &Arc::default()).config(config));
        let compactions = Compactions::default();
        for turn in 0..4 {
            let cancel = tokio_util::sync::CancellationToken::new();
            let done = session.submit_turn_with_events(format!("turn {turn}"), &compactions, &cancel).await;
            done.unwrap();
        }
        assert_eq!(*compactions.0.lock().unwrap(), wanted);
        let last = sent(&model).pop().unwrap();
        assert_eq!(last.iter().any(|line| line.contains("SUMMARY")), wanted == 1, "{last:?}");
        assert_eq!(last.iter().any(|line| line.contains("turn 0")), wanted == 0, "{last:?}");
        assert!(last.last().unwrap().ends_with("turn 3") && last[last.len() - 2].contains("word"));
        // What a compaction left is what the session goes on from; its model call was paid, too.
        assert_eq!(session.messages().unwrap().len() < 8, wanted == 1);
        assert_eq!(session.cost_so_far().calls, 4 + wanted as u64);
    }
}
