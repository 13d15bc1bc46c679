//! Native extensions: the trait, and a struct of callbacks for those who want no type of their own (seed 001). Components
//! stand in the same list; whoever loads them wraps them in this trait.

use crate::agent::Agent;
use crate::session::AgentSession;
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, CompactionReason, GateVerdict, Hook, HookError, HookStage, Tool, ToolCall, ToolOutcome,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// Why an extension could not start, in its own words; a `String` will do.
pub type StartError = Box<dyn std::error::Error + Send + Sync>;

/// What an extension gets when a session starts.
///
/// Both are handles to the one conversation. An extension that keeps them keeps the conversation in memory for as long
/// as it lives itself.
#[derive(Clone)]
pub struct ExtensionContext {
    /// The session, with its record.
    pub session: AgentSession,
    /// The agent in it.
    pub agent: Agent,
}

/// Something that adds tools and hooks to a session. Only the name is required.
#[async_trait]
pub trait Extension: Send + Sync {
    /// Unique in its session; shown in messages.
    fn name(&self) -> &str;

    /// What the model can call. Asked once for each session.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// What takes part in turns. Asked once for each session. `place` counts the extensions that were registered before
    /// this one, for hooks that want to run in the order of registration: it may serve as their priority.
    fn hooks(&self, _place: i32) -> Vec<Arc<dyn Hook>> {
        Vec::new()
    }

    /// Called once for each session, in the order of registration, when the tools and hooks of all extensions are in
    /// place and before the first prompt.
    ///
    /// # Errors
    /// Whatever keeps the extension from working; what follows from it is the
    /// [`StartFailure`](crate::extension_runtime::StartFailure) of the runtime. A panic counts as an error.
    async fn on_start(&self, _context: &ExtensionContext) -> Result<(), StartError> {
        Ok(())
    }
}

/// Called when a session starts.
pub type StartCallback =
    Arc<dyn Fn(ExtensionContext) -> BoxFuture<'static, Result<(), StartError>> + Send + Sync>;

/// Called before each tool call.
pub type BeforeToolCall =
    Arc<dyn Fn(HookContext, ToolCall) -> BoxFuture<'static, Result<GateVerdict, HookError>> + Send + Sync>;

/// Called after each tool call that ran.
pub type AfterToolCall = Arc<
    dyn Fn(HookContext, ToolCall, ToolOutcome) -> BoxFuture<'static, Result<Option<Amendment>, HookError>>
        + Send
        + Sync,
>;

/// Called before a conversation is shortened; a text is an objection.
pub type BeforeCompaction = Arc<
    dyn Fn(HookContext, CompactionReason) -> BoxFuture<'static, Result<Option<String>, HookError>>
        + Send
        + Sync,
>;

/// An extension made of callbacks. Every field but the name may stay empty.
///
/// Before a tool call these run in the order of registration, and the first that blocks is the last that is asked. After
/// one they run in the same order, unlike hooks elsewhere: each sees the result as those before left it, and for each
/// field the last one's word counts.
///
/// ```
/// use capstan_agent::CodingExtension;
/// use capstan_ports::GateVerdict;
///
/// let careful = CodingExtension::new("careful").with_before_tool_call(|_context, call| async move {
///     Ok(match call.arguments["command"].as_str() {
///         Some(command) if command.contains("rm -rf") => GateVerdict::Block("not here".into()),
///         _ => GateVerdict::Pass,
///     })
/// });
/// assert_eq!(careful.name, "careful");
/// ```
#[derive(Clone, Default)]
pub struct CodingExtension {
    /// Unique in its session; shown in messages.
    pub name: String,
    /// What the model can call.
    pub tools: Vec<Arc<dyn Tool>>,
    /// See [`Extension::on_start`].
    pub on_start: Option<StartCallback>,
    /// A gate; see [`Hook::before_tool_call`].
    pub before_tool_call: Option<BeforeToolCall>,
    /// Changes results; see [`Hook::after_tool_call`].
    pub after_tool_call: Option<AfterToolCall>,
    /// May object to a compaction; see [`Hook::before_compaction`].
    pub before_compaction: Option<BeforeCompaction>,
}

