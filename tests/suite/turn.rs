//! Whole turns of the built product: a model over HTTP, real tools, a session on disk.

mod gates;
mod output;
mod permissions;
mod resuming;
mod sessions;

use anyhow::{Context, Result};
use capstan_ports::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::{RecordedRequest, ScriptedServer};
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::{Guest, Tool};
use capstan_tests::product;
use capstan_tests::product::{KEY, Product};
use serde_json::{Value, json};

/// The two services that the product speaks to.
const FORMATS: [Format; 2] = [Format::OpenAi, Format::Anthropic];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    OpenAi,
    Anthropic,
}

impl Format {
    fn connect(self, product: Product, server: &ScriptedServer) -> Product {
        match self {
            Self::OpenAi => product.with_openai(&server.base_url()),
            Self::Anthropic => product.with_anthropic(&server.base_url()),
        }
    }

    fn key(self, request: &RecordedRequest) -> Option<&str> {
        match self {
            Self::OpenAi => request.header("authorization")?.strip_prefix("Bearer "),
            Self::Anthropic => request.header("x-api-key"),
        }
    }
}

/// A guest whose tool shows what can go wrong on the way to a model: characters outside ASCII, nested schemas, a label.
fn weather() -> Guest {
    let (guest, body) = Guest::new("weather").text_result("21 °C, light wind");
    let mut guest = guest.tool("weather_now", &body);
    guest.tools = vec![Tool {
        label: "LABEL-FOR-SCREENS".to_owned(),
        description: "Tells the weather of a “place”.\n\nUnits: °C. Never guesses.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "A town, as in “Zürich”"},
                "days": {"type": "array", "items": {"type": "integer", "minimum": 0}, "default": [1, 2]}
            },
            "required": ["place"],
            "additionalProperties": false
        })
        .to_string(),
        ..Tool::new("weather_now")
    }];
    guest
}

/// The definition that `ext inspect --json` shows of a tool.
async fn inspected(product: &Product, extension: &str, tool: &str) -> Result<(String, Value)> {
    let shown = product.run(&["ext", "inspect", extension, "--json"]).await?.with_code(0).json()?;
    let tools = shown["descriptor"]["tools"].as_array().context("no tools")?;
    let tool = tools.iter().find(|shown| shown["name"] == tool).context("no such tool")?;
    Ok((tool["description"].as_str().unwrap_or_default().to_owned(), tool["parameters"].clone()))
}

// 000-001, 000-003, 000-011, 000-012, 000-013, 001-113, 001-122, 001-140, 003-044
#[tokio::test]
async fn a_tool_dropped_into_the_folder_is_offered_word_for_word_and_its_result_reaches_the_model()
-> Result<()> {
    for format in FORMATS {
        let server = ScriptedServer::play([
            Answer::call("weather_now", json!({"place": "Zürich"})).with_text("I look outside."),
            Answer::text("It is warm."),
        ])
        .await?;
        let product = format.connect(product!()?, &server);
        product.install(&weather())?;
        let finished = product.run(&["-p", "How is the weather?"]).await?.with_code(0);
        assert_eq!(finished.stdout, "It is warm.\n", "the final text alone, {format:?}");
        assert_eq!(finished.warnings(), [""; 0], "{format:?}");

        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{format:?}");
        let first = Conversation::of(&requests[0]);
        let (description, schema) = first.tool("weather_now")?;
        assert_eq!(description, weather().tools[0].description, "{format:?}");
        assert_eq!(
            (description.to_owned(), schema.clone()),
            inspected(&product, "weather", "weather_now").await?
        );
        assert_eq!(*schema, serde_json::from_str::<Value>(&weather().tools[0].parameters)?);
        assert!(!requests[0].body.to_string().contains("LABEL-FOR-SCREENS"), "labels are for screens");
        assert_eq!(first.said(), ["How is the weather?"]);

        let second = Conversation::of(&requests[1]);
        assert_eq!(second.last_result()?, "21 °C, light wind");
        assert_eq!(second.answers(), ["I look outside."]);
        second.check_pairs()?;
    }
    Ok(())
}

