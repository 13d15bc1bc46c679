//! Listing directories, however long they are. That a listing ends as an error at its bound shows in the engine's own tests:
//! making so many files takes longer than everything else here.

use super::{place, read, text};
use anyhow::Result;
use capstan_tests::invariant::Before;
use capstan_tests::probe::{Probe, read_only};
use serde_json::json;
use std::os::unix::fs::symlink;

// F18
#[tokio::test]
async fn a_long_directory_is_listed_whole_and_page_by_page() -> Result<()> {
    let place = place()?;
    let long = place.workspace().join("long");
    std::fs::create_dir(&long)?;
    // Links take less room than files.
    (0..3_000).try_for_each(|number| symlink("x", long.join(number.to_string())))?;
    let probe = Probe::load(&place, &[read_only(".")]).await?;
    assert_eq!(text(&probe.step(read("/workspace", "a")).await?), "inside");
    let before = Before::look();
    let count = json!({ "try": "count", "at": "/workspace", "path": "long" });
    assert_eq!(probe.step(count).await?["ok"], json!({ "entries": 3_000 }));
    before.holds(&place, &probe.extension).await
}
