use super::*;
use crate::server::{Called, ClientCall, OfferedTool, Reach};
use async_trait::async_trait;
use capstan_ports::{Execution, ToolDefinition, ToolOutcome};
use serde_json::{Map, json};
use tokio::io::{DuplexStream, Lines as InLines};
use tokio::sync::watch;

/// `echo` answers with its arguments, `wait` when it is cancelled, `report` after three reports.
struct Host(watch::Sender<u64>);

#[async_trait]
impl ToolHost for Host {
    fn tools(&self) -> Vec<OfferedTool> {
        let names = if *self.0.borrow() == 0 { vec!["echo", "wait"] } else { vec!["echo", "wait", "new"] };
        let offer = |name: &str| OfferedTool {
            definition: ToolDefinition {
                name: name.to_owned(),
                label: String::new(),
                description: String::new(),
                parameters: json!({"type": "object"}),
                execution: Execution::Parallel,
            },
            reach: Reach::default(),
        };
        names.into_iter().map(offer).collect()
    }

    async fn call(&self, call: ClientCall) -> Option<Called> {
        let outcome = match call.tool.as_str() {
            "echo" => ToolOutcome::text(Value::Object(call.arguments).to_string()),
            "report" => {
                (0..3).for_each(|n| call.progress.report(ToolOutcome::text(format!("step {n}"))));
                ToolOutcome::text("done")
            }
            "wait" => {
                call.cancel.cancelled().await;
                ToolOutcome::error("cancelled")
            }
            "denied" => {
                return Some(Called {
                    outcome: ToolOutcome::error("no"),
                    denied: vec!["denied: denied".into()],
                });
            }
            _ => return None,
        };
        Some(Called { outcome, denied: Vec::new() })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

struct Client {
    host: Arc<Host>,
    stop: CancellationToken,
    input: Option<DuplexStream>,
    output: InLines<BufReader<DuplexStream>>,
    served: JoinHandle<Result<(), ServeError>>,
}

impl Client {
    fn start() -> Self {
        let (input, theirs) = tokio::io::duplex(1 << 20);
        let (ours, output) = tokio::io::duplex(1 << 20);
        let (host, stop) = (Arc::new(Host(watch::Sender::new(0))), CancellationToken::new());
        let served = tokio::spawn(serve_stdio(host.clone(), theirs, ours, stop.clone()));
        Self { host, stop, input: Some(input), output: BufReader::new(output).lines(), served }
    }

    async fn open(revision: &str) -> Self {
        let mut client = Self::start();
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let opened = client.ask("initialize", params).await;
        assert_eq!(opened["result"]["protocolVersion"], revision);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        client
    }

    async fn send(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(10), self.output.next_line()).await;
        serde_json::from_str(&line.expect("no answer").unwrap().expect("the end")).unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).to_string())
            .await;
        self.next().await
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}

#[tokio::test]
async fn every_revision_with_an_opening_is_spoken() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::open(revision).await;
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"][0]["name"], "echo", "{listed}");
        let called = client.call("echo", json!({"a": 1})).await;
        assert_eq!(called["result"]["content"][0]["text"], r#"{"a":1}"#);
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    }
}