// 000-001, design §6: what asks for something waits for its grant; the real extension then reads the workspace.
#[tokio::test]
async fn the_map_of_the_repository_reaches_the_model_once_its_extension_is_allowed() -> Result<()> {
    let server = ScriptedServer::start(std::sync::Arc::new(|_, request| {
        match Conversation::of(request).results().is_empty()
            && Conversation::of(request).tool("repo_map").is_ok()
        {
            true => Answer::call("repo_map", json!({})),
            false => Answer::text("done"),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_built("repo-map")?;
    std::fs::create_dir(product.workspace().join("src"))?;
    std::fs::write(product.workspace().join("src/engine.rs"), "pub fn ignite() {}\n")?;

    let before = product.run(&["-p", "map"]).await?.with_code(0);
    assert!(
        before.stderr.contains("repo-map") && before.stderr.contains("capstan ext allow repo-map"),
        "{}",
        before.stderr
    );
    assert!(Conversation::of(&server.requests()[0]).tool("repo_map").is_err(), "what waits is not offered");

    product.run(&["ext", "allow", "repo-map"]).await?.with_code(0);
    let after = product.run(&["-p", "map"]).await?.with_code(0);
    assert_eq!((after.stdout.as_str(), after.warnings()), ("done\n", vec![]));
    let requests = server.requests();
    let (description, schema) = Conversation::of(&requests[1]).tool("repo_map")?;
    assert_eq!((description.to_owned(), schema.clone()), inspected(&product, "repo-map", "repo_map").await?);
    let map = Conversation::of(&requests[2]).last_result()?;
    assert!(map.contains("src/engine.rs") && map.contains("ignite"), "{map}");
    Ok(())
}

// X-08, S7
#[tokio::test]
async fn the_key_is_sent_and_shows_up_nowhere_else() -> Result<()> {
    for format in FORMATS {
        // The command prints its environment, and the last answer fails with the key in the server's own words.
        let server = ScriptedServer::play([
            Answer::call("bash", json!({"command": "env; cat /proc/self/environ | tr '\\0' '\\n'"})),
            Answer::error(ModelErrorKind::InvalidRequest, format!("bad key {KEY} in the request")),
        ])
        .await?;
        let product = format.connect(product!()?, &server);
        product.install(&weather())?;
        let finished = product.run(&["-p", "go", "-vv", "--permissions", "all"]).await?.with_code(1);
        let requests = server.requests();
        assert_eq!(format.key(&requests[0]), Some(KEY), "{format:?}");
        let listing = Conversation::of(&requests[1]).last_result()?;
        assert!(listing.contains("CAPSTAN_HOME="), "the command ran: {listing}");
        let kept = std::fs::read_to_string(&product.session_files()?[0])?;
        let everywhere = [
            ("stdout", &finished.stdout),
            ("stderr", &finished.stderr),
            ("session", &kept),
            ("command", &listing),
        ];
        for (place, text) in everywhere {
            // Half a key is too much as well.
            assert!(!text.contains(&KEY[..14]), "{format:?}, {place}: {text}");
        }
        assert!(!requests[1].body.to_string().contains(&KEY[..14]), "the key is in no body");
        assert!(finished.stderr.contains("bad key"), "the failure itself is told: {}", finished.stderr);
    }
    Ok(())
}

// 003-026
#[tokio::test]
async fn rounds_of_tools_end_at_the_limit_that_the_user_set() -> Result<()> {
    let server = ScriptedServer::start(std::sync::Arc::new(|n, _| {
        Answer::default().and_call_with_id(format!("call-{n}"), "read", json!({"path": "note"}))
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    std::fs::write(product.workspace().join("note"), "text")?;
    let finished = product.run(&["-p", "go", "--max-rounds", "2"]).await?.with_code(1);
    assert_eq!(server.requests().len(), 3);
    assert!(finished.stderr.contains('2'), "{}", finished.stderr);
    Ok(())
}

// 000-024, 000-027, P13
#[tokio::test]
async fn unknown_tools_and_wrong_arguments_are_results_that_the_model_reads() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::default()
            .and_call_with_id("a", "nope", json!({}))
            .and_call_with_id("b", "weather_now", json!({"days": ["x"]}))
            .and_call_with_id("c", "weather_now", json!("{\"place\": "))
            .and_call_with_id("d", "weather_now", json!({"place": "Bern"})),
        Answer::text("done"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&weather())?;
    product.run(&["-p", "go"]).await?.with_code(0);
    let requests = server.requests();
    let second = Conversation::of(&requests[1]);
    let results = second.results();
    let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"], "in source order");
    assert!(results[0].text.contains("nope") && results[0].text.contains("not found"), "{:?}", results[0]);
    assert!(results[1].text.contains("days") && results[1].text.contains("place"), "{:?}", results[1]);
    assert!(results[2].text.to_lowercase().contains("json"), "{:?}", results[2]);
    assert_eq!(results[3].text, "21 °C, light wind");
    second.check_pairs()
}

// A17
#[tokio::test]
async fn a_tool_that_traps_costs_only_its_call() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::calls([("explode", json!({})), ("weather_now", json!({"place": "Bern"}))]),
        Answer::text("done"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&weather())?;
    product.install(&Guest::new("bomb").tool("explode", "unreachable"))?;
    let finished = product.run(&["-p", "go"]).await?.with_code(0);
    assert_eq!(finished.stdout, "done\n");
    let requests = server.requests();
    let results = Conversation::of(&requests[1]).results();
    assert!(results[0].text.contains("trap"), "{:?}", results[0]);
    assert_eq!(results[1].text, "21 °C, light wind");
    Ok(())
}
