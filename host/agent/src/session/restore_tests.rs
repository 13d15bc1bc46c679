use super::*;
use crate::scripted_tests::*;
use capstan_ports::entry::EntryKind;
use capstan_ports::{
    AssistantMessage, Content, Model, ModelCatalog, ModelError, ModelErrorKind, ModelEvent, SessionLog,
};
use std::sync::Arc;

/// The models of a program.
struct Shelf(Vec<Arc<ScriptedModel>>);

impl ModelCatalog for Shelf {
    fn available(&self) -> Vec<ModelInfo> {
        self.0.iter().map(|model| model.info().clone()).collect()
    }

    fn find(&self, provider: &str, id: &str) -> Result<Arc<dyn Model>, ModelError> {
        let found = self
            .0
            .iter()
            .find(|model| (model.info().provider.as_str(), model.info().id.as_str()) == (provider, id));
        let none = || ModelError::new(ModelErrorKind::Auth, format!("no key for {provider}"));
        found.map(|model| model.clone() as Arc<dyn Model>).ok_or_else(none)
    }
}

fn settings(log: &MemoryLog) -> Vec<String> {
    let entries = log.entries();
    let of = |kind: &EntryKind| match kind {
        EntryKind::ModelChange(change) => Some(format!("model {}", change.model_id)),
        EntryKind::ThinkingLevelChange(change) => Some(format!("level {}", change.thinking_level)),
        _ => None,
    };
    entries.iter().filter_map(|entry| of(&entry.kind)).collect()
}

fn now(session: &AgentSession) -> (String, ThinkingLevel) {
    (session.model().info().id.clone(), session.thinking_level())
}

/// A configuration whose default is model `one`, in a program that has `others` too.
fn with(others: &[&Arc<ScriptedModel>]) -> AgentLoopConfig {
    let mut config = config(&ScriptedModel::new([says("from one"), says("from one again")]));
    config.models = Some(Arc::new(Shelf(others.iter().map(|model| (*model).clone()).collect())));
    config
}

/// A session that was continued with model `two` and level `high`.
async fn continued_with_two() -> (Arc<MemoryLog>, Arc<ScriptedModel>) {
    let (log, two) = (MemoryLog::new(), ScriptedModel::named("two", [says("x"), says("from two")]));
    let session = AgentSession::open(config(&ScriptedModel::new([])), log.clone()).unwrap();
    session.set_model(two.clone()).await.unwrap();
    session.set_thinking_level(ThinkingLevel::High).await.unwrap();
    session.prompt_text("hi").await.unwrap();
    (log, two)
}

// 001-066, 001-067, 001-172
#[tokio::test]
async fn a_session_goes_on_with_the_model_and_level_it_was_left_with() {
    let (log, two) = continued_with_two().await;
    assert_eq!(settings(&log), ["model two", "level high"]);
    let before = log.operations();
    let session = AgentSession::open(with(&[&two]), log.clone()).unwrap();
    assert_eq!(now(&session), ("two".into(), ThinkingLevel::High));
    assert_eq!(session.notices(), []);
    assert_eq!(log.operations(), before, "opening writes nothing");
    session.prompt_text("go on").await.unwrap();
    assert_eq!(two.requests.lock().unwrap()[1].thinking, ThinkingLevel::High);
    assert_eq!(settings(&log), ["model two", "level high"], "what is said already is not said again");
}

// 001-172: who answered last counts as well as what was set.
#[tokio::test]
async fn an_answer_names_its_model_too() {
    let answer = AssistantMessage {
        provider: "scripted".into(),
        model: "two".into(),
        ..assistant(vec![Content::text("x")], capstan_ports::StopReason::Stop)
    };
    let answers = || [Answer::Events(vec![ModelEvent::Done(Box::new(answer.clone()))])];
    let (log, two) = (MemoryLog::new(), ScriptedModel::named("two", answers()));
    AgentSession::open(config(&two), log.clone()).unwrap().prompt_text("hi").await.unwrap();
    assert_eq!(settings(&log), Vec::<String>::new());
    let session = AgentSession::open(with(&[&two]), log).unwrap();
    assert_eq!(now(&session), ("two".into(), ThinkingLevel::Off));
}

