//! Guests that take too much: each is stopped, its failure rule holds, and the next call works.
//!
//! Reliability cases that are elsewhere: C3 and C5 in `load.rs`, M15 in `environment.rs`, M17 and the handles of files in
//! `files.rs`, M4, C9, C14 and C15 in the engine's own tests, C1 in a whole turn in `turn/gates.rs`.
//!
//! Cases that do not arise: a guest cannot call another guest or itself, since no host function leads back into one (C11,
//! C12). Nothing is charged by a turn, so what is left of C10 is that each call pays with its own deadline.

mod cpu;
mod memory;

use anyhow::Result;
use capstan_ports::hook::{Hook, HookError};
use capstan_ports::tool::{Tool, ToolError};
use capstan_tests::guest::Guest;
use capstan_tests::invariant::another_works;
use capstan_tests::sandboxed::{Place, call, hook_context, tool_context};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SPIN: &str = "(loop $l (br $l)) unreachable";

async fn tool(place: &Place, id: &str, body: &str) -> Result<Arc<dyn Tool>> {
    Ok(place.load(&Guest::new(id).tool("work", body)).await?.tools().remove(0))
}

async fn failure(tool: &Arc<dyn Tool>) -> Result<ToolError> {
    match tool.execute(&call("work", json!({})), &tool_context()).await {
        Ok(outcome) => anyhow::bail!("must fail, and answered {outcome:?}"),
        Err(error) => Ok(error),
    }
}

async fn spinning_gate(place: &Place) -> Result<Arc<dyn Hook>> {
    let extension = place.load(&Guest::new("spinner").gate(&["bash"], SPIN)).await?;
    extension.hook().ok_or_else(|| anyhow::anyhow!("the guest has a gate"))
}

// C1
#[tokio::test]
async fn a_gate_that_spins_denies_within_its_deadline_and_stays_closed() -> Result<()> {
    let place = Place::new()?;
    let hook = spinning_gate(&place).await?;
    let began = Instant::now();
    for _ in 0..3 {
        let denied = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await;
        let Err(HookError::Failed { message, .. }) = denied else { anyhow::bail!("must be denied") };
        assert!(message.contains("did not answer within 500 ms"), "{message}");
    }
    // Only the first call waited; a generous bound, for three deadlines would pass it.
    assert!(began.elapsed() < Duration::from_millis(1_400), "{:?}", began.elapsed());
    another_works(&place).await
}

// C6: the default test runtime has one thread, so nothing but the epoch thread can stop the guest.
#[tokio::test]
async fn an_abort_stops_a_spinning_guest_at_once() -> Result<()> {
    let place = Place::new()?;
    let tool = tool(&place, "spinner", SPIN).await?;
    let context = tool_context();
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let began = Instant::now();
    let outcome = tool.execute(&call("work", json!({})), &context).await;
    assert!(matches!(outcome, Err(ToolError::Aborted)));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    another_works(&place).await
}

// C7
#[tokio::test]
async fn a_timer_on_the_same_thread_keeps_running_while_a_guest_computes() -> Result<()> {
    let place = Place::new()?;
    let tool = tool(&place, "spinner", SPIN).await?;
    let context = tool_context();
    let cancel = context.cancel.clone();
    let ticks = tokio::spawn(async move {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    });
    let outcome = tool.execute(&call("work", json!({})), &context).await;
    assert!(matches!(outcome, Err(ToolError::Aborted)), "ten ticks came through, then the abort");
    ticks.await?;
    Ok(())
}

// M1, with a body that goes on after the refusal to its own trap
#[tokio::test]
async fn memory_is_bounded_and_the_error_says_so() -> Result<()> {
    let place = Place::new()?;
    let body = "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) unreachable";
    let error = failure(&tool(&place, "hoarder", body).await?).await?.to_string();
    assert!(error.contains("memory (256 MiB)"), "{error}");
    another_works(&place).await
}

// M8
#[tokio::test]
async fn endless_recursion_is_a_trap() -> Result<()> {
    let place = Place::new()?;
    let guest =
        Guest::new("deep").define("(func $deep (call $deep))").tool("work", "(call $deep) unreachable");
    let tool = place.load(&guest).await?.tools().remove(0);
    let error = failure(&tool).await?.to_string();
    assert!(error.contains("call stack exhausted"), "{error}");
    another_works(&place).await
}

// M14
#[tokio::test]
async fn a_result_out_of_bounds_is_an_error() -> Result<()> {
    let place = Place::new()?;
    for body in ["i32.const 0x7ffffff0", "i32.const 3", "i32.const -4"] {
        let error = failure(&tool(&place, "wild", body).await?).await?.to_string();
        assert!(error.contains("failed"), "{error}");
    }
    another_works(&place).await
}

// M11: the guest hands the log one text of 64 MiB.
#[tokio::test]
async fn a_host_call_that_copies_too_much_is_stopped() -> Result<()> {
    let place = Place::new()?;
    let guest = |bytes: u32| {
        let (guest, result) = Guest::new("talker").text_result("done");
        guest
            .import(
                "log",
                "(import \"capstan:extension/log@0.1.0\" \"write\" (func $log (param i32 i32 i32)))",
            )
            .tool(
                "work",
                &format!(
                    "(drop (memory.grow (i32.const 1030)))
                     (call $log (i32.const 2) (i32.const 65536) (i32.const {bytes})) {result}"
                ),
            )
    };
    let small = place.load(&guest(1_000)).await?.tools().remove(0);
    assert!(small.execute(&call("work", json!({})), &tool_context()).await.is_ok(), "a short line is fine");
    let large = place.load(&guest(64 << 20)).await?.tools().remove(0);
    failure(&large).await?;
    another_works(&place).await
}

#[tokio::test]
async fn a_trap_leaves_the_next_call_unharmed() -> Result<()> {
    let place = Place::new()?;
    let (guest, result) = Guest::new("moody").text_result("fine");
    // Traps when the call's arguments are longer than two bytes.
    let guest = guest
        .tool("work", &format!("(if (i32.gt_u (local.get 11) (i32.const 2)) (then unreachable)) {result}"));
    let tool = place.load(&guest).await?.tools().remove(0);
    let error =
        tool.execute(&call("work", json!({"a": 1})), &tool_context()).await.expect_err("traps").to_string();
    assert!(error.contains("unreachable"), "{error}");
    assert!(tool.execute(&call("work", json!({})), &tool_context()).await.is_ok());
    Ok(())
}

// Host to guest is not limited by wasmtime; the check is ours.
#[tokio::test]
async fn input_over_the_limit_is_not_handed_in() -> Result<()> {
    let place = Place::new()?;
    let (guest, result) = Guest::new("reader").text_result("fine");
    let tool = place.load(&guest.tool("work", &result)).await?.tools().remove(0);
    let with = |bytes: usize| call("work", json!({ "text": "x".repeat(bytes) }));
    assert!(tool.execute(&with(1 << 20), &tool_context()).await.is_ok());
    let error = tool.execute(&with(9 << 20), &tool_context()).await.expect_err("too much").to_string();
    assert!(error.contains("input"), "{error}");
    Ok(())
}
