//! Guests that take memory, tables, stacks and handles, or make the host take them.

use super::{another_works, failure, tool};
use anyhow::Result;
use capstan_engine::LoadProblem;
use capstan_ports::message::text_of;
use capstan_ports::tool::{Tool, ToolError, ToolOutcome};
use capstan_tests::guest::Guest;
use capstan_tests::invariant::Before;
use capstan_tests::sandboxed::{Place, call, tool_context};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;

async fn load_problem(place: &Place, bytes: &[u8]) -> Result<LoadProblem> {
    match place.inspect("x.wasm", bytes).await {
        Ok(_) => anyhow::bail!("must not load"),
        Err(error) => Ok(error.problem),
    }
}

async fn run(tool: &Arc<dyn Tool>) -> Result<ToolOutcome, ToolError> {
    tool.execute(&call("work", json!({})), &tool_context()).await
}

async fn one(place: &Place, guest: &Guest) -> Result<Arc<dyn Tool>> {
    Ok(place.load(guest).await?.tools().remove(0))
}

/// A component of this many core instances of a module, which exports `describe` with another type than the contract's: it
/// is instantiated, and refused after that.
fn instances(module: &str, count: usize) -> Result<Vec<u8>> {
    let mut wat = format!("(component (core module $m {module} (func (export \"f\")))");
    for instance in 0..count {
        write!(wat, "(core instance $i{instance} (instantiate $m))")?;
    }
    wat.push_str(
        "(func $d (canon lift (core func $i0 \"f\"))) (instance $e (export \"describe\" (func $d)))
         (export \"capstan:extension/extension@0.1.0\" (instance $e)))",
    );
    Ok(wat::parse_str(wat)?)
}

// M2
#[tokio::test]
async fn a_component_that_wants_all_memory_at_once_is_refused() -> Result<()> {
    let place = Place::new()?;
    let guest = |pages: u32| {
        let mut guest = Guest::new("large");
        guest.memory_pages = pages;
        guest
    };
    place.inspect("x.wasm", &guest(1_000).build()?).await?;
    let before = Before::look();
    for pages in [3_000, 65_536] {
        let problem = load_problem(&place, &guest(pages).build()?).await?;
        assert!(problem.to_string().contains("memory"), "{pages}: {problem}");
    }
    let extension = place.load(&guest(1_000)).await?;
    before.holds(&place, &extension).await
}

// M3
#[tokio::test]
async fn several_memories_share_one_limit() -> Result<()> {
    let place = Place::new()?;
    let few = load_problem(&place, &instances("(memory 400)", 4)?).await?;
    assert!(matches!(few, LoadProblem::TypeMismatch { .. }), "the control is instantiated: {few}");
    let many = load_problem(&place, &instances("(memory 400)", 8)?).await?;
    assert!(many.to_string().contains("memory (128 MiB)"), "{many}");
    another_works(&place).await
}

// M6
#[tokio::test]
async fn a_component_of_many_parts_is_refused() -> Result<()> {
    let place = Place::new()?;
    for count in [80, 1_000] {
        let problem = load_problem(&place, &instances("", count)?).await?;
        assert!(!matches!(problem, LoadProblem::TypeMismatch { .. }), "{count}: {problem}");
        assert!(problem.to_string().contains("instances"), "{count}: {problem}");
    }
    another_works(&place).await
}

// M7
#[tokio::test]
async fn what_the_limits_do_not_reach_is_not_there() -> Result<()> {
    let place = Place::new()?;
    for feature in ["(memory 1 1 shared)", "(memory i64 1)", "(type $s (struct (field i32)))", "(tag)"] {
        let problem = load_problem(&place, &instances(feature, 1)?).await?;
        assert!(matches!(problem, LoadProblem::Invalid { .. }), "{feature}: {problem}");
    }
    another_works(&place).await
}

// M5
#[tokio::test]
async fn tables_are_bounded_and_the_error_says_so() -> Result<()> {
    let place = Place::new()?;
    let growing = |elements: u32| {
        let (guest, result) = Guest::new("tables").define("(table $t 1 funcref)").text_result("fine");
        let body = format!(
            "(if (i32.eq (table.grow $t (ref.null func) (i32.const {elements})) (i32.const -1)) (then unreachable))
             {result}"
        );
        guest.tool("work", &body)
    };
    assert!(run(&one(&place, &growing(1_000)).await?).await.is_ok());
    let error = failure(&one(&place, &growing(10_000_000)).await?).await?.to_string();
    assert!(error.contains("table elements"), "{error}");
    another_works(&place).await
}

// M9: the host has a stack of its own, however deep a guest is when it calls.
#[tokio::test]
async fn a_host_function_called_at_the_edge_of_the_stack_has_room() -> Result<()> {
    let place = Place::new()?;
    let data = format!("{{\"x\":{}{}}}", "[".repeat(100), "]".repeat(100));
    let deep = |depth: u32| {
        let (guest, result) = Guest::new("deep").text_result("fine");
        guest
            .import(
                "events",
                "(import \"capstan:extension/events@0.1.0\" \"emit\" (func $emit (param i32 i32 i32 i32)))",
            )
            .define(&format!(
                "(func $deep (param $left i32)
                   (if (local.get $left) (then (call $deep (i32.sub (local.get $left) (i32.const 1))))
                   (else (call $emit (i32.const 1000) (i32.const 4) (i32.const 1100) (i32.const {})))))",
                data.len()
            ))
            .data(1000, b"edge")
            .data(1100, data.as_bytes())
            .tool("work", &format!("(call $deep (i32.const {depth})) {result}"))
    };
    // The deepest that works lies between these.
    let (mut works, mut fails) = (10, 200_000);
    assert!(run(&one(&place, &deep(works)).await?).await.is_ok());
    while fails - works > 1 {
        let depth = works + (fails - works) / 2;
        match run(&one(&place, &deep(depth)).await?).await {
            Ok(_) => works = depth,
            Err(error) => {
                assert!(error.to_string().contains("call stack exhausted"), "{depth}: {error}");
                fails = depth;
            }
        }
    }
    assert!(works > 1_000, "{works}");
    another_works(&place).await
}

