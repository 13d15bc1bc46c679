//! What the tests of this crate share: calls, contexts and runtimes that only record.

use crate::command::{CommandEnd, CommandOutcome, CommandRequest, CommandRuntime, Output, OutputSink};
use crate::error::RuntimeError;
use crate::workspace::{
    FileContents, InMemoryWorkspace, Listing, Visitor, Walked, WorkspaceRuntime, WriteCondition, Written,
};
use async_trait::async_trait;
use capstan_ports::message::{Content, ToolCall, text_of};
use capstan_ports::tool::{Progress, Tool, ToolContext, ToolError, ToolOutcome, TurnContext};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Everything that was reported.
#[derive(Default)]
pub(crate) struct Reported(pub(crate) Mutex<Vec<String>>);

impl Progress for Reported {
    fn report(&self, partial: ToolOutcome) {
        self.0.lock().unwrap().push(text_of(&partial.content));
    }
}

pub(crate) fn context_with(progress: Arc<dyn Progress>, cancel: CancellationToken) -> ToolContext {
    let turn = TurnContext {
        session_id: serde_json::from_str("\"s\"").unwrap(),
        turn: 0,
        round: 0,
        model: "m/m".into(),
    };
    ToolContext { turn, cancel, progress }
}

pub(crate) fn context() -> ToolContext {
    context_with(Arc::new(Reported::default()), CancellationToken::new())
}

pub(crate) fn call(tool: &dyn Tool, arguments: Value) -> ToolCall {
    ToolCall { id: "call-1".to_owned(), name: tool.definition().name.clone(), arguments, malformed: None }
}

/// One call as the host makes it: prepared, then executed.
pub(crate) async fn run(tool: &dyn Tool, arguments: Value) -> Result<ToolOutcome, ToolError> {
    run_in(tool, arguments, &context()).await
}

pub(crate) async fn run_in(
    tool: &dyn Tool,
    arguments: Value,
    context: &ToolContext,
) -> Result<ToolOutcome, ToolError> {
    let prepared = tool.prepare(arguments).await?;
    tool.execute(&call(tool, prepared), context).await
}

/// The text of a good outcome.
pub(crate) async fn good(tool: &dyn Tool, arguments: Value) -> String {
    let outcome = run(tool, arguments).await.expect("the call succeeds");
    assert!(!outcome.is_error, "{outcome:?}");
    text(&outcome)
}

pub(crate) fn text(outcome: &ToolOutcome) -> String {
    assert!(outcome.content.iter().all(|piece| matches!(piece, Content::Text { .. })));
    text_of(&outcome.content)
}

/// Records what a tool asked of it, and does it in memory.
pub(crate) struct Recording {
    pub(crate) inner: InMemoryWorkspace,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Recording {
    pub(crate) fn new() -> Self {
        Self { inner: InMemoryWorkspace::new("/workspace"), asked: Mutex::default() }
    }

    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

#[async_trait]
impl WorkspaceRuntime for Recording {
    fn directory(&self) -> &Path {
        self.inner.directory()
    }

    fn resolve(&self, path: &str) -> PathBuf {
        self.inner.resolve(path)
    }

    async fn real_path(&self, path: &str) -> Result<PathBuf, RuntimeError> {
        self.note(format!("real_path {path}"));
        self.inner.real_path(path).await
    }

    async fn read(&self, path: &str, max_bytes: u64) -> Result<FileContents, RuntimeError> {
        self.note(format!("read {path}"));
        self.inner.read(path, max_bytes).await
    }

    async fn write(
        &self,
        path: &str,
        contents: Vec<u8>,
        condition: WriteCondition,
    ) -> Result<Written, RuntimeError> {
        self.note(format!("write {path}"));
        self.inner.write(path, contents, condition).await
    }

    async fn list(&self, path: &str, cancel: &CancellationToken) -> Result<Listing, RuntimeError> {
        self.note(format!("list {path}"));
        self.inner.list(path, cancel).await
    }

    async fn walk(
        &self,
        path: &str,
        visitor: Arc<dyn Visitor>,
        cancel: &CancellationToken,
    ) -> Result<Walked, RuntimeError> {
        self.note(format!("walk {path}"));
        self.inner.walk(path, visitor, cancel).await
    }
}

/// Answers every command with the same outcome.
pub(crate) struct Scripted {
    pub(crate) outcome: CommandOutcome,
    pub(crate) asked: Mutex<Vec<CommandRequest>>,
}

impl Scripted {
    pub(crate) fn new(text: &str, end: CommandEnd) -> Self {
        Self { outcome: CommandOutcome { output: Output::short(text), end }, asked: Mutex::default() }
    }
}

#[async_trait]
impl CommandRuntime for Scripted {
    async fn run(
        &self,
        request: CommandRequest,
        sink: &dyn OutputSink,
        _cancel: &CancellationToken,
    ) -> Result<CommandOutcome, RuntimeError> {
        self.asked.lock().unwrap().push(request);
        sink.output(&self.outcome.output.text);
        Ok(self.outcome.clone())
    }
}
