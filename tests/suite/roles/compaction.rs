//! Compressors: what they may say, what the loop makes of it, and what takes their place when they fail.

use super::{GROW, SPIN, TRAP, bad_guests, install_roles, lies_beneath, roles};
use anyhow::{Context, Result, bail};
use capstan_agent::{AgentLoopConfig, AgentSession};
use capstan_engine::Extension;
use capstan_ports::compressor::{
    CompressAction, CompressContext, CompressError, CompressReason, CompressorPort,
};
use capstan_ports::message::{AssistantMessage, Content, Message};
use capstan_ports::model::{Model, ModelErrorKind, ModelInfo};
use capstan_ports::session::SessionId;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::Guest;
use capstan_tests::logged::Logged;
use capstan_tests::product;
use capstan_tests::sandboxed::{Granted, Place};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn strategy(extension: &Extension, name: &str) -> Result<Arc<dyn CompressorPort>> {
    extension.compressors().remove(name).with_context(|| format!("there is no {name}"))
}

/// A conversation of three messages.
fn talk() -> Vec<Arc<Message>> {
    let answer =
        AssistantMessage { content: vec![Content::text("an answer")], ..AssistantMessage::default() };
    [Message::user("first"), Message::Assistant(answer), Message::user("second")].map(Arc::new).into()
}

fn context(used_tokens: u32, reason: CompressReason) -> CompressContext {
    CompressContext {
        session_id: SessionId::new("test"),
        window_tokens: 1_000,
        used_tokens,
        reserve_tokens: 100,
        instructions: None,
        reason,
    }
}

/// Of a conversation that does not fit.
fn full() -> CompressContext {
    context(2_000, CompressReason::BeforeModel)
}

fn failed(action: Result<CompressAction, CompressError>) -> Result<CompressError> {
    match action {
        Ok(action) => bail!("must fail: {action:?}"),
        Err(error) => Ok(error),
    }
}

#[tokio::test]
async fn a_strategy_replaces_messages_and_those_it_did_not_touch_stay_the_very_same() -> Result<()> {
    let tail = strategy(&roles(&Place::with_cache()?, Granted::Everything).await?, "tail")?;
    let messages = talk();
    let action = tail.compress(&messages, &full()).await?;
    let CompressAction::Replace(shorter) = action else { bail!("no replacement: {action:?}") };
    assert_eq!(shorter[0].text(), "(2 messages left out)");
    assert_eq!(shorter.len(), 2);
    assert!(Arc::ptr_eq(&shorter[1], &messages[2]));
    Ok(())
}

