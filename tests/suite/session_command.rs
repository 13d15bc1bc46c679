//! `capstan session`, on sessions of this program and on one in the form of pi 0.73.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_session::SessionFile;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::{Product, json_lines};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A session of pi 0.73 by its documented format: every type of entry, two branches, a compaction, a clock that was set back,
/// and types, roles and fields that nobody here knows.
const PI: &str = include_str!("../golden/pi-0.73.jsonl");

/// The session of pi as one of the product's workspace.
fn adopted(product: &Product) -> Result<PathBuf> {
    kept(product, PI)
}

fn kept(product: &Product, text: &str) -> Result<PathBuf> {
    let workspace = product.workspace();
    let text = text.replace("\"/home/ada/engine\"", &json!(workspace).to_string());
    let folder = product.home().join("sessions").join(capstan_session::header::folder_name(&workspace));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("2026-03-02T09-14-07-201Z_019a2f10-7c3e-7b41-9d52-3f8e6a1c0b7d.jsonl");
    std::fs::write(&path, text)?;
    Ok(path)
}

fn text_of(path: &Path) -> Result<&str> {
    path.to_str().context("the path is text")
}

// 001-137: a session of pi goes on here; what was in it stays, byte for byte.
#[tokio::test]
async fn a_session_of_pi_goes_on_and_keeps_every_byte_that_was_there() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("It turns.")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let path = adopted(&product)?;
    let before = std::fs::read_to_string(&path)?;
    let finished =
        product.run(&["--continue", "--model", "openai/test-model", "-p", "Does it turn?"]).await?;
    assert_eq!(finished.with_code(0).stdout, "It turns.\n");

    let after = std::fs::read_to_string(&path)?;
    assert!(after.starts_with(&before), "bytes are only added");
    let added = json_lines(&after[before.len()..])?;
    assert_eq!(added[0]["parentId"], "b4000002", "it follows what was said last");
    assert!(added.iter().any(|line| line["message"]["role"] == "assistant"), "{added:?}");

    let requests = server.requests();
    let request = Conversation::of(&requests[0]);
    request.check_pairs()?;
    let said = request.said().join("\n");
    for told in ["Understand the wheel", "Then look at this picture", "git status --short", "Does it turn?"] {
        assert!(said.contains(told), "{told} is not in {said}");
    }
    for untold in ["env | sort", "What does src/wheel.rs do", "Make it faster", "Open items", "hologram"] {
        assert!(!said.contains(untold), "{untold} is in {said}");
    }
    Ok(())
}

// 001-047: wherever a compaction cut, no call and no result stands alone in the request.
#[tokio::test]
async fn a_compaction_that_kept_a_result_without_its_call_makes_no_orphan() -> Result<()> {
    for first_kept in ["b1000002", "b1000003", "b1000004"] {
        let server = ScriptedServer::play([Answer::text("fine")]).await?;
        let product = product!()?.with_openai(&server.base_url());
        let lines: Vec<_> = PI.lines().take(7).collect();
        let cut = format!(
            r#"{{"type":"compaction","id":"cc","parentId":"b1000004","timestamp":"","summary":"so far","firstKeptEntryId":"{first_kept}","tokensBefore":9}}"#
        );
        kept(&product, &format!("{}\n{cut}\n", lines.join("\n")))?;
        product.run(&["--continue", "--model", "openai/test-model", "-p", "go"]).await?.with_code(0);
        let requests = server.requests();
        let request = Conversation::of(&requests[0]);
        request.check_pairs()?;
        assert_eq!(request.call_ids().len(), usize::from(first_kept == "b1000002"), "{first_kept}");
        assert!(request.said()[0].contains("so far"), "{:?}", request.said());
    }
    Ok(())
}

