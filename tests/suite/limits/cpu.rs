//! Guests that compute, wait or call without end, in places where one may not look for it.

use super::{SPIN, another_works, failure, tool};
use anyhow::Result;
use capstan_engine::LoadProblem;
use capstan_engine::limits::{Limits, Role};
use capstan_ports::hook::HookError;
use capstan_tests::guest::Guest;
use capstan_tests::invariant::Before;
use capstan_tests::sandboxed::{Place, call, hook_context};
use serde_json::json;

/// What a gate says when it is asked about a call.
async fn denial(place: &Place, guest: &Guest) -> Result<String> {
    let extension = place.load(guest).await?;
    let before = Before::look();
    let hook = extension.hook().ok_or_else(|| anyhow::anyhow!("the guest has a gate"))?;
    let denied = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await;
    before.holds(place, &extension).await?;
    match denied {
        Err(HookError::Failed { message, .. }) => Ok(message),
        other => anyhow::bail!("must be denied, and was {other:?}"),
    }
}

// C4
#[tokio::test]
async fn an_endless_allocator_or_clean_up_denies_like_an_endless_gate() -> Result<()> {
    let place = Place::new()?;
    let (guest, pass) = Guest::new("allocator").verdict(0, "");
    let control = place.load(&guest.clone().gate(&["bash"], &pass)).await?;
    let hook = control.hook().ok_or_else(|| anyhow::anyhow!("the guest has a gate"))?;
    assert!(hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await.is_ok());

    // The call's texts are put where the guest's allocator says.
    let message = denial(&place, &guest.gate(&["bash"], &pass).allocate_with(SPIN)).await?;
    assert!(message.contains("did not answer within 500 ms"), "{message}");

    let (guest, pass) = Guest::new("cleaner").verdict(0, "");
    let guest = guest.afterwards("before-tool-call", "(loop $l (br $l))").gate(&["bash"], &pass);
    let message = denial(&place, &guest).await?;
    assert!(message.contains("did not answer within 500 ms"), "{message}");
    Ok(())
}

// C8: no epoch comes to a guest that waits in a host call.
#[tokio::test]
async fn a_gate_that_waits_for_an_hour_denies_within_its_deadline() -> Result<()> {
    let place = Place::new()?;
    let waiting = |nanoseconds: u64| {
        let (guest, pass) = Guest::new("sleeper").timers().verdict(0, "");
        let body = format!("(call $wait (call $timer (i64.const {nanoseconds}))) {pass}");
        guest.gate(&["bash"], &body)
    };
    let control = place.load(&waiting(1_000_000)).await?;
    let hook = control.hook().ok_or_else(|| anyhow::anyhow!("the guest has a gate"))?;
    assert!(hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await.is_ok());
    let message = denial(&place, &waiting(3_600_000_000_000)).await?;
    assert!(message.contains("did not answer within 500 ms"), "{message}");
    Ok(())
}

/// A guest that asks for its configuration this often before it describes itself.
fn asking(times: u64) -> Result<Vec<u8>> {
    let guest = Guest::new("asker")
        .import(
            "cancellation",
            "(import \"capstan:extension/cancellation@0.1.0\" \"is-cancelled\" (func $ask (result i32)))",
        )
        .define("(global $left (mut i64) (i64.const 0))");
    let body = format!(
        "(global.set $left (i64.const {times}))
         (loop $l (drop (call $ask))
           (global.set $left (i64.sub (global.get $left) (i64.const 1)))
           (br_if $l (i64.ne (global.get $left) (i64.const 0))))
         {}",
        guest.describing()
    );
    guest.describe_with(&body).build()
}

// C13
#[tokio::test]
async fn host_calls_are_counted_and_one_too_many_ends_the_call() -> Result<()> {
    let place = Place::new()?;
    let limit = Limits::of(Role::Describe).host_calls;
    place.inspect("some.wasm", &asking(limit - 100)?).await?;
    let Err(error) = place.inspect("many.wasm", &asking(limit + 1)?).await else {
        anyhow::bail!("must not load")
    };
    assert!(matches!(error.problem, LoadProblem::Describe { .. }), "{error}");
    assert!(error.to_string().contains("used up its host calls (10000 in one call)"), "{error}");
    another_works(&place).await
}

// C10 as far as it applies: nothing is charged by a turn, so a guest that burns and traps pays with each call's own
// deadline, and the host neither slows down nor fills up.
#[tokio::test]
async fn a_guest_that_computes_and_traps_again_and_again_costs_only_its_calls() -> Result<()> {
    let place = Place::new()?;
    let burn = "(local $n i32) (loop $l (local.set $n (i32.add (local.get $n) (i32.const 1)))
                  (br_if $l (i32.lt_u (local.get $n) (i32.const 100000)))) unreachable";
    let extension = place.load(&Guest::new("burner").tool("work", burn)).await?;
    let burning = extension.tools().remove(0);
    failure(&burning).await?;
    let before = Before::look();
    for _ in 0..300 {
        let error = failure(&burning).await?.to_string();
        assert!(error.contains("unreachable"), "{error}");
    }
    before.holds(&place, &extension).await
}

// M18
#[tokio::test]
async fn a_thousand_calls_at_once_wait_for_each_other_and_all_answer() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("popular").text_result("fine");
    let extension = place.load(&guest.tool("work", &body)).await?;
    let popular = extension.tools().remove(0);
    let before = Before::look();
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let popular = popular.clone();
            tokio::spawn(async move {
                let context = capstan_tests::sandboxed::tool_context();
                popular.execute(&call("work", json!({})), &context).await.map(|outcome| outcome.is_error)
            })
        })
        .collect();
    for answer in calls {
        assert!(matches!(answer.await?, Ok(false)));
    }
    // Guests that hold their places do not stay there: one that spins among them is ended like any other.
    let spinning = tool(&place, "spinner", SPIN).await?;
    let context = capstan_tests::sandboxed::tool_context();
    context.cancel.cancel();
    assert!(spinning.execute(&call("work", json!({})), &context).await.is_err());
    before.holds(&place, &extension).await
}
