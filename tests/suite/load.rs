//! Files that are no extension, or not a sound one: each costs only itself and says what to do.

use anyhow::{Context, Result};
use capstan_engine::LoadProblem;
use capstan_tests::guest::{Guest, Tool, core_module};
use capstan_tests::sandboxed::Place;

async fn problem(bytes: &[u8]) -> Result<LoadProblem> {
    let place = Place::new()?;
    match place.inspect("x.wasm", bytes).await {
        Ok(_) => anyhow::bail!("must not load"),
        Err(error) => {
            assert!(error.to_string().contains("x.wasm"), "an error names its file: {error}");
            Ok(error.problem)
        }
    }
}

#[tokio::test]
async fn a_sound_component_loads_and_says_what_it_is() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("sound").text_result("hello");
    let inspected = place.inspect("x.wasm", &guest.tool("greet", &body).build()?).await?;
    assert_eq!(inspected.surface.descriptor.id.as_str(), "sound");
    assert_eq!(inspected.surface.descriptor.tools[0].name, "greet");
    Ok(())
}

// A1, A9
#[tokio::test]
async fn what_is_not_webassembly_is_refused() -> Result<()> {
    for bytes in
        [&b""[..], b"\0", b"\x7fELF\x02\x01\x01\0", b"PK\x03\x04....", b"(component)", b"hello world"]
    {
        assert!(matches!(problem(bytes).await?, LoadProblem::NotWasm { .. }), "{bytes:?}");
    }
    Ok(())
}

// A2
#[tokio::test]
async fn a_core_module_is_refused_with_the_way_to_link_it() -> Result<()> {
    let problem = problem(&core_module()?).await?;
    assert!(matches!(problem, LoadProblem::CoreModule));
    assert!(problem.to_string().contains("capstan ext build"), "{problem}");
    Ok(())
}

// A5
#[tokio::test]
async fn another_contract_version_is_refused_naming_found_and_wanted() -> Result<()> {
    let problem = problem(&Guest::new("future").build_for("0.2.0")?).await?;
    let text = problem.to_string();
    assert!(matches!(problem, LoadProblem::ContractVersion { .. }), "{text}");
    assert!(text.contains("0.2.0") && text.contains("0.1.0"), "{text}");
    Ok(())
}

// A6
#[tokio::test]
async fn another_patch_of_the_contract_loads() -> Result<()> {
    let place = Place::new()?;
    place.inspect("x.wasm", &Guest::new("patched").build_for("0.1.7")?).await?;
    Ok(())
}