#[tokio::test]
async fn the_newest_revision_is_spoken_without_an_opening() {
    let mut client = Client::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let found = client.ask("server/discover", json!({"_meta": meta})).await;
    assert_eq!(found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "capstan", "{found}");
    let called = client.ask("tools/call", json!({"name": "echo", "arguments": {}, "_meta": meta})).await;
    assert_eq!(called["result"]["content"][0]["text"], "{}", "{called}");
    assert_eq!(called["result"]["resultType"], "complete");
    // A request that does not ask for a log gets none.
    let mut params = json!({"name": "denied", "arguments": {}, "_meta": meta});
    assert_eq!(client.ask("tools/call", params.clone()).await["result"]["isError"], true);
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    assert_eq!(client.ask("tools/call", params).await["method"], "notifications/message");
    assert_eq!(client.next().await["result"]["isError"], true);
    // Other tools are told to who listens.
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    assert_eq!(
        client.ask("subscriptions/listen", params).await["method"],
        "notifications/subscriptions/acknowledged"
    );
    client.host.0.send_replace(1);
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_forgotten() {
    let mut client = Client::open("2025-06-18").await;
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("\u{1}\u{2}garbage", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("5", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"arguments":{}}}"#, -32602, json!(8)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":"x"}"#, -32602, json!(9)),
        (r#"{"jsonrpc":"2.0","id":10,"method":"no/such/method"}"#, -32601, json!(10)),
        (r#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"nothing"}}"#, -32602, json!(11)),
    ] {
        client.send(line).await;
        let answer = client.next().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
    }
    client.send(&"x".repeat(MAX_MESSAGE_BYTES + 10)).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    // Nothing comes of these, and the conversation goes on.
    client.send("").await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/no-such-thing","params":7}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#).await;
    assert_eq!(client.call("echo", json!({})).await["result"]["isError"], false);
}

#[tokio::test]
async fn what_comes_before_the_opening_does_not_end_the_server() {
    let mut client = Client::start();
    client.send("garbage").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    assert!(client.ask("tools/list", json!({})).await["error"].is_object());
    let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = client.ask("initialize", params).await;
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
}

#[tokio::test]
async fn progress_goes_only_to_those_who_asked_and_before_the_result() {
    let mut client = Client::open("2025-06-18").await;
    assert_eq!(client.call("report", json!({})).await["result"]["content"][0]["text"], "done");
    let params = json!({"name": "report", "arguments": {}, "_meta": {"progressToken": "p1"}});
    let mut answer = client.ask("tools/call", params).await;
    let mut told = Vec::new();
    while answer["method"] == "notifications/progress" {
        assert_eq!(answer["params"]["progressToken"], "p1");
        told.push((answer["params"]["progress"].as_f64().unwrap(), answer["params"]["message"].clone()));
        answer = client.next().await;
    }
    assert_eq!(told.last(), Some(&(3.0, json!("step 2"))));
    assert_eq!(answer["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn a_cancelled_call_is_stopped_and_not_answered() {
    let mut client = Client::open("2025-06-18").await;
    client
        .send(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait","arguments":{}}}"#)
        .await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"enough"}}"#).await;
    let answer = client.ask("ping", json!({})).await;
    assert_eq!(answer["id"], "ping");
}

#[tokio::test]
async fn other_tools_and_denials_are_told() {
    let mut client = Client::open("2025-06-18").await;
    // An answer after the notification was sent: the server has seen it then.
    assert_eq!(client.ask("ping", json!({})).await["id"], "ping");
    tokio::task::yield_now().await;
    client.host.0.send_replace(1);
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(
        client.ask("tools/list", json!({})).await["result"]["tools"].as_array().map(Vec::len),
        Some(3)
    );
    let told = client.call("denied", json!({})).await;
    assert_eq!(
        (&told["method"], &told["params"]["data"]),
        (&json!("notifications/message"), &json!("denied: denied"))
    );
    assert_eq!(client.next().await["result"]["isError"], true);
    client.ask("logging/setLevel", json!({"level": "error"})).await;
    assert_eq!(client.call("denied", json!({})).await["result"]["isError"], true);
}

#[tokio::test]
async fn the_end_of_the_input_and_a_stop_end_the_calls_and_the_server() {
    for by_stop in [false, true] {
        let mut client = Client::open("2025-06-18").await;
        client.send(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait"}}"#).await;
        assert_eq!(client.ask("ping", json!({})).await["id"], "ping");
        if by_stop {
            client.stop.cancel();
        } else {
            client.input = None;
        }
        let ended = tokio::time::timeout(Duration::from_secs(10), client.served).await;
        ended.expect("it goes on").unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_hundred_calls_at_once_are_all_answered() {
    let mut client = Client::open("2025-06-18").await;
    for id in 0..100 {
        let params = json!({"name": "echo", "arguments": {"id": id}});
        client
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string())
            .await;
    }
    let mut answers = Map::new();
    for _ in 0..100 {
        let answer = client.next().await;
        answers.insert(answer["id"].to_string(), answer["result"]["content"][0]["text"].clone());
    }
    assert_eq!(answers.len(), 100);
    assert!(answers.iter().all(|(id, text)| *text == json!(format!(r#"{{"id":{id}}}"#))));
}