// 001-049, 001-009
#[tokio::test]
async fn the_tree_shows_every_entry_with_branches_bookmarks_and_the_place_where_it_goes_on() -> Result<()> {
    let product = product!()?;
    let path = adopted(&product)?;
    let before = std::fs::read(&path)?;
    let shown = product.run(&["session", "tree"]).await?.with_code(0).stdout;
    assert!(shown.contains("The wheel, turned"), "{shown}");
    let line =
        |id: &str| shown.lines().find(|line| line.contains(id)).with_context(|| format!("{id} in {shown}"));
    assert!(line("b1000001 user")?.ends_with("[the question]"), "{shown}");
    assert!(line("b2000002")?.starts_with("    b2000002"), "another branch stands further in: {shown}");
    assert!(!line("b2000002")?.contains('['), "its bookmark was removed: {shown}");
    assert!(line("b4000002")?.starts_with("*   b4000002") && line("b4000002")?.ends_with('<'), "{shown}");
    assert!(line("d1000001")?.contains("summary of a branch"), "{shown}");

    let rows = product.run(&["session", "tree", "019a2f10", "--json"]).await?.with_code(0).json()?;
    let rows = rows.as_array().context("an array")?;
    assert_eq!(rows.len(), PI.lines().count() - 1);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).context("no row");
    assert_eq!((&row("c1000001")?["children"], &row("b2000004")?["onBranch"]), (&json!(2), &json!(false)));
    assert_eq!(
        (&row("b4000002")?["leaf"], &row("ee000001")?["type"]),
        (&json!(true), &json!("weather_report"))
    );
    assert_eq!(std::fs::read(&path)?, before, "looking changes nothing");
    Ok(())
}

#[tokio::test]
async fn show_prints_the_branch_or_the_way_to_an_entry() -> Result<()> {
    let product = product!()?;
    let path = adopted(&product)?;
    let shown = product.run(&["session", "show"]).await?.with_code(0).stdout;
    for expected in [
        "user  b1000001\n  What does src/wheel.rs do?",
        "assistant (claude-sonnet-4-5)  b1000002\n  I should read",
        "  read {\"path\":\"src/wheel.rs\",\"limit\":40}\n",
        "read  b1000003\n  pub fn turn",
        "(image/png, 72 B)",
        "$ git status --short",
        "The model was not told",
        "summary of what was said before (51234 tokens)",
        "entry of an unknown kind (weather_report)",
        "Now add a test.",
    ] {
        assert!(shown.contains(expected), "{expected} is not in {shown}");
    }
    assert!(!shown.contains("Make it faster"), "{shown}");
    let other =
        product.run(&["session", "show", text_of(&path)?, "--entry", "b2000004"]).await?.with_code(0).stdout;
    assert!(
        other.contains("Make it faster") && other.contains("It was stopped: Request was aborted"),
        "{other}"
    );
    assert!(!other.contains("Now add a test"), "{other}");
    // The beginning of an id will do, as long as only one entry has it.
    let shown_to = async |entry: &str| product.run(&["session", "show", "--entry", entry]).await;
    let whole = shown_to("d1000001").await?.with_code(0).stdout;
    assert_eq!(shown_to("d1").await?.with_code(0).stdout, whole);
    let several = shown_to("b20").await?.with_code(1).stderr;
    assert!(several.contains("several entries begin with b20"), "{several}");

    let branch = product.run(&["session", "show", "--json"]).await?.with_code(0).json()?;
    let branch = branch.as_array().context("an array")?;
    assert_eq!(branch.last().map(|last| &last["origin"]), Some(&json!({"host": "laptop"})));
    assert!(branch.iter().all(|entry| entry["id"] != "b2000001"));
    let missing = product.run(&["session", "show", "--entry", "nowhere"]).await?.with_code(1);
    assert!(missing.stderr.contains("has no entry nowhere"), "{}", missing.stderr);
    Ok(())
}

