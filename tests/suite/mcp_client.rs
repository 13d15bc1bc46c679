//! Tools of MCP servers: the client against a server that does what a test wants, and the product with both.

mod failing;
mod peers;
mod product;
mod refresh;

use anyhow::{Context, Result};
use capstan_agent::ToolRegistry;
use capstan_mcp::client::{Approvals, Look, ServerSettings, Servers, Standing};
use capstan_ports::tool::{NoProgress, Progress, ToolContext, TurnContext};
use capstan_ports::{Content, SessionId, Tool, ToolCall, ToolError, ToolOutcome, ToolProvider};
use capstan_tests::mcp::{Scripted, Way, is_alive, is_there, no_longer};
use capstan_tests::scripted_mcp;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// What every test about calls is run over.
const WAYS: [Way; 2] = [Way::Stdio, Way::Http];

/// One scripted server and the client that uses it; everything of it is allowed.
struct Pair {
    scripted: Scripted,
    servers: Servers,
}

impl Pair {
    async fn new(way: Way) -> Result<Self> {
        let scripted = Scripted::new(way, scripted_mcp!()).await?;
        let settings = scripted.settings(&[]);
        Self::of(scripted, settings).await
    }

    async fn of(scripted: Scripted, settings: ServerSettings) -> Result<Self> {
        let servers =
            Servers::new([scripted.server("s", settings)?], Approvals::default(), scripted.folder());
        let look = look(&servers).await?;
        let names: Vec<_> = look.tools.iter().map(|tool| tool.own.clone()).collect();
        assert!(servers.allow("s", &names).is_empty());
        Ok(Self { scripted, servers })
    }

    fn tool(&self, own: &str) -> Result<Arc<dyn Tool>> {
        let name = format!("s__{own}");
        let found = self.servers.tools().into_iter().find(|tool| tool.definition().name == name);
        found.with_context(|| format!("there is no {name}"))
    }

    async fn call(&self, own: &str, arguments: Value) -> Result<ToolOutcome, ToolError> {
        let tool = self.tool(own).map_err(|error| ToolError::failed(error.to_string()))?;
        tool.execute(&call(arguments), &context()).await
    }
}

async fn look(servers: &Servers) -> Result<Look> {
    servers.look("s").await.context("there is no server s")?.map_err(anyhow::Error::msg)
}

fn call(arguments: Value) -> ToolCall {
    ToolCall { id: "1".to_owned(), name: "any".to_owned(), arguments, malformed: None }
}

fn context() -> ToolContext {
    let turn = TurnContext { session_id: SessionId::new("s"), turn: 0, round: 0, model: "a/b".into() };
    ToolContext { turn, cancel: CancellationToken::new(), progress: Arc::new(NoProgress) }
}

