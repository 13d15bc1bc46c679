//! What the loop costs, counted rather than timed: the conversation is not copied as it grows.

use crate::recording_tests::{Notes, StageHook};
use crate::scripted_tests::{Answer, ScriptedModel, TestTool, call, calls, config, context, says, user};
use crate::{AgentLoopConfig, HookChain, Observers, run_agent_loop};
use capstan_ports::event::NoEvents;
use capstan_ports::{Hook, Model, ModelInfo, ModelRequest, ModelStream, ToolOutcome, TurnEvent};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Looks where the request's list lies in memory and forgets it, as a real provider does.
struct Tireless {
    inner: Arc<ScriptedModel>,
    places: Mutex<Vec<usize>>,
}

impl Model for Tireless {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.places.lock().unwrap().push(request.messages.as_ptr().addr());
        self.inner.stream(ModelRequest::default())
    }
}

/// How often the list moved in so many rounds. A list that only grows moves each time its room doubles.
async fn moves(rounds: usize, change: impl FnOnce(&mut AgentLoopConfig)) -> usize {
    let answers =
        (0..rounds).map(|round| -> Answer { calls([call(&format!("c{round}"), "noop", json!({}))]) });
    let inner = ScriptedModel::new(answers.chain([says("done")]));
    let mut config = config(&inner);
    let model = Arc::new(Tireless { inner, places: Mutex::default() });
    config.model = model.clone();
    change(&mut config);
    let tool = TestTool::new("noop", |_, _| async { Ok(ToolOutcome::text("ok")) });
    let cancel = CancellationToken::new();
    let added =
        run_agent_loop(vec![user("go")], &context([tool]), &config, &NoEvents, &cancel).await.unwrap();
    assert_eq!(added.len(), 2 + 2 * rounds);
    let places = model.places.lock().unwrap();
    places.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[tokio::test]
async fn a_thousand_rounds_copy_the_conversation_only_as_often_as_its_room_doubles() {
    assert!(moves(100, |_| {}).await <= 10);
    assert!(moves(1000, |_| {}).await <= 13);
}

#[tokio::test]
async fn hooks_that_look_at_the_conversation_do_not_make_the_loop_copy_it() {
    let watched = moves(300, |config| {
        config.hooks.replace(HookChain::new([
            Arc::new(StageHook::new("h", &Arc::<Notes>::default())) as Arc<dyn Hook>
        ]));
    });
    assert!(watched.await <= 12);
}

#[tokio::test]
async fn without_observers_no_event_is_built() {
    Observers::default().tell(|| -> TurnEvent { panic!("built for nobody") });
}
