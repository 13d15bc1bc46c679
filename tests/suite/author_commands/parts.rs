//! `capstan ext run` and `capstan ext test` with the parts beside tools and hooks: plan parsers, compressors, slash commands,
//! observers.

use super::{file, tool};
use anyhow::Result;
use capstan_tests::probe::built_guest;
use capstan_tests::product::Product;
use capstan_tests::{product, product::Finished};
use serde_json::json;

async fn run(product: &Product, arguments: &[&str], code: i32) -> Result<Finished> {
    let roles = built_guest("roles")?.to_string_lossy().into_owned();
    Ok(product.run(&[&["ext", "run", &roles], arguments].concat()).await?.with_code(code))
}

#[tokio::test]
async fn a_plan_parser_reads_a_text_and_says_why_it_cannot() -> Result<()> {
    let product = product!()?;
    std::fs::write(product.workspace().join("plan.txt"), "- read\n- write\n")?;
    let parse = ["--parse", "list", "--goal", "a goal", "--raw"];
    let plan = run(&product, &[&parse[..], &["@plan.txt"]].concat(), 0).await?;
    assert_eq!(plan.stdout, "1. read\n2. write\n");
    let whole = run(&product, &[&parse[..], &["- one", "--json"]].concat(), 0).await?.json()?;
    assert_eq!(whole["answer"], json!({"steps": ["one"]}));
    let none = run(&product, &[&parse[..], &["no list"]].concat(), 1).await?;
    assert!(none.stderr.contains("roles/list found no plan"), "{}", none.stderr);
    // By its full name as well, as `capstan plan` knows it; and another is not there.
    run(&product, &["--parse", "roles/list", "--raw", "- one"], 0).await?;
    let other = run(&product, &["--parse", "other", "--raw", "- one"], 1).await?;
    assert!(other.stderr.contains("it has list"), "{}", other.stderr);
    Ok(())
}

// Exactly as in a session: whatever is granted to its other parts, this one has nothing.
#[tokio::test]
async fn a_plan_parser_has_no_grant_here_either() -> Result<()> {
    let product = product!()?;
    std::fs::create_dir(product.workspace().join("notes"))?;
    let asked = ["--parse", "surroundings", "--raw", "anything", "--allow", "key-value"];
    let bare = run(&product, &asked[..4], 0).await?;
    let granted = run(&product, &asked, 0).await?;
    assert_eq!(granted.stdout, bare.stdout);
    Ok(())
}