// M10
#[tokio::test]
async fn handles_that_are_never_given_back_are_bounded() -> Result<()> {
    let place = Place::new()?;
    let hoarding = |times: u32| {
        let (guest, result) =
            Guest::new("hoarder").timers().define("(global $n (mut i32) (i32.const 0))").text_result("fine");
        let body = format!(
            "(global.set $n (i32.const {times}))
             (loop $l (drop (call $timer (i64.const 3600000000000)))
               (global.set $n (i32.sub (global.get $n) (i32.const 1)))
               (br_if $l (global.get $n))) {result}"
        );
        guest.tool("work", &body)
    };
    assert!(run(&one(&place, &hoarding(100)).await?).await.is_ok());
    let extension = place.load(&hoarding(100_000)).await?;
    let before = Before::look();
    let error = failure(&extension.tools().remove(0)).await?.to_string();
    assert!(error.contains("open files, streams and timers (256 at a time)"), "{error}");
    before.holds(&place, &extension).await
}

// M12: many texts that are all the same megabyte of the guest would be as many megabytes of the host.
#[tokio::test]
async fn a_list_that_names_one_large_text_many_times_is_not_copied() -> Result<()> {
    const TEXT_AT: u32 = 0x2_0000;
    const LIST_AT: u32 = TEXT_AT + (1 << 20);
    let place = Place::new()?;
    let calling = |texts: u32, bytes: u32| {
        let (guest, result) = Guest::new("lister").text_result("fine");
        let body = format!(
            "(local $n i32)
             (drop (memory.grow (i32.const 64)))
             (memory.fill (i32.const {TEXT_AT}) (i32.const 120) (i32.const 1048576))
             (loop $l
               (i32.store (i32.add (i32.const {LIST_AT}) (i32.mul (local.get $n) (i32.const 8))) (i32.const {TEXT_AT}))
               (i32.store (i32.add (i32.const {LIST_AT}) (i32.add (i32.mul (local.get $n) (i32.const 8)) (i32.const 4)))
                 (i32.const {bytes}))
               (local.set $n (i32.add (local.get $n) (i32.const 1)))
               (br_if $l (i32.lt_u (local.get $n) (i32.const {texts}))))
             (call $run (i32.const {TEXT_AT}) (i32.const 1) (i32.const {LIST_AT}) (i32.const {texts})
               (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
               (i32.const 0) (i32.const 1024))
             {result}"
        );
        guest
            .import(
                "process",
                "(import \"capstan:extension/process@0.1.0\" \"run\"
                   (func $run (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))",
            )
            .tool("work", &body)
    };
    assert!(run(&one(&place, &calling(100, 1_000)).await?).await.is_ok(), "denied, which is an answer");
    let extension = place.load(&calling(100_000, 1 << 20)).await?;
    let before = Before::look();
    failure(&extension.tools().remove(0)).await?;
    before.holds(&place, &extension).await
}

// M13
#[tokio::test]
async fn an_answer_of_two_hundred_megabytes_is_not_read() -> Result<()> {
    let place = Place::new()?;
    let answering = |bytes: u32| {
        let (guest, result) = Guest::new("talker").text_result("0123456789");
        // The text's address and length within the result.
        let body = format!(
            "(drop (memory.grow (i32.const 3300)))
             (memory.fill (i32.const 65536) (i32.const 120) (i32.const {bytes}))
             (i32.store (i32.const 604) (i32.const 65536)) (i32.store (i32.const 608) (i32.const {bytes})) {result}"
        );
        guest.tool("work", &body)
    };
    let small = run(&one(&place, &answering(1_000)).await?).await?;
    assert_eq!(text_of(&small.content).len(), 1_000);
    let extension = place.load(&answering(200 << 20)).await?;
    let before = Before::look();
    failure(&extension.tools().remove(0)).await?;
    before.holds(&place, &extension).await
}

// M1 again and again: what a guest took is given back.
#[tokio::test]
async fn a_guest_that_takes_all_it_may_leaves_nothing_behind() -> Result<()> {
    let place = Place::new()?;
    let body = "(drop (memory.grow (i32.const 3900)))
        (memory.fill (i32.const 65536) (i32.const 1) (i32.const 250000000)) unreachable";
    let taking = tool(&place, "taker", body).await?;
    failure(&taking).await?;
    let before = Before::look();
    for _ in 0..5 {
        failure(&taking).await?;
    }
    let extension = place.load(&Guest::new("taker").tool("work", body)).await?;
    before.holds(&place, &extension).await
}