#[tokio::test]
async fn a_session_is_exported_as_json_markdown_and_html() -> Result<()> {
    let product = product!()?;
    let path = adopted(&product)?;
    let export = async |format: &str| -> Result<String> {
        Ok(product.run(&["session", "export", "--format", format]).await?.with_code(0).stdout)
    };
    let json_text = export("json").await?;
    for line in std::fs::read_to_string(&path)?.lines() {
        assert!(json_text.contains(line), "as it is in the file, to the last byte: {line}");
    }
    let exported: Value = serde_json::from_str(&json_text)?;
    assert_eq!(exported["header"]["id"], "019a2f10-7c3e-7b41-9d52-3f8e6a1c0b7d");
    assert_eq!(exported["entries"].as_array().map(Vec::len), Some(PI.lines().count() - 1));

    let markdown = export("markdown").await?;
    assert!(markdown.starts_with("# The wheel, turned\n"), "{markdown}");
    assert!(markdown.contains("do? &lt;script>alert('no')&lt;/script>"), "{markdown}");
    assert!(
        markdown.contains("## assistant (claude-sonnet-4-5)\n\nIt multiplies by seven:\n\n```rust\n"),
        "{markdown}"
    );
    assert!(markdown.contains("````\npub fn turn"), "the fence is longer than what it holds: {markdown}");

    let html = export("html").await?;
    assert!(
        html.starts_with("<!DOCTYPE html>") && html.contains("<title>The wheel, turned</title>"),
        "{html}"
    );
    assert!(html.contains("<img alt=\"image/png\" src=\"data:image/png;base64,iVBOR"), "{html}");
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
    assert!(html.contains("<strong>not</strong>"), "{html}");

    let out = product.workspace().join("page.html");
    let arguments = ["session", "export", text_of(&path)?, "--format", "html", "-o", "page.html"];
    let finished = product.run(&arguments).await?.with_code(0);
    assert!(finished.stdout.is_empty() && finished.stderr.contains("page.html"), "{finished:?}");
    assert_eq!(std::fs::read_to_string(&out)?, html);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&out)?.permissions().mode() & 0o777, 0o600);
    product.run(&["session", "export"]).await?.with_code(2);
    Ok(())
}

// 001-159
#[tokio::test]
async fn sessions_are_listed_by_their_last_use_and_broken_files_as_such() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("hi")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let none = product.run(&["session", "list"]).await?.with_code(0);
    assert!(none.stdout.is_empty() && none.stderr.contains("there are no sessions"), "{none:?}");

    let pi = adopted(&product)?;
    std::fs::File::options().append(true).open(&pi)?.set_modified(std::time::UNIX_EPOCH)?;
    product.run(&["-p", "Hello \u{1b}[2J there"]).await?.with_code(0);
    let elsewhere = product.home().join("sessions/--elsewhere--");
    std::fs::create_dir(&elsewhere)?;
    std::fs::write(elsewhere.join("2026-01-01T00-00-00-000Z_0000.jsonl"), "no session\n")?;

    let here = product.run(&["session", "list", "--json"]).await?.with_code(0).json()?;
    let here = here.as_array().context("an array")?;
    assert_eq!(here.len(), 2);
    assert_eq!((&here[0]["messageCount"], &here[0]["state"]), (&json!(2), &json!("good")));
    assert_eq!((&here[1]["name"], &here[1]["path"]), (&json!("The wheel, turned"), &json!(pi)));

    let all = product.run(&["session", "list", "--all"]).await?.with_code(0).stdout;
    let lines: Vec<_> = all.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(all.contains("no session:") && all.contains("0000.jsonl"), "{all}");
    assert!(!all.contains('\u{1b}') && all.contains("Hello \\u{1b}[2J there"), "{all}");
    Ok(())
}

#[tokio::test]
async fn a_session_in_use_can_be_looked_at_and_one_that_is_not_there_is_named() -> Result<()> {
    let product = product!()?;
    let none = product.run(&["session", "show"]).await?.with_code(1);
    assert!(none.stderr.contains("there is no session of"), "{}", none.stderr);
    let path = adopted(&product)?;
    let _in_use = SessionFile::open(&path)?;
    product.run(&["session", "tree"]).await?.with_code(0);
    let unknown = product.run(&["session", "tree", "ffff"]).await?.with_code(1);
    assert!(unknown.stderr.contains("no session ffff"), "{}", unknown.stderr);

    let broken = product.workspace().join("broken.jsonl");
    std::fs::write(
        &broken,
        format!(
            "{}\nnot JSON\n{}\n",
            PI.lines().next().context("a header")?,
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":"still here"}}"#
        ),
    )?;
    let shown = product.run(&["session", "show", "./broken.jsonl"]).await?.with_code(0);
    assert!(shown.stdout.contains("still here") && shown.stderr.contains("line 2"), "{shown:?}");
    Ok(())
}