// A3
#[tokio::test]
async fn components_of_something_else_and_without_descriptor_are_refused() -> Result<()> {
    let nothing = wat::parse_str("(component)")?;
    assert!(matches!(problem(&nothing).await?, LoadProblem::NotAnExtension { .. }));
    let other = wat::parse_str(
        "(component (core module $m (func (export \"f\"))) (core instance $i (instantiate $m))
         (func $f (canon lift (core func $i \"f\"))) (export \"run\" (func $f)))",
    )?;
    let text = problem(&other).await?.to_string();
    assert!(text.contains("run"), "{text}");
    Ok(())
}

// A4
#[tokio::test]
async fn an_unknown_import_is_refused_by_name() -> Result<()> {
    let bytes = wat::parse_str(
        "(component (import \"evil:host/shell@1.0.0\" (instance (export \"run\" (func))))
         (instance $e) (export \"capstan:extension/extension@0.1.0\" (instance $e)))",
    )?;
    let problem = problem(&bytes).await?;
    assert!(
        matches!(&problem, LoadProblem::UnknownImport { import } if import == "evil:host/shell@1.0.0"),
        "{problem}"
    );
    Ok(())
}

// 001-124: a hook that the contract does not have is no hook that is left out in silence.
#[tokio::test]
async fn a_hook_under_a_name_that_the_contract_does_not_have_is_refused() -> Result<()> {
    // The control: the same guest under a name that there is.
    let (guest, body) = Guest::new("early").verdict(2, "no");
    Place::new()?.inspect("x.wasm", &guest.gate(&["bash"], &body).build()?).await?;
    let exporting = |name: &str| {
        wat::parse_str(format!(
            "(component (instance $e) (export \"capstan:extension/extension@0.1.0\" (instance $e))
             (instance $h) (export \"capstan:extension/{name}\" (instance $h)))"
        ))
    };
    let problem = problem(&exporting("before-lunch@0.1.0")?).await?;
    assert!(
        matches!(&problem, LoadProblem::UnknownExport { export } if export == "capstan:extension/before-lunch@0.1.0"),
        "{problem}"
    );
    assert!(problem.to_string().contains("correct the name"), "{problem}");
    Ok(())
}

// A3
#[tokio::test]
async fn an_interface_without_its_function_is_refused() -> Result<()> {
    let bytes = wat::parse_str(
        "(component (instance $e) (export \"capstan:extension/extension@0.1.0\" (instance $e)))",
    )?;
    let problem = problem(&bytes).await?;
    assert!(matches!(problem, LoadProblem::TypeMismatch { .. }), "{problem}");
    assert!(problem.to_string().contains("describe"), "{problem}");
    Ok(())
}

// A7, sampled
#[tokio::test]
async fn a_truncated_component_is_refused_and_never_panics() -> Result<()> {
    let whole = Guest::new("whole").build()?;
    for len in (8..whole.len()).step_by(whole.len() / 25) {
        problem(&whole[..len]).await?;
    }
    Ok(())
}

// A8, sampled with fixed seeds
#[tokio::test]
async fn flipped_bits_are_refused_or_run_within_limits() -> Result<()> {
    let place = Place::new()?;
    let whole = Guest::new("whole").build()?;
    let mut at = 12_345_usize;
    for _ in 0..60 {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone();
        let position = at % bytes.len();
        bytes[position] ^= 1 << (at >> 60 & 7);
        drop(place.inspect("flipped.wasm", &bytes).await);
    }
    Ok(())
}

#[tokio::test]
async fn a_trap_in_describe_costs_only_that_file() -> Result<()> {
    let problem = problem(&Guest::new("trap").describe_with("unreachable").build()?).await?;
    assert!(matches!(problem, LoadProblem::Describe { .. }), "{problem}");
    assert!(problem.to_string().contains("unreachable"), "{problem}");
    Ok(())
}

// C5
#[tokio::test]
async fn an_endless_describe_is_stopped() -> Result<()> {
    let problem =
        problem(&Guest::new("loop").describe_with("(loop $l (br $l)) unreachable").build()?).await?;
    assert!(problem.to_string().contains("did not answer within"), "{problem}");
    Ok(())
}

// C3
#[tokio::test]
async fn an_endless_start_function_is_stopped() -> Result<()> {
    let guest = Guest::new("start").define("(func $spin (loop $l (br $l))) (start $spin)");
    let problem = problem(&guest.build()?).await?;
    assert!(problem.to_string().contains("did not answer within"), "{problem}");
    Ok(())
}

// A12
#[tokio::test]
async fn text_that_is_not_utf8_is_refused() -> Result<()> {
    // The descriptor's id is its first field: point it at two bytes that are no UTF-8.
    let guest = Guest::new("text").data(64, &[0xff, 0xfe]).describe_with(
        "(i32.store (i32.const 128) (i32.const 64)) (i32.store (i32.const 132) (i32.const 2)) i32.const 128",
    );
    let problem = problem(&guest.build()?).await?;
    assert!(problem.to_string().contains("utf-8"), "{problem}");
    Ok(())
}

// H6
#[tokio::test]
async fn a_tool_that_takes_a_builtin_name_is_refused() -> Result<()> {
    let (guest, body) = Guest::new("imposter").text_result("hello");
    let problem = problem(&guest.tool("Bash", &body).build()?).await?;
    assert!(problem.to_string().contains("`bash`"), "{problem}");
    Ok(())
}

// A15, A13
#[tokio::test]
async fn unusable_schemas_are_refused_naming_tool_and_reason() -> Result<()> {
    let deep = format!(r#"{{"type":"object","x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for schema in
        ["", "[]", r#"{"type":"array"}"#, r#"{"type":"object","$ref":"http://127.0.0.1/x"}"#, &deep[..9_000]]
    {
        let mut guest = Guest::new("schema").tool("shape", "unreachable");
        guest.tools = vec![Tool { parameters: schema.to_owned(), ..Tool::new("shape") }];
        let problem = problem(&guest.build()?).await?;
        assert!(problem.to_string().contains("tool `shape`: parameters"), "{problem}");
    }
    Ok(())
}

#[tokio::test]
async fn files_that_are_too_large_or_unreadable_are_refused() -> Result<()> {
    let place = Place::new()?;
    let large = place.file("large.wasm", b"\0asm")?;
    std::fs::OpenOptions::new().write(true).open(&large)?.set_len(100 << 20)?;
    let error = place.sandbox.inspect(&large).await.err().expect("too large");
    assert!(matches!(error.problem, LoadProblem::TooLarge { .. }), "{error}");
    for path in [place.workspace(), place.workspace().join("missing.wasm")] {
        let error = place.sandbox.inspect(&path).await.err().expect("unreadable");
        assert!(matches!(error.problem, LoadProblem::Unreadable { .. }), "{error}");
    }
    Ok(())
}

/// A component in which one part hands a text to another, each with a memory of its own, by a tail call.
const COMPOSED: &str = r#"(component
  (component $inner
    (core module $m
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
      (func (export "take") (param i32 i32)))
    (core instance $i (instantiate $m))
    (func (export "take") (param "text" string)
      (canon lift (core func $i "take") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))
  (component $outer
    (import "take" (func $take (param "text" string)))
    (core module $libc (memory (export "memory") 1) (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0))
    (core instance $libc (instantiate $libc))
    (core func $taken (canon lower (func $take) (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
    (core module $m
      (import "host" "take" (func $take (param i32 i32)))
      (func (export "run") (return_call $take (i32.const 0) (i32.const 0))))
    (core instance $i (instantiate $m (with "host" (instance (export "take" (func $taken))))))
    (func (export "run") (canon lift (core func $i "run"))))
  (instance $inner (instantiate $inner))
  (instance $outer (instantiate $outer (with "take" (func $inner "take"))))
  (export "run" (func $outer "run")))"#;

// JavaScript engines are components of this kind.
#[tokio::test]
async fn a_component_made_of_components_is_compiled() -> Result<()> {
    let place = Place::new()?;
    let loaded = place.inspect("composed.wasm", &wat::parse_str(COMPOSED)?).await;
    let error = loaded.err().context("it is no extension")?.to_string();
    assert!(
        error.contains("exports no interface"),
        "must compile, and be refused for what it exports: {error}"
    );
    Ok(())
}
