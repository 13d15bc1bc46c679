//! How much a call may write: every way of writing counts, and nothing is written past the end.

use super::{error, is_ok, place};
use anyhow::Result;
use capstan_tests::invariant::Before;
use capstan_tests::logged::Logged;
use capstan_tests::probe::{Probe, read_write};
use serde_json::{Value, json};
use std::fs;

const MIB: u64 = 1 << 20;

/// Pieces of a quarter of a mebibyte.
const PIECE: u64 = MIB / 4;

fn fill(path: &str, way: &str, bytes: u64, step: u64, times: u32) -> Value {
    json!({ "try": "fill", "at": "/workspace", "path": path, "way": way, "bytes": bytes, "step": step, "times": times })
}

/// Books all but one mebibyte. The file is a hole, so nothing is written.
fn almost_all() -> Value {
    fill("large", "resize", 255 * MIB, 0, 1)
}

// F16
#[tokio::test]
async fn every_way_of_writing_counts_and_ends_at_the_quota() -> Result<()> {
    for way in [
        "write",
        "resize",
        "stream",
        "stream-when-ready",
        "append",
        "zeroes",
        "zeroes-waiting",
        "splice",
        "splice-waiting",
    ] {
        let place = place()?;
        let workspace = place.workspace();
        fs::write(workspace.join("source"), vec![b's'; PIECE as usize])?;
        let probe = Probe::load(&place, &[read_write(".")]).await?;
        let control = probe.step(fill("control", way, PIECE, PIECE, 8)).await?;
        assert_eq!(control["ok"]["written"], 8, "{way}: {control}");
        assert_eq!(fs::metadata(workspace.join("control"))?.len(), 2 * MIB, "{way}");

        let outcomes = probe.steps(json!([almost_all(), fill("out", way, PIECE, PIECE, 8)])).await?;
        assert_eq!(outcomes[0]["ok"]["written"], 1, "{outcomes:?}");
        assert_eq!(outcomes[1]["ok"], json!({ "written": 4, "error": "quota", "then": "quota" }), "{way}");
        assert_eq!(fs::metadata(workspace.join("out"))?.len(), MIB, "{way}");
        // Another call has its own.
        let next = probe.step(fill("next", way, PIECE, PIECE, 8)).await?;
        assert_eq!(next["ok"]["written"], 8, "{way}: {next}");
    }
    Ok(())
}

// F16
#[tokio::test]
async fn a_file_cannot_be_made_huge_by_writing_little() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let far = 1 << 40;
    for way in ["write", "stream", "stream-when-ready", "zeroes"] {
        // The first byte at the beginning, the second behind a tebibyte of nothing.
        let outcome = probe.step(fill(way, way, 1, far, 2)).await?;
        assert_eq!(outcome["ok"], json!({ "written": 1, "error": "quota", "then": "quota" }), "{way}");
        assert_eq!(fs::metadata(workspace.join(way))?.len(), 1, "{way}");
        let near = probe.step(fill(way, way, 1, MIB, 3)).await?;
        assert_eq!(near["ok"]["written"], 3, "the control, {way}: {near}");
    }
    let resize = |bytes: u64| json!({ "try": "resize", "at": "/workspace", "path": "a", "bytes": bytes, "write": true });
    assert_eq!(error(&probe.step(resize(far)).await?), "quota");
    assert_eq!(fs::read_to_string(workspace.join("a"))?, "inside");
    assert!(is_ok(&probe.step(resize(2 * MIB)).await?));
    // Shrinking is free, and growing again is not.
    let wave = json!([resize(200 * MIB), resize(0), resize(50 * MIB), resize(0), resize(200 * MIB)]);
    let outcomes = probe.steps(wave).await?;
    assert!(outcomes[..4].iter().all(is_ok), "{outcomes:?}");
    assert_eq!(error(&outcomes[4]), "quota");
    Ok(())
}

// F16: not only what is new counts, or a guest could write the same bytes over and over.
#[tokio::test]
async fn writing_over_what_is_there_counts_as_well() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let outcomes = probe.steps(json!([almost_all(), fill("out", "write", PIECE, 0, 8)])).await?;
    assert_eq!(outcomes[1]["ok"], json!({ "written": 4, "error": "quota", "then": "quota" }));
    Ok(())
}

// F16
#[tokio::test]
async fn a_used_up_quota_is_named_in_the_failure_and_in_the_log() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let before = Before::look();
    let logged = Logged::begin();
    let too_much = fill("out", "resize", 257 * MIB, 0, 1);
    assert_eq!(probe.step(too_much.clone()).await?["ok"]["error"], "quota");
    let warned = logged.with("quota of 256 MiB");
    assert!(warned.iter().any(|line| line.starts_with("WARN") && line.contains("probe")), "{warned:?}");

    let panics = json!([too_much, { "try": "panic", "text": "no room", "bytes": 1 }]);
    let failure = probe.steps(panics).await.expect_err("it panics").to_string();
    assert!(failure.contains("the quota of 256 MiB for writing files is used up"), "{failure}");
    before.holds(&place, &probe.extension).await
}
