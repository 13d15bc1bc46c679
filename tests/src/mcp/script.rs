//! What the scripted server does, whatever it is spoken to through.

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Far above what the product takes.
pub const TOO_MANY_BYTES: usize = 100 << 20;

/// Between two reports of how far a call is; without it none would be worth reporting.
pub const A_MOMENT: Duration = Duration::from_millis(20);

/// What follows a message.
#[derive(Debug, PartialEq)]
pub enum Reaction {
    /// These messages, with [`A_MOMENT`] before each but the first; the last one is the answer.
    Say(Vec<Value>),
    /// This text, which is no message, and then this one.
    Babble(&'static str, Value),
    /// A notification to whoever listens, and then this answer.
    Announce(Value, Value),
    /// One line of [`TOO_MANY_BYTES`].
    Flood,
    /// Nothing, ever.
    Nothing,
    /// The end.
    Crash,
}

/// Writes down what came.
pub fn note(folder: &Path, message: &Value) {
    let log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log"));
    if let Ok(mut log) = log {
        // One write, so that no reader sees half a line.
        drop(log.write_all(format!("{message}\n").as_bytes()));
    }
}

/// What it does about a message. `is_modern`: it knows only the revision without a greeting.
pub fn react(folder: &Path, is_modern: bool, message: &Value) -> Reaction {
    note(folder, message);
    let Some(id) = message.get("id").cloned() else { return Reaction::Nothing };
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let refusal =
        |code: i32, text: &str| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}});
    let capabilities = json!({"tools": {"listChanged": true}});
    let own = json!({"name": "scripted", "version": "1.2.3"});
    match message["method"].as_str().unwrap_or_default() {
        "initialize" if !is_modern => Reaction::Say(vec![answer(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": own,
        }))]),
        "server/discover" if is_modern => Reaction::Say(vec![answer(json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": own},
        }))]),
        "tools/list" if folder.join("refuse-list").exists() => {
            Reaction::Say(vec![refusal(-32603, "not today")])
        }
        "tools/list" => {
            Reaction::Say(vec![answer(json!({"tools": tools(folder), "resultType": "complete"}))])
        }
        "tools/call" => call(&message["params"], answer, refusal),
        "ping" => Reaction::Say(vec![answer(json!({}))]),
        _ => Reaction::Say(vec![refusal(-32601, "no such method")]),
    }
}

fn tools(folder: &Path) -> Value {
    if let Ok(text) = std::fs::read_to_string(folder.join("tools.json"))
        && let Ok(tools) = serde_json::from_str(&text)
    {
        return tools;
    }
    let names = [
        "echo",
        "fail",
        "refuse",
        "crash",
        "garbage",
        "malformed",
        "nonsense",
        "flood",
        "progress",
        "never",
        "announce",
        "structured",
        "picture",
        "empty",
    ];
    let tools = names.into_iter().map(|name| {
        json!({
            "name": name,
            "description": format!("Does what {name} says."),
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            // A lie that must count for nothing.
            "annotations": {"readOnlyHint": true},
        })
    });
    tools.collect()
}

fn call(params: &Value, answer: impl Fn(Value) -> Value, refusal: impl Fn(i32, &str) -> Value) -> Reaction {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
    let say = |result: Value| Reaction::Say(vec![answer(result)]);
    match params["name"].as_str().unwrap_or_default() {
        "fail" => say(json!({"content": [{"type": "text", "text": "it failed"}], "isError": true})),
        "refuse" => Reaction::Say(vec![refusal(-32602, "no such thing")]),
        "crash" => Reaction::Crash,
        "garbage" => Reaction::Babble("%% no JSON at all \u{7}\n{\"half\": \n", answer(text("after all"))),
        "malformed" => say(json!(42)),
        "nonsense" => {
            Reaction::Babble("{\"jsonrpc\": \"2.0\", \"method\": 5}\n[]\n\"text\"\n", answer(text("fine")))
        }
        "flood" => Reaction::Flood,
        "never" => Reaction::Nothing,
        "announce" => Reaction::Announce(
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
            answer(text("announced")),
        ),
        "structured" => {
            say(json!({"content": [{"type": "text", "text": "5"}], "structuredContent": {"n": 5}}))
        }
        "picture" => {
            say(json!({"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]}))
        }
        "empty" => say(json!({"content": []})),
        "progress" => {
            let token = &params["_meta"]["progressToken"];
            let report = |n: u32| {
                json!({"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": token, "progress": n, "total": 3, "message": "working"}})
            };
            Reaction::Say((1..=3).map(report).chain([answer(text("worked"))]).collect())
        }
        _ => say(text(params["arguments"]["text"].as_str().unwrap_or("nothing"))),
    }
}