#[tokio::test]
async fn a_strategy_acts_when_there_is_no_room_and_when_the_model_says_so() -> Result<()> {
    let tail = strategy(&roles(&Place::with_cache()?, Granted::Everything).await?, "tail")?;
    for (used, reason, acts) in [
        (10, CompressReason::BeforeModel, false),
        (950, CompressReason::BeforeModel, true),
        (10, CompressReason::Overflow, true),
    ] {
        let action = tail.compress(&talk(), &context(used, reason)).await?;
        assert_eq!(action != CompressAction::None, acts, "{used} {reason:?}: {action:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_strategy_orders_a_summary_or_a_new_session() -> Result<()> {
    let extension = roles(&Place::with_cache()?, Granted::Everything).await?;
    let action = strategy(&extension, "summary")?.compress(&talk(), &full()).await?;
    let instructions = "names of files".to_owned();
    assert_eq!(action, CompressAction::Summarize { first_kept: 2, instructions });

    let fresh = strategy(&extension, "fresh")?;
    let of = |id: Option<&str>| CompressContext { instructions: id.map(str::to_owned), ..full() };
    for id in [None, Some("talk-2")] {
        let action = fresh.compress(&talk(), &of(id)).await?;
        let CompressAction::NewSession { messages, session_id } = action else { bail!("{action:?}") };
        assert_eq!((messages.len(), session_id), (2, id.map(SessionId::new)));
    }
    // Stores make file names of ids.
    for id in ["", "../talk", "a/b", "a b", "a\u{202e}", &"x".repeat(65)] {
        let error = failed(fresh.compress(&talk(), &of(Some(id))).await)?;
        assert!(error.message.contains("the session id"), "{id:?}: {error}");
    }
    Ok(())
}

// Design §6: without its power nothing is replaced.
#[tokio::test]
async fn without_the_power_a_strategy_may_only_leave_everything() -> Result<()> {
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    for name in ["tail", "summary", "fresh", "orphan"] {
        let error = failed(strategy(&extension, name)?.compress(&talk(), &full()).await)?;
        assert!(error.message.contains("without the power `compress`"), "{error}");
    }
    let roomy = context(10, CompressReason::BeforeModel);
    assert_eq!(strategy(&extension, "tail")?.compress(&talk(), &roomy).await?, CompressAction::None);
    Ok(())
}

#[tokio::test]
async fn a_strategy_that_goes_wrong_is_an_error_and_after_a_trap_it_is_left_out() -> Result<()> {
    let place = Place::new()?;
    for (said, guest) in bad_guests(|guest, body| guest.compressor("bad", body)) {
        let bad = strategy(&place.load_granted(&guest, Granted::Everything).await?, "bad")?;
        let error = failed(bad.compress(&talk(), &full()).await)?;
        assert!(error.to_string().contains(said) && lies_beneath(&error), "{error}");
        assert_eq!(error.name, format!("{}/bad", guest.id));
        let again = bad.compress(&talk(), &full()).await;
        if guest.id == "garbage" {
            failed(again)?;
            assert!(!bad.is_left_out(), "it may do better next time");
        } else {
            assert!(bad.is_left_out());
            assert!(error.message.contains("left out for the rest of this session"), "{error}");
            assert_eq!(again?, CompressAction::None, "said once, and not asked again");
        }
    }
    Ok(())
}

/// A turn that the model refuses as too long at first, and the messages of each request.
async fn overflowing(compressor: Arc<dyn CompressorPort>) -> Result<Vec<Vec<String>>> {
    let model = ScriptedModel::new([
        Answer::text("one"),
        Answer::error(ModelErrorKind::ContextOverflow, "too long"),
        Answer::text("two"),
    ]);
    let info = ModelInfo { context_window: 1_000, max_output_tokens: 10, ..model.info().clone() };
    let model = model.with_info(info);
    let mut config = AgentLoopConfig::new(Arc::new(model.clone()));
    config.compressor = Some(compressor);
    let session = AgentSession::open(config, Arc::new(MemorySession::new(Path::new("/work"))))?;
    session.prompt_text("first").await?;
    session.prompt_text("second").await?;
    let texts = |messages: &[Arc<Message>]| messages.iter().map(|message| message.text()).collect();
    Ok(model.requests().iter().map(|request| texts(&request.messages)).collect())
}

#[tokio::test]
async fn a_turn_goes_on_with_what_the_strategy_made_of_it() -> Result<()> {
    let tail = strategy(&roles(&Place::with_cache()?, Granted::Everything).await?, "tail")?;
    let requests = overflowing(tail).await?;
    assert_eq!(requests[1], ["first", "one", "second"]);
    assert_eq!(requests[2], ["(2 messages left out)", "second"]);
    Ok(())
}

// 003-072, P18: and what cannot be sent is not sent.
#[tokio::test]
async fn where_a_strategy_fails_the_built_in_compaction_takes_its_place() -> Result<()> {
    let logged = Logged::begin();
    let place = Place::new()?;
    for (id, body) in [("trapper", TRAP), ("spinner", SPIN), ("grower", GROW)] {
        let guest = Guest::new(id).compressor("bad", body);
        let bad = strategy(&place.load_granted(&guest, Granted::Everything).await?, "bad")?;
        let requests = overflowing(bad).await?;
        assert_eq!(requests[2], ["second"], "the oldest turn was left out");
        let about = format!("{id}/bad");
        assert_eq!(logged.with(&about).len(), 1, "said once: {:#?}", logged.with(&about));
    }
    Ok(())
}

// 003-072
#[tokio::test]
async fn a_list_that_parts_a_result_from_its_call_does_not_replace_the_conversation() -> Result<()> {
    let logged = Logged::begin();
    let orphan = strategy(&roles(&Place::with_cache()?, Granted::Everything).await?, "orphan")?;
    let model = ScriptedModel::new([Answer::call("nope", json!({})), Answer::text("done")]);
    let mut config = AgentLoopConfig::new(Arc::new(model.clone()));
    config.compressor = Some(orphan);
    let session = AgentSession::open(config, Arc::new(MemorySession::new(Path::new("/work"))))?;
    session.prompt_text("go").await?;
    assert_eq!(model.requests()[1].messages.len(), 3, "prompt, call, result");
    assert_eq!(logged.with("messages are refused").len(), 1);
    Ok(())
}

/// A window that nothing fits into beside an answer.
const SMALL: &str = "[provider.openai.models.test-model]\ncontext_window = 1000\nmax_output_tokens = 2000\n";

#[tokio::test]
async fn of_several_strategies_the_configuration_chooses_one() -> Result<()> {
    let server = ScriptedServer::play(["one", "two", "three", "four"].map(Answer::text)).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    product.configure(SMALL)?;
    let said = product.run(&["-p", "first"]).await?.with_code(0).stderr;
    assert!(said.contains("several extensions could be the compressor"), "{said}");
    let said = product.run(&["-p", "second", "--continue"]).await?.with_code(0).stderr;
    assert!(said.contains("compressor = \"roles/fresh\""), "{said}");
    assert_eq!(Conversation::of(&server.requests()[1]).said(), ["first", "second"], "none is in force");

    product.configure(&format!("compressor = \"roles/tail\"\n{SMALL}"))?;
    let said = product.run(&["-p", "third", "--continue"]).await?.with_code(0).stderr;
    assert!(!said.contains("compressor"), "{said}");
    let sent = Conversation::of(&server.requests()[2]).said();
    assert_eq!(sent, ["(4 messages left out)", "third"]);

    product.configure(&format!("compressor = \"roles/tial\"\n{SMALL}"))?;
    let said = product.run(&["-p", "fourth", "--continue"]).await?.with_code(0).stderr;
    assert!(said.contains("\"roles/tial\"") && said.contains("built-in compaction"), "{said}");
    // 001-156: what a strategy wrote is part of the session and stays in force without it.
    let sent = Conversation::of(&server.requests()[3]).said();
    assert_eq!(sent, ["(4 messages left out)", "third", "fourth"]);
    let entries = product.session()?;
    let compaction = entries.iter().find(|entry| entry["type"] == "compaction").context("no entry")?;
    assert_eq!((&compaction["fromHook"], &compaction["messages"][0]["role"]), (&json!(true), &json!("user")));
    assert_eq!(compaction["summary"], "[User]: (4 messages left out)");
    Ok(())
}

#[tokio::test]
async fn a_single_granted_strategy_is_in_force_and_its_trap_costs_a_line() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("all the same")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&Guest::new("trapper").compressor("bad", TRAP))?;
    product.run(&["ext", "allow", "trapper", "--yes"]).await?.with_code(0);
    let run = product.run(&["-p", "hello"]).await?.with_code(0);
    assert_eq!(run.stdout, "all the same\n");
    assert!(run.stderr.contains("trapper/bad") && run.stderr.contains("left out"), "{}", run.stderr);
    Ok(())
}