#[tokio::test]
async fn a_model_that_is_gone_leaves_the_default_and_the_user_is_told() {
    let (log, two) = continued_with_two().await;
    let session = AgentSession::open(with(&[]), log.clone()).unwrap();
    assert_eq!(now(&session), ("one".into(), ThinkingLevel::High));
    let told: Vec<_> = session.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "the session was continued with scripted/two, which is not available (no key for scripted); scripted/one answers now"
        ]
    );
    session.prompt_text("go on").await.unwrap();
    assert_eq!(settings(&log), ["model two", "level high", "model one"]);
    // A program that has no list of models says so, too.
    let (log, _) = continued_with_two().await;
    let session = AgentSession::open(config(&ScriptedModel::new([])), log).unwrap();
    assert!(session.notices()[0].to_string().contains("one model only"));
    assert_eq!(two.sent().len(), 1);
}

#[tokio::test]
async fn what_the_user_chose_for_this_run_wins_and_is_recorded_with_the_first_prompt() {
    let (log, two) = continued_with_two().await;
    let before = log.operations();
    let mut config = with(&[&two]);
    config.thinking = ThinkingLevel::Low;
    config.chosen = Chosen { model: true, thinking: true };
    let session = AgentSession::open(config, log.clone()).unwrap();
    assert_eq!(now(&session), ("one".into(), ThinkingLevel::Low));
    assert_eq!((session.notices(), log.operations()), (vec![], before));
    session.prompt_text("go on").await.unwrap();
    session.prompt_text("and on").await.unwrap();
    assert_eq!(settings(&log), ["model two", "level high", "model one", "level low"]);
    let kinds: Vec<_> = log.entries().iter().skip(4).map(|entry| entry.kind.type_name().to_owned()).collect();
    assert_eq!(kinds[..3], ["model_change", "thinking_level_change", "message"]);

    // One of the two alone leaves the other to the session.
    let (log, two) = continued_with_two().await;
    let mut config = with(&[&two]);
    config.chosen = Chosen { model: false, thinking: true };
    let session = AgentSession::open(config, log).unwrap();
    assert_eq!(now(&session), ("two".into(), ThinkingLevel::Off));
}

#[tokio::test]
async fn a_new_session_says_only_what_its_answers_do_not() {
    for (level, said) in [(ThinkingLevel::Off, vec![]), (ThinkingLevel::High, vec!["level high".to_owned()])]
    {
        let log = MemoryLog::new();
        let mut config = config(&ScriptedModel::new([says("x")]));
        config.thinking = level;
        let session = AgentSession::open(config, log.clone()).unwrap();
        session.prompt_text("hi").await.unwrap();
        assert_eq!(settings(&log), said);
    }
}

// 001-146
#[tokio::test]
async fn another_session_brings_its_own_settings_and_a_new_one_takes_those_of_now() {
    let (old, two) = continued_with_two().await;
    let mut config = with(&[&two]);
    config.thinking = ThinkingLevel::Low;
    let session = AgentSession::open(config, MemoryLog::named("s2")).unwrap();
    assert_eq!(now(&session), ("one".into(), ThinkingLevel::Low));
    session.switch(old).await.unwrap();
    assert_eq!(now(&session), ("two".into(), ThinkingLevel::High));
    let new = MemoryLog::named("s3");
    session.switch(new.clone()).await.unwrap();
    assert_eq!(now(&session), ("two".into(), ThinkingLevel::High));
    session.prompt_text("hi").await.unwrap();
    assert_eq!(settings(&new), ["level high"]);
    // What is told is about the present session only.
    let (gone, _) = continued_with_two().await;
    session.agent().configure(|config| config.models = None);
    session.set_model(ScriptedModel::named("three", [])).await.unwrap();
    session.switch(gone).await.unwrap();
    assert_eq!(session.notices().len(), 1);
    session.switch(MemoryLog::named("s4")).await.unwrap();
    assert_eq!(session.notices(), []);
}

#[tokio::test]
async fn a_branch_that_was_made_with_other_settings_learns_of_those_of_now() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([says("a"), says("b"), says("c")]);
    let session = AgentSession::open(config(&model), log.clone()).unwrap();
    session.prompt_text("hi").await.unwrap();
    let before = log.leaf().unwrap();
    session.set_thinking_level(ThinkingLevel::High).await.unwrap();
    session.prompt_text("hard").await.unwrap();
    session.branch(Some(&before)).await.unwrap();
    assert_eq!(session.thinking_level(), ThinkingLevel::High);
    session.prompt_text("else").await.unwrap();
    assert_eq!(log.context().unwrap().thinking, Some(ThinkingLevel::High));
    assert_eq!(model.requests.lock().unwrap()[2].thinking, ThinkingLevel::High);
}
