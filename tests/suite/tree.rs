//! What an agent session does with its tree is found again in the file.

use anyhow::{Context, Result};
use capstan_agent::{
    AgentLoopConfig, AgentSession, Chosen, CodingExtension, ExtensionRuntime, NavigateOptions, Opened,
    ToolRegistry, TypedTool,
};
use capstan_ports::entry::{BashExecution, EntryKind};
use capstan_ports::{EntryId, SessionLog, ThinkingLevel, ToolOutcome};
use capstan_provider::scripted::server::ScriptedServer;
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::SessionFile;
use capstan_tests::product;
use capstan_tests::product::KEY;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session in a folder of its own.
struct Kept {
    _root: tempfile::TempDir,
    file: PathBuf,
}

impl Kept {
    fn new() -> Result<Self> {
        let root = tempfile::tempdir()?;
        let file = SessionFile::create(root.path(), Path::new("/work"))?.path().to_owned();
        Ok(Self { _root: root, file })
    }

    /// As a program that starts anew: whoever had the file before must have let it go.
    fn log(&self) -> Result<Arc<SessionFile>> {
        Ok(Arc::new(SessionFile::open(&self.file)?))
    }

    fn open(&self, model: &ScriptedModel) -> Result<AgentSession> {
        Ok(AgentSession::open(AgentLoopConfig::new(Arc::new(model.clone())), self.log()?)?)
    }
}

/// The entry of the message with this text.
fn said(log: &dyn SessionLog, text: &str) -> Result<EntryId> {
    let entries = log.entries();
    let found = entries.iter().find(|entry| entry.message().is_some_and(|message| message.text() == text));
    Ok(found.with_context(|| format!("nobody said {text}"))?.id.clone())
}

/// What the model was sent, as texts.
fn sent(model: &ScriptedModel, request: usize) -> Vec<String> {
    model.requests()[request].messages.iter().map(|message| message.text()).collect()
}

/// Counts how often it was started in this session, and keeps the number in it.
fn counter() -> CodingExtension {
    CodingExtension::new("counter").with_on_start(|context| async move {
        let before = context.session.custom_entries("counter/starts")?;
        let starts = before.last().and_then(serde_json::Value::as_u64).unwrap_or_default() + 1;
        context.session.append_custom_entry("counter/starts", Some(json!(starts))).await?;
        Ok(())
    })
}

// 001-071
#[tokio::test]
async fn an_extension_finds_its_private_state_again_and_no_model_sees_it() -> Result<()> {
    let kept = Kept::new()?;
    let model = ScriptedModel::new((0..3).map(|_| Answer::text("hello")));
    for starts in 1..=3_u64 {
        let mut runtime = ExtensionRuntime::new();
        runtime.register(Arc::new(counter()))?;
        let config = AgentLoopConfig::new(Arc::new(model.clone()));
        let Opened { session, .. } = runtime.open(config, kept.log()?, Vec::new()).await?;
        session.prompt_text("hi").await?;
        assert_eq!(session.custom_entries("counter/starts")?.last(), Some(&json!(starts)));
        assert_eq!(session.custom_entries("another/starts")?, Vec::<serde_json::Value>::new());
        // On another branch it is as it was there.
        session.branch(None).await?;
        assert!(session.custom_entries("counter/starts")?.is_empty());
        session.dispose().await?;
    }
    for request in 0..3 {
        assert!(!sent(&model, request).concat().contains("starts"));
    }
    Ok(())
}

// 001-157, 001-019, 001-043
#[tokio::test]
async fn a_branch_that_was_left_is_summarized_in_the_file_and_read_after_a_restart() -> Result<()> {
    let kept = Kept::new()?;
    let model = ScriptedModel::new([
        Answer::call("read", json!({"path": "src/a.rs"})),
        Answer::text("it is broken"),
        Answer::text("what I tried failed"),
        Answer::text("fine"),
        Answer::text("and fine again"),
    ]);
    let session = kept.open(&model)?;
    let read =
        TypedTool::<serde_json::Value>::new("read", "Reads.", |_, _| async { Ok(ToolOutcome::text("text")) });
    session.agent().set_tool_registry(Arc::new(ToolRegistry::with_tools([Arc::new(read) as _])?));
    session.prompt_text("look at a").await?;
    let left = session.log().leaf().context("nothing was said")?;
    let target = said(session.log().as_ref(), "look at a")?;
    let options =
        NavigateOptions { summarize: true, label: Some("fork".into()), ..NavigateOptions::default() };
    let navigated = session.navigate(&target, options).await?;
    assert_eq!(navigated.editor_text.as_deref(), Some("look at a"));
    session.prompt_text("look at b").await?;
    session.dispose().await?;
    drop(session);

    let log = kept.log()?;
    let entry =
        log.entry(&navigated.summary_entry.context("no summary")?).context("it is not in the file")?;
    let EntryKind::BranchSummary(summary) = &entry.kind else { anyhow::bail!("{entry:?}") };
    assert_eq!((summary.from_id.as_str(), entry.parent_id.as_ref()), (left.as_str(), None));
    assert_eq!(summary.details, Some(json!({"readFiles": ["src/a.rs"], "modifiedFiles": []})));
    assert_eq!(log.look(|tree| tree.label(&entry.id).map(str::to_owned)).as_deref(), Some("fork"));
    drop(log);

    let session = kept.open(&model)?;
    session.prompt_text("go on").await?;
    let texts = sent(&model, 4);
    assert_eq!(texts[1..], ["look at b", "fine", "go on"]);
    assert!(texts[0].contains("what I tried failed") && texts[0].ends_with("</summary>"), "{}", texts[0]);
    // The agent's own list is what was said on this branch.
    assert_eq!(session.agent().state().messages.len(), 4);
    Ok(())
}

