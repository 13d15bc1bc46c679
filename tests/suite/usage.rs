//! What extensions use: limits as the user sets them, counts that add up over runs, and calls that take turns.

use anyhow::{Context, Result};
use capstan_ports::message::text_of;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::product::json_lines;
use capstan_tests::sandboxed::{Place, call, tool_context};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SPIN: &str = "(loop $l (br $l)) unreachable";

/// A script in which the model calls the tool `work` once.
const ONE_CALL: [&str; 2] = [r#"{"tool_calls": [{"name": "work", "arguments": {}}]}"#, r#"{"text": "done"}"#];

#[tokio::test]
async fn a_call_ends_at_the_deadline_that_the_user_set() -> Result<()> {
    let product = product!()?.with_script(&ONE_CALL)?;
    product.install(&Guest::new("spinner").tool("work", SPIN))?;
    product.configure("[limits.tool]\ndeadline_ms = 150\n")?;
    let finished = product.run(&["--mode", "json", "-p", "go"]).await?;
    assert!(finished.stdout.contains("did not answer within 150 ms"), "{finished:?}");
    Ok(())
}

#[tokio::test]
async fn limits_that_cannot_be_are_refused_by_name() -> Result<()> {
    let product = product!()?.with_script(&ONE_CALL)?;
    for (text, expected) in [
        ("[limits.tool]\nmemory_mb = 9000\n", "memory_mb must be from 1 to 512"),
        ("[limits.tols]\nmemory_mb = 9\n", "there is no such role"),
        ("[limits.tool]\nmemory = 9\n", "unknown field"),
    ] {
        product.configure(text)?;
        let finished = product.run(&["-p", "go"]).await?;
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(finished.stderr.contains(expected), "{finished:?}");
    }
    Ok(())
}

#[tokio::test]
async fn usage_is_told_at_the_end_and_adds_up_over_runs() -> Result<()> {
    let (guest, body) = Guest::new("worker").text_result("fine");
    let product = product!()?.with_script(&ONE_CALL)?;
    product.install(&guest.tool("work", &body))?;
    for run in 1..=2 {
        let finished = product.run(&["--mode", "json", "-p", "go"]).await?;
        let lines = json_lines(&finished.stdout)?;
        let told = lines.iter().find(|line| line["type"] == "extension_usage").context("no usage line")?;
        assert_eq!((&told["extension"], &told["usage"]["calls"]), (&json!("worker"), &json!(1)), "{told}");
        assert!(told["usage"]["peakMemoryBytes"].as_u64() >= Some(2 * 65536), "{told}");
        let listed = product.run(&["ext", "list", "--json"]).await?;
        let listed: Value = serde_json::from_str(&listed.stdout)?;
        assert_eq!(listed[0]["usage"]["calls"], run, "{listed}");
        assert_eq!(listed[0]["usage"]["failures"], 0, "{listed}");
    }
    let table = product.run(&["ext", "list", "--usage"]).await?;
    let line = table.stdout.lines().find(|line| line.starts_with("worker")).context("no line")?;
    assert_eq!(line.split_whitespace().nth(1), Some("2"), "{line}");
    // Other bytes are another extension: its numbers begin anew.
    let (guest, body) = Guest::new("worker").text_result("better");
    product.install(&guest.tool("work", &body))?;
    let listed = product.run(&["ext", "list", "--json"]).await?;
    let listed: Value = serde_json::from_str(&listed.stdout)?;
    assert_eq!(listed[0]["usage"]["calls"], 0, "{listed}");
    Ok(())
}

#[tokio::test]
async fn failures_are_counted_with_their_time() -> Result<()> {
    let place = Place::new()?;
    let extension = place.load(&Guest::new("trapper").tool("work", "unreachable")).await?;
    let tool = extension.tools().remove(0);
    for _ in 0..3 {
        assert!(tool.execute(&call("work", json!({})), &tool_context()).await.is_err());
    }
    let usage = extension.usage();
    assert_eq!((usage.calls, usage.failures), (3, 3));
    assert!(usage.cpu_micros > 0, "{usage:?}");
    Ok(())
}

// M18
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_all_get_their_answer() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("worker").text_result("fine");
    let tool = place.load(&guest.tool("work", &body)).await?.tools().remove(0);
    let calls = (0..1000).map(|_| {
        let tool = tool.clone();
        tokio::spawn(async move { tool.execute(&call("work", json!({})), &tool_context()).await })
    });
    for answer in calls.collect::<Vec<_>>() {
        assert_eq!(text_of(&answer.await??.content), "fine");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extension_with_many_endless_calls_does_not_keep_another_waiting() -> Result<()> {
    let place = Place::new()?;
    let slow = place.load(&Guest::new("slow").tool("spin", SPIN)).await?.tools().remove(0);
    let (guest, body) = Guest::new("quick").text_result("fine");
    let quick = place.load(&guest.tool("work", &body)).await?.tools().remove(0);
    let context = tool_context();
    let endless = (0..200).map(|_| {
        let (slow, context) = (slow.clone(), context.clone());
        tokio::spawn(async move { slow.execute(&call("spin", json!({})), &context).await })
    });
    let endless: Vec<_> = endless.collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    // Were the quick one queued behind the others, it would wait for deadlines of thirty seconds.
    let began = Instant::now();
    let answer = quick.execute(&call("work", json!({})), &tool_context()).await?;
    assert_eq!(text_of(&answer.content), "fine");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    context.cancel.cancel();
    for call in endless {
        assert!(call.await?.is_err());
    }
    Ok(())
}

#[tokio::test]
async fn kept_instances_of_many_sessions_make_room_for_one_another() -> Result<()> {
    let place = Place::new()?;
    let (mut guest, body) = Guest::new("keeper").text_result("fine");
    guest.session_lifetime = true;
    let tool: Arc<dyn capstan_ports::Tool> = place.load(&guest.tool("work", &body)).await?.tools().remove(0);
    for session in 0..100 {
        let mut context = tool_context();
        context.turn.session_id = capstan_ports::SessionId::new(format!("session-{session}"));
        let answer = tool.execute(&call("work", json!({})), &context).await?;
        assert_eq!(text_of(&answer.content), "fine");
    }
    Ok(())
}