fn text(outcome: &ToolOutcome) -> String {
    let texts = outcome.content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

// 003-140, 003-144
#[tokio::test]
async fn a_tool_appears_with_its_own_schema_and_description_and_answers() -> Result<()> {
    for way in WAYS {
        let pair = Pair::new(way).await?;
        let echo = pair.tool("echo")?;
        let definition = echo.definition();
        assert_eq!(definition.description, "Does what echo says.");
        assert_eq!(definition.parameters["properties"]["text"]["type"], "string");
        let outcome = pair.call("echo", json!({"text": "hello"})).await?;
        assert_eq!(text(&outcome), "hello", "{way:?}");
        let structured = pair.call("structured", json!({})).await?;
        assert_eq!((text(&structured), structured.details), ("5".to_owned(), Some(json!({"n": 5}))));
        let picture = pair.call("picture", json!({})).await?;
        assert!(matches!(&picture.content[0], Content::Image { mime_type, .. } if mime_type == "image/png"));
        let empty = pair.call("empty", json!({})).await?;
        assert!(text(&empty).contains("without content"));
        pair.servers.shut_down().await;
        // What was spoken: the question of the new revision, then the greeting of those before.
        let methods: Vec<_> = pair.scripted.log()?.iter().map(|message| message["method"].clone()).collect();
        assert_eq!(
            methods[..4],
            ["server/discover", "initialize", "notifications/initialized", "tools/list"]
        );
    }
    Ok(())
}

// 004-134
#[tokio::test]
async fn the_tools_of_servers_are_ordinary_definitions_of_a_registry() -> Result<()> {
    let pair = Pair::new(Way::Stdio).await?;
    let registry = ToolRegistry::with_tools(pair.servers.tools())?;
    assert_eq!(registry.list().to_vec(), pair.servers.list_tools());
    let echo = registry.get("s__echo").context("the registry has no s__echo")?;
    assert_eq!(text(&echo.execute(&call(json!({"text": "hello"})), &context()).await?), "hello");
    pair.servers.shut_down().await;
    Ok(())
}

// 003-141
#[tokio::test]
async fn two_servers_with_the_same_tools_can_both_be_called() -> Result<()> {
    let (one, other) =
        (Scripted::new(Way::Stdio, scripted_mcp!()).await?, Scripted::new(Way::Http, scripted_mcp!()).await?);
    let servers = [one.server("one", one.settings(&[]))?, other.server("other", other.settings(&[]))?];
    let servers = Servers::new(servers, Approvals::default(), one.folder());
    for name in ["one", "other"] {
        let found = servers.look(name).await.context("no such server")?.map_err(anyhow::Error::msg)?;
        assert!(found.tools.iter().all(|tool| tool.standing == Standing::New));
        servers.allow(name, &["echo".to_owned()]);
    }
    let registry = ToolRegistry::with_tools(servers.tools())?;
    for name in ["one__echo", "other__echo"] {
        let tool = registry.get(name).with_context(|| format!("there is no {name}"))?;
        assert_eq!(text(&tool.execute(&call(json!({"text": name})), &context()).await?), name);
    }
    assert_eq!(registry.list().len(), 2);
    for scripted in [&one, &other] {
        scripted.hears(|message| message["params"]["name"] == "echo").await?;
    }
    servers.shut_down().await;
    Ok(())
}

#[tokio::test]
async fn a_server_that_knows_only_the_newest_revision_is_spoken_to_in_it() -> Result<()> {
    let scripted = Scripted::new(Way::Stdio, scripted_mcp!()).await?;
    let settings = scripted.settings(&["--modern"]);
    let pair = Pair::of(scripted, settings).await?;
    assert_eq!(look(&pair.servers).await?.about.protocol, "2026-07-28");
    assert_eq!(text(&pair.call("echo", json!({"text": "new"})).await?), "new");
    let called = pair.scripted.hears(|message| message["method"] == "tools/call").await?;
    assert_eq!(called["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    pair.servers.shut_down().await;
    Ok(())
}

#[tokio::test]
async fn one_that_says_nothing_to_the_new_question_is_greeted_in_the_old_way() -> Result<()> {
    let scripted = Scripted::new(Way::Stdio, scripted_mcp!()).await?;
    let settings = scripted.settings(&["--mute-at-discover", "--shout"]);
    let pair = Pair::of(scripted, settings).await?;
    let about = look(&pair.servers).await?.about;
    assert_eq!((about.protocol.as_str(), about.name.as_str()), ("2025-11-25", "scripted"));
    assert_eq!(text(&pair.call("echo", json!({"text": "old"})).await?), "old");
    pair.servers.shut_down().await;
    Ok(())
}

/// Keeps what it is told.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Told {
    fn said(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Progress for Told {
    fn report(&self, partial: ToolOutcome) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text(&partial));
    }
}

#[tokio::test]
async fn progress_of_a_call_is_passed_on() -> Result<()> {
    for way in WAYS {
        let pair = Pair::new(way).await?;
        let told = Arc::new(Told::default());
        let context = ToolContext { progress: told.clone(), ..context() };
        let outcome = pair.tool("progress")?.execute(&call(json!({})), &context).await?;
        assert_eq!(text(&outcome), "worked");
        let told = told.said();
        // A report that is overtaken by a later one is none.
        assert!(told.iter().any(|report| report.ends_with(" of 3: working")), "{way:?}: {told:?}");
        pair.servers.shut_down().await;
    }
    Ok(())
}

// 003-145
#[tokio::test]
async fn a_call_that_is_stopped_ends_at_once_and_the_server_is_told() -> Result<()> {
    for way in WAYS {
        let pair = Pair::new(way).await?;
        let (tool, context) = (pair.tool("never")?, context());
        let cancel = context.cancel.clone();
        let calling = tokio::spawn(async move { tool.execute(&call(json!({})), &context).await });
        let called = pair.scripted.hears(|message| message["method"] == "tools/call").await?;
        cancel.cancel();
        assert!(matches!(calling.await?, Err(ToolError::Aborted)));
        let told = pair.scripted.hears(|message| message["method"] == "notifications/cancelled").await?;
        assert_eq!(told["params"]["requestId"], called["id"], "{way:?}");
        // The server goes on with others.
        assert_eq!(text(&pair.call("echo", json!({"text": "still here"})).await?), "still here");
        pair.servers.shut_down().await;
    }
    Ok(())
}

#[tokio::test]
async fn only_what_the_user_allowed_is_offered() -> Result<()> {
    let scripted = Scripted::new(Way::Stdio, scripted_mcp!()).await?;
    let settings = ServerSettings {
        tools: Some(vec!["e*".to_owned(), "fail".to_owned()]),
        read_only: vec!["echo".to_owned()],
        ..scripted.settings(&[])
    };
    let fresh = |approvals: Approvals| -> Result<Servers> {
        Ok(Servers::new([scripted.server("s", settings.clone())?], approvals, scripted.folder()))
    };
    let servers = fresh(Approvals::default())?;
    let notices = servers.start().await;
    assert!(notices[0].contains("capstan mcp allow s"), "{notices:?}");
    assert!(!scripted.folder().join("pid").exists(), "a server of which nothing is allowed is not started");
    let look = look(&servers).await?;
    assert_eq!(
        look.tools.iter().map(|tool| tool.own.as_str()).collect::<Vec<_>>(),
        ["echo", "fail", "empty"]
    );
    assert!(servers.tools().is_empty());
    assert_eq!(
        servers.allow("s", &["echo".to_owned(), "crash".to_owned()]),
        ["crash"],
        "not chosen by the patterns"
    );
    let approvals = servers.approvals();
    servers.shut_down().await;

    let servers = fresh(approvals)?;
    let notices = servers.start().await;
    assert!(notices.iter().any(|notice| notice.contains("fail, empty waits for your yes")), "{notices:?}");
    let tools = servers.tools();
    assert_eq!(tools.len(), 1);
    assert_eq!(
        tools[0].access(&json!({})),
        capstan_ports::CallAccess::Nothing,
        "read-only by the user's word"
    );
    servers.shut_down().await;
    Ok(())
}

// 003-142
#[tokio::test]
async fn the_end_leaves_no_process_behind() -> Result<()> {
    for flags in [&["--child"][..], &["--child", "--stay"]] {
        let scripted = Scripted::new(Way::Stdio, scripted_mcp!()).await?;
        let settings = scripted.settings(flags);
        let pair = Pair::of(scripted, settings).await?;
        let (pid, child) = (pair.scripted.pid()?, pair.scripted.folder().join("child"));
        let child: u32 = std::fs::read_to_string(child)?.trim().parse()?;
        assert!(is_there(pid) && is_there(child));
        pair.servers.shut_down().await;
        assert!(!is_there(pid), "{flags:?}: it was not reaped");
        no_longer(|| is_alive(child)).await?;
        assert!(pair.call("echo", json!({})).await.is_err(), "and none is started any more");
    }
    Ok(())
}