impl CodingExtension {
    /// One that does nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets [`CodingExtension::on_start`].
    #[must_use]
    pub fn with_on_start<F, R>(mut self, callback: F) -> Self
    where
        F: Fn(ExtensionContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), StartError>> + Send + 'static,
    {
        self.on_start = Some(Arc::new(move |context| callback(context).boxed()));
        self
    }

    /// Sets [`CodingExtension::before_tool_call`].
    #[must_use]
    pub fn with_before_tool_call<F, R>(mut self, callback: F) -> Self
    where
        F: Fn(HookContext, ToolCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GateVerdict, HookError>> + Send + 'static,
    {
        self.before_tool_call = Some(Arc::new(move |context, call| callback(context, call).boxed()));
        self
    }

    /// Sets [`CodingExtension::after_tool_call`].
    #[must_use]
    pub fn with_after_tool_call<F, R>(mut self, callback: F) -> Self
    where
        F: Fn(HookContext, ToolCall, ToolOutcome) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<Amendment>, HookError>> + Send + 'static,
    {
        self.after_tool_call =
            Some(Arc::new(move |context, call, outcome| callback(context, call, outcome).boxed()));
        self
    }

    /// Sets [`CodingExtension::before_compaction`].
    #[must_use]
    pub fn with_before_compaction<F, R>(mut self, callback: F) -> Self
    where
        F: Fn(HookContext, CompactionReason) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<String>, HookError>> + Send + 'static,
    {
        self.before_compaction = Some(Arc::new(move |context, reason| callback(context, reason).boxed()));
        self
    }
}

impl fmt::Debug for CodingExtension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.definition().name.as_str()).collect();
        formatter
            .debug_struct("CodingExtension")
            .field("name", &self.name)
            .field("tools", &tools)
            .field("on_start", &self.on_start.is_some())
            .field("before_tool_call", &self.before_tool_call.is_some())
            .field("after_tool_call", &self.after_tool_call.is_some())
            .field("before_compaction", &self.before_compaction.is_some())
            .finish()
    }
}

#[async_trait]
impl Extension for CodingExtension {
    fn name(&self) -> &str {
        &self.name
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn hooks(&self, place: i32) -> Vec<Arc<dyn Hook>> {
        let is_empty = self.before_tool_call.is_none()
            && self.after_tool_call.is_none()
            && self.before_compaction.is_none();
        if is_empty {
            return Vec::new();
        }
        vec![Arc::new(Callbacks {
            name: self.name.clone(),
            place,
            before: self.before_tool_call.clone(),
            after: self.after_tool_call.clone(),
            before_compaction: self.before_compaction.clone(),
        })]
    }

    async fn on_start(&self, context: &ExtensionContext) -> Result<(), StartError> {
        match &self.on_start {
            Some(callback) => callback(context.clone()).await,
            None => Ok(()),
        }
    }
}

/// The callbacks as a hook.
struct Callbacks {
    name: String,
    place: i32,
    before: Option<BeforeToolCall>,
    after: Option<AfterToolCall>,
    before_compaction: Option<BeforeCompaction>,
}

#[async_trait]
impl Hook for Callbacks {
    fn name(&self) -> &str {
        &self.name
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        match stage {
            HookStage::BeforeToolCall => self.before.is_some(),
            HookStage::AfterToolCall => self.after.is_some(),
            HookStage::SessionLifecycle => self.before_compaction.is_some(),
            _ => false,
        }
    }

    /// The stage after a call runs in reverse, so the places are reversed once more.
    fn priority(&self, stage: HookStage) -> i32 {
        match stage {
            HookStage::AfterToolCall => -self.place,
            _ => self.place,
        }
    }

    async fn before_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        match &self.before {
            Some(callback) => callback(context.clone(), call.clone()).await,
            None => Ok(GateVerdict::Pass),
        }
    }

    async fn after_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        match &self.after {
            Some(callback) => callback(context.clone(), call.clone(), outcome.clone()).await,
            None => Ok(None),
        }
    }

    async fn before_compaction(
        &self,
        context: &HookContext,
        reason: CompactionReason,
    ) -> Result<Option<String>, HookError> {
        match &self.before_compaction {
            Some(callback) => callback(context.clone(), reason).await,
            None => Ok(None),
        }
    }
}