// 001-146, 001-066, 001-172
#[tokio::test]
async fn a_restart_brings_back_the_level_the_leaf_and_what_the_user_ran() -> Result<()> {
    let kept = Kept::new()?;
    let model = ScriptedModel::new((0..6).map(|n| Answer::text(format!("answer {n}"))));
    let session = kept.open(&model)?;
    session.set_thinking_level(ThinkingLevel::High).await?;
    session.prompt_text("one").await?;
    session.prompt_text("two").await?;
    let bash = |command: &str, exclude_from_context| BashExecution {
        command: command.into(),
        output: "out\n".into(),
        exit_code: Some(0),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context,
        timestamp: 1,
    };
    session.branch(Some(&said(session.log().as_ref(), "answer 0")?)).await?;
    session.record_bash(bash("ls", false)).await?;
    session.record_bash(bash("env", true)).await?;
    session.prompt_text("three").await?;
    session.dispose().await?;
    drop(session);

    let session = kept.open(&model)?;
    assert_eq!(session.thinking_level(), ThinkingLevel::High);
    session.prompt_text("four").await?;
    assert_eq!(sent(&model, 3), ["one", "answer 0", "Ran `ls`\n```\nout\n```", "three", "answer 2", "four"]);
    assert_eq!(model.requests()[3].thinking, ThinkingLevel::High);
    session.dispose().await?;
    drop(session);

    let entries = kept.log()?.entries().len();
    let mut config = AgentLoopConfig::new(Arc::new(model.clone()));
    config.chosen = Chosen { thinking: true, ..Chosen::default() };
    let session = AgentSession::open(config, kept.log()?)?;
    assert_eq!((session.thinking_level(), session.log().entries().len()), (ThinkingLevel::Off, entries));
    session.prompt_text("five").await?;
    assert_eq!(model.requests()[4].thinking, ThinkingLevel::Off);
    assert_eq!(session.log().context()?.thinking, Some(ThinkingLevel::Off));
    Ok(())
}

// 001-146, 001-066
#[tokio::test]
async fn the_program_goes_on_with_the_model_of_the_session_unless_it_is_told_another() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("hello"))).await?;
    let product = product!()?.with("OPENAI_BASE_URL", server.base_url()).with("OPENAI_API_KEY", KEY);
    let asked = |request: usize| server.requests()[request].body["model"].clone();
    product.configure("model = \"openai/usual\"")?;
    product.run(&["-p", "one", "--model", "openai/special"]).await?.with_code(0);
    assert_eq!(asked(0), "special");
    // What is only configured gives way.
    product.run(&["-p", "two", "--continue"]).await?.with_code(0);
    assert_eq!(asked(1), "special");
    product.run(&["-p", "three", "--continue", "--model", "openai/usual"]).await?.with_code(0);
    assert_eq!(asked(2), "usual");
    // One session, and where it began.
    let workspace = product.workspace().canonicalize()?;
    assert_eq!(product.session_files()?.len(), 1);
    assert_eq!(product.session()?[0]["cwd"], json!(workspace));
    let changes = product.session()?.into_iter().filter(|line| line["type"] == "model_change");
    let changes: Vec<_> = changes.map(|line| line["modelId"].clone()).collect();
    assert_eq!(changes, ["usual"]);
    // A model that is gone leaves the configured one, and that is said.
    let file = product.session_files()?.remove(0);
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, text.replace("\"provider\":\"openai\"", "\"provider\":\"gone\""))?;
    let finished = product.run(&["-p", "four", "--continue"]).await?.with_code(0);
    assert!(finished.stderr.contains("gone/usual, which is not available"), "{}", finished.stderr);
    assert!(finished.stderr.contains("openai/usual answers now"), "{}", finished.stderr);
    assert_eq!(asked(3), "usual");
    Ok(())
}
