use super::*;
use crate::testing::{good, run, text};
use crate::workspace::{InMemoryWorkspace, LocalWorkspace};

fn edit(contents: impl Into<Vec<u8>>) -> (EditTool, Arc<InMemoryWorkspace>) {
    let workspace = Arc::new(InMemoryWorkspace::new("/workspace"));
    workspace.insert("f", contents);
    (EditTool::new(workspace.clone()), workspace)
}

fn edits(edits: Value) -> Value {
    json!({"path": "f", "edits": edits})
}

async fn refused(tool: &EditTool, arguments: Value) -> String {
    run(tool, arguments).await.expect_err("the edit is refused").to_string()
}

// 001-082
#[tokio::test]
async fn one_match_is_replaced_and_the_details_show_the_change() {
    let (tool, workspace) = edit("a\nb\nc\n");
    let outcome = run(&tool, edits(json!([{"oldText": "b", "newText": "x"}]))).await.unwrap();
    assert_eq!(text(&outcome), "Successfully replaced 1 block(s) in f.");
    let details = outcome.details.unwrap();
    assert_eq!(details["firstChangedLine"], 2);
    assert_eq!(details["diff"], " 1 a\n-2 b\n+2 x\n 3 c");
    assert_eq!(workspace.get("f").unwrap(), b"a\nx\nc\n");
}

// 001-083 001-174
#[tokio::test]
async fn only_the_first_match_is_replaced_when_asked_for() {
    let (tool, workspace) = edit("a a");
    good(&tool, edits(json!([{"oldText": "a", "newText": "b", "first": true}]))).await;
    assert_eq!(workspace.get("f").unwrap(), b"b a");
}

// 001-084
#[tokio::test]
async fn text_that_is_not_unique_is_counted_and_the_file_stays() {
    let (tool, workspace) = edit("a a a");
    let error = refused(&tool, edits(json!([{"oldText": "a", "newText": "b"}]))).await;
    assert!(error.contains("Found 3 occurrences of oldText in f"), "{error}");
    assert_eq!(workspace.get("f").unwrap(), b"a a a");
}

// 001-085
#[tokio::test]
async fn text_that_is_missing_comes_with_the_nearest_lines_and_the_file_stays() {
    let (tool, workspace) = edit("one\nlet count = 1;\nthree\n");
    let error = refused(&tool, edits(json!([{"oldText": "let count = 2;", "newText": "b"}]))).await;
    assert!(error.contains("Could not find oldText in f"), "{error}");
    assert!(error.contains("\n    2 | let count = 1;"), "{error}");
    assert_eq!(workspace.get("f").unwrap(), b"one\nlet count = 1;\nthree\n");
}

// 001-086
#[tokio::test]
async fn several_edits_succeed_or_fail_together() {
    let (tool, workspace) = edit("one two three");
    let both = json!([{"oldText": "one", "newText": "1"}, {"oldText": "four", "newText": "4"}]);
    let error = refused(&tool, edits(both)).await;
    assert!(error.contains("edits[1].oldText"), "{error}");
    assert_eq!(workspace.get("f").unwrap(), b"one two three");
    let overlapping = json!([{"oldText": "one two", "newText": "1"}, {"oldText": "two", "newText": "2"}]);
    let error = refused(&tool, edits(overlapping)).await;
    assert!(error.contains("edits[0] and edits[1] overlap"), "{error}");
    assert_eq!(workspace.get("f").unwrap(), b"one two three");
    let both = json!([{"oldText": "three", "newText": "one"}, {"oldText": "one", "newText": "three"}]);
    assert_eq!(good(&tool, edits(both)).await, "Successfully replaced 2 block(s) in f.");
    assert_eq!(workspace.get("f").unwrap(), b"three two one");
}

// 001-087
#[tokio::test]
async fn a_loose_match_is_said_to_be_one_and_keeps_the_other_bytes() {
    let (tool, workspace) = edit("\u{FEFF}keep \u{2019}  \r\nsay \u{201C}hi\u{201D}\t\r\n");
    let said = good(&tool, edits(json!([{"oldText": "say \"hi\"", "newText": "x\ny"}]))).await;
    assert!(said.contains("oldText matched loosely"), "{said}");
    assert_eq!(workspace.get("f").unwrap(), "\u{FEFF}keep \u{2019}  \r\nx\r\ny\t\r\n".as_bytes());
}

#[tokio::test]
async fn edits_without_effect_and_without_text_are_errors() {
    let (tool, _) = edit("a");
    assert!(
        refused(&tool, edits(json!([{"oldText": "a", "newText": "a"}]))).await.contains("leave f as it is")
    );
    assert!(
        refused(&tool, edits(json!([{"oldText": "", "newText": "a"}]))).await.contains("oldText is empty")
    );
    assert!(refused(&tool, edits(json!([]))).await.contains("edits is empty"));
}

#[tokio::test]
async fn a_file_that_is_no_utf8_stays_as_it_is() {
    let (tool, workspace) = edit(b"caf\xE9 a".to_vec());
    let error = refused(&tool, edits(json!([{"oldText": "a", "newText": "b"}]))).await;
    assert!(error.contains("not UTF-8"), "{error}");
    assert_eq!(workspace.get("f").unwrap(), b"caf\xE9 a");
}

// 000-014
#[tokio::test]
async fn older_and_sloppy_shapes_are_understood() {
    let (tool, _) = edit("");
    let wanted = json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}]});
    for sloppy in [
        json!({"path": "f", "oldText": "a", "newText": "b"}),
        json!({"path": "f", "edits": r#"[{"oldText": "a", "newText": "b"}]"#}),
        json!({"path": "f", "edits": {"oldText": "a", "newText": "b"}}),
        json!({"path": "f", "edits": [], "oldText": "a", "newText": "b"}),
        wanted.clone(),
    ] {
        assert_eq!(tool.prepare(sloppy).await.unwrap(), wanted);
    }
    let hopeless = json!({"path": "f", "edits": "no list"});
    assert_eq!(tool.prepare(hopeless.clone()).await.unwrap(), hopeless, "validation will name what is wrong");
}

// 001-098
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_edits_of_one_file_are_all_applied() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("f", folder.path().join("alias")).unwrap();
    let tool = Arc::new(EditTool::new(Arc::new(LocalWorkspace::open(folder.path()).unwrap())));
    for repetition in 0..100 {
        std::fs::write(folder.path().join("f"), "<a> <b> <c> <d>").unwrap();
        let calls: Vec<_> = [("f", "a"), ("./f", "b"), ("alias", "c"), ("f", "d")]
            .into_iter()
            .map(|(path, letter)| {
                let tool = Arc::clone(&tool);
                let edit = json!({"oldText": format!("<{letter}>"), "newText": letter.to_uppercase()});
                tokio::spawn(async move { good(&*tool, json!({"path": path, "edits": [edit]})).await })
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
        let contents = std::fs::read_to_string(folder.path().join("f")).unwrap();
        assert_eq!(contents, "A B C D", "repetition {repetition}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
