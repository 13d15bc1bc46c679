use super::*;
use crate::recording_tests::{Notes, NotingObserver};
use crate::scripted_tests::{ScriptedModel, config, context, run, says};
use async_trait::async_trait;
use serde_json::json;
use std::time::Instant;

struct Sleeps;

#[async_trait]
impl ObserverPort for Sleeps {
    async fn on_event(&self, _event: &TurnEvent) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

struct Panics;

#[async_trait]
impl ObserverPort for Panics {
    async fn on_event(&self, _event: &TurnEvent) {
        panic!("observer panicked");
    }
}

// 003-066
#[tokio::test]
async fn slow_and_panicking_observers_neither_delay_nor_fail_a_turn() {
    let model = ScriptedModel::new([says("done")]);
    let config = config(&model);
    let notes = Arc::new(Notes::default());
    config.observers.add(Arc::new(Sleeps));
    config.observers.add(Arc::new(Panics));
    let well = config.observers.add(Arc::new(NotingObserver(notes.clone())));
    let started = Instant::now();
    run(&context([]), &config).await.result.unwrap();
    assert!(started.elapsed() < Duration::from_millis(800), "{:?}", started.elapsed());
    while config.observers.panicked() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(notes.take().await, ["O(TurnStarted)", "O(ModelResponseReceived)", "O(TurnCompleted)"]);
    config.observers.remove(well);
    config.observers.tell(|| TurnEvent::TurnStarted);
    assert!(notes.take().await.is_empty());
}

#[tokio::test]
async fn what_does_not_fit_the_queue_is_dropped_and_counted() {
    let observers = Observers::default();
    observers.add(Arc::new(Sleeps));
    for _ in 0..MAX_WAITING + 10 {
        observers.tell(|| TurnEvent::TurnStarted);
    }
    assert!((8..=10).contains(&observers.dropped()), "{}", observers.dropped());
}

// 003-108, 003-109
#[tokio::test]
async fn a_custom_event_arrives_unchanged_and_every_event_has_a_stable_text() {
    struct Keeps(std::sync::Mutex<Vec<TurnEvent>>);
    #[async_trait]
    impl ObserverPort for Keeps {
        async fn on_event(&self, event: &TurnEvent) {
            self.0.lock().unwrap().push(event.clone());
        }
    }
    let (observers, keeps) = (Observers::default(), Arc::new(Keeps(std::sync::Mutex::default())));
    observers.add(keeps.clone());
    let custom = TurnEvent::Custom { source: "x".into(), label: "y".into(), data: json!({"a": [1]}) };
    let told = custom.clone();
    observers.tell(|| told);
    observers.flush(Duration::from_secs(5)).await;
    assert_eq!(*keeps.0.lock().unwrap(), std::slice::from_ref(&custom));
    let call = crate::scripted_tests::call("id", "t", json!({}));
    let texts: Vec<String> = [
        TurnEvent::ToolCallDeferred { call, reason: "why".into() },
        TurnEvent::TurnFailed { message: "m".into() },
        custom.clone(),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    assert_eq!(texts, ["ToolCallDeferred(id, why)", "TurnFailed(m)", "Custom(x, y)"]);
    let text = serde_json::to_string(&custom).unwrap();
    assert_eq!(serde_json::from_str::<TurnEvent>(&text).unwrap(), custom);
}

/// Keeps the types of what a screen shows, and `turn:` before the turn's own events.
struct Shown(std::sync::Mutex<Vec<String>>);

#[async_trait]
impl ObserverPort for Shown {
    async fn on_event(&self, event: &TurnEvent) {
        self.0.lock().unwrap().push(format!("turn:{event}"));
    }

    async fn on_agent_event(&self, event: &AgentEvent) {
        let value = serde_json::to_value(event).unwrap();
        self.0.lock().unwrap().push(value["type"].as_str().unwrap().to_owned());
    }

    fn watches_agent_events(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn an_observer_may_see_what_a_screen_shows_in_one_order_with_the_turn() {
    let model = ScriptedModel::new([says("done")]);
    let config = config(&model);
    let shown = Arc::new(Shown(std::sync::Mutex::default()));
    config.observers.add(shown.clone());
    run(&context([]), &config).await.result.unwrap();
    config.observers.flush(Duration::from_secs(5)).await;
    let shown = shown.0.lock().unwrap();
    let at = |wanted: &str| shown.iter().position(|event| event == wanted);
    assert!(at("agent_start") < at("message_end") && at("message_end") < at("agent_end"), "{shown:?}");
    assert!(at("turn:TurnStarted").is_some() && at("turn:TurnCompleted").is_some(), "{shown:?}");
    assert!(at("message_update").is_none(), "what grows is left out: {shown:?}");
}