#[tokio::test]
async fn a_compressor_is_asked_with_a_conversation_and_its_messages_are_judged() -> Result<()> {
    let product = product!()?;
    let ask = async |name: &str, more: &[&str], used: u32, code: i32| {
        let talk = json!({
            "messages": ["one", {"role": "assistant", "content": "two"}, "three"],
            "window_tokens": 1000, "used_tokens": used, "reserve_tokens": 100, "instructions": "next",
        });
        run(&product, &[&["--compress", name, "--input", &talk.to_string()], more].concat(), code).await
    };
    let allow = ["--allow", "compress"];
    assert_eq!(ask("tail", &allow, 10, 0).await?.json()?, json!({"action": "none"}));
    let shorter = ask("tail", &allow, 990, 0).await?.json()?;
    assert_eq!(shorter, json!({"action": "replace", "messages": ["(2 messages left out)", "three"]}));
    let summary = ask("summary", &allow, 990, 0).await?.json()?;
    assert_eq!(summary, json!({"action": "summarize", "first_kept": 2, "instructions": "next"}));
    let fresh = ask("fresh", &allow, 990, 0).await?.json()?;
    assert_eq!((fresh["action"].as_str(), fresh["session_id"].as_str()), (Some("new-session"), Some("next")));
    let powerless = ask("tail", &[], 990, 1).await?;
    assert!(powerless.stderr.contains("compress"), "{}", powerless.stderr);

    let orphans = json!({"messages": [
        "one",
        {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "read", "arguments": {}}]},
        {"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": "text"},
    ]});
    let asked = ["--compress", "orphan", "--allow", "compress", "--input", &orphans.to_string()];
    let refused = run(&product, &asked, 1).await?;
    assert!(refused.stderr.contains("would be refused"), "{}", refused.stderr);
    let wrong = run(&product, &["--compress", "tail", "--input", r#"{"mesages": []}"#], 1).await?;
    assert!(wrong.stderr.contains("mesages"), "{}", wrong.stderr);
    Ok(())
}

#[tokio::test]
async fn a_command_answers_and_what_it_stored_is_shown() -> Result<()> {
    let product = product!()?;
    let counted = run(&product, &["--command", "count", "--args", "one two three"], 0).await?;
    assert_eq!(counted.stdout, "3 words\n");
    let kept = run(&product, &["--command", "/keep", "--args", "me", "--allow", "key-value"], 0).await?;
    assert!(kept.stdout == "kept\n" && kept.stderr.contains("stored kept me"), "{}", kept.stderr);
    let denied = run(&product, &["--command", "keep", "--args", "me"], 1).await?;
    assert!(denied.stderr.contains("denied"), "{}", denied.stderr);
    let told = run(&product, &["--command", "tell", "--args", "all"], 0).await?;
    assert!(told.stderr.contains("event told \"all\""), "{}", told.stderr);
    let refused = run(&product, &["--command", "refuse", "--args", "that"], 1).await?;
    assert!(refused.stderr.contains("not with `that`"), "{}", refused.stderr);
    let painted = run(&product, &["--command", "paint"], 0).await?;
    assert!(!painted.stdout.contains('\u{1b}'), "{:?}", painted.stdout);
    let spun = run(&product, &["--command", "spin", "--timeout", "0.2"], 1).await?;
    assert!(spun.stderr.contains("--timeout"), "{}", spun.stderr);
    Ok(())
}

#[tokio::test]
async fn an_observer_is_told_and_what_it_says_is_shown() -> Result<()> {
    let product = product!()?;
    let event = r#"[{"type": "turn_completed"}, {"type": "agent_start"}]"#;
    let watched = run(&product, &["--observe", event], 0).await?;
    assert_eq!(watched.stdout, "");
    for part in ["seen: turn_completed", "seen: agent_start"] {
        assert!(watched.stderr.contains(part), "{part} in {}", watched.stderr);
    }
    let wasm = file(&product, &tool("plain", "work"))?;
    let none = product.run(&["ext", "run", &wasm, "--observe", "{}"]).await?.with_code(1);
    assert!(none.stderr.contains("plain has no observer"), "{}", none.stderr);
    Ok(())
}

#[tokio::test]
async fn one_part_is_called_at_a_time() -> Result<()> {
    let product = product!()?;
    for flags in [
        &["--tool", "a", "--command", "b"][..],
        &["--parse", "list"],
        &["--compress", "tail"],
        &["--command", "count", "--input", "{}"],
        &["--tool", "a", "--raw", "text"],
    ] {
        run(&product, flags, 2).await?;
    }
    Ok(())
}

const CASES: &str = r#"
[[case]]
name = "a plan"
parse = { parser = "list", raw = """
- read
- write
""" }
expect = { steps = ["read", "write"] }

[[case]]
name = "no plan"
parse = { parser = "list", raw = "none" }
expect = { failure = "found no plan" }

[[case]]
name = "a conversation that is too long"
allow = ["compress"]
compress = { compressor = "tail", messages = ["one", "two"], window_tokens = 1000, used_tokens = 990 }
expect = { action = "replace", answer = { messages = ["(1 messages left out)", "two"] } }

[[case]]
name = "a command over what others left"
allow = ["key-value"]
stored = { old = "as it was", list = [{ n = 1 }] }
command = { name = "keep", arguments = "second" }

[[case.before]]
command = { name = "keep", arguments = "first" }

[case.expect]
text = "kept"
stored = { kept = "second", old = "as it was", list = [{ n = 1 }] }
not_stored = ["other"]

[[case]]
name = "an observer"
observe = [{ type = "turn_completed" }, '{"type": "extension_event", "data": null}']

[case.expect]
logged = ["seen: turn_completed", "seen: extension_event null"]

[[case]]
name = "an event of its own"
command = { name = "tell", arguments = "all" }
expect = { emitted = [{ label = "told", data = "all" }] }

[[case]]
name = "a call before it that fails"
command = { name = "count" }
before = [{ command = { name = "keep" } }]
expect = { text = "0 words" }
"#;

#[tokio::test]
async fn every_part_has_its_form_of_a_case() -> Result<()> {
    let product = product!()?;
    let (roles, cases) = (built_guest("roles")?, product.beside("roles.cases.toml"));
    std::fs::write(&cases, CASES)?;
    let (roles, cases) = (roles.to_string_lossy(), cases.to_string_lossy());
    let finished = product.run(&["ext", "test", &roles, "--cases", &cases]).await?.with_code(1);
    assert!(finished.stdout.contains("6 passed, 1 failed"), "{}", finished.stdout);
    assert!(finished.stdout.contains("the call 1 of `before` failed"), "{}", finished.stdout);
    Ok(())
}

#[tokio::test]
async fn a_failing_case_shows_what_was_logged_and_an_update_records_what_an_observer_did() -> Result<()> {
    let product = product!()?;
    let (roles, cases) = (built_guest("roles")?, product.beside("roles.cases.toml"));
    std::fs::write(
        &cases,
        "[[case]]\nname = \"one\"\nobserve = { type = \"a\" }\nexpect = { logged = [\"b\"] }\n",
    )?;
    let (roles, file) = (roles.to_string_lossy(), cases.to_string_lossy());
    let failed = product.run(&["ext", "test", &roles, "--cases", &file]).await?.with_code(1);
    assert!(failed.stdout.contains("it logged: seen: a null"), "{}", failed.stdout);
    product.run(&["ext", "test", &roles, "--cases", &file, "--update"]).await?.with_code(0);
    let text = std::fs::read_to_string(&cases)?;
    assert!(text.contains("seen: a null"), "{text}");
    product.run(&["ext", "test", &roles, "--cases", &file]).await?.with_code(0);
    Ok(())
}
