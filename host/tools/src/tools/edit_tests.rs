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

struct Session {
    read: crate::ReadTool,
    edit: EditTool,
    write: crate::WriteTool,
    workspace: Arc<InMemoryWorkspace>,
}

impl Session {
    fn new(contents: &str) -> Self {
        let workspace = Arc::new(InMemoryWorkspace::new("/workspace"));
        workspace.insert("f", contents);
        let known = Arc::new(KnownFiles::new());
        Self {
            read: crate::ReadTool::new(workspace.clone()).with_known_files(known.clone()),
            edit: EditTool::new(workspace.clone()).with_known_files(known.clone()),
            write: crate::WriteTool::new(workspace.clone()).with_known_files(known),
            workspace,
        }
    }

    async fn replace(&self, old: &str, new: &str) -> Result<ToolOutcome, ToolError> {
        run(&self.edit, edits(json!([{"oldText": old, "newText": new}]))).await
    }

    fn contents(&self) -> Vec<u8> {
        self.workspace.get("f").unwrap()
    }
}

// F22
#[tokio::test]
async fn a_file_that_something_else_changed_after_it_was_read_must_be_read_again() {
    let session = Session::new("one two");
    good(&session.read, json!({"path": "f"})).await;
    session.replace("one", "1").await.expect("nothing changed it");
    session.workspace.insert("f", "1 two three");
    let error = session.replace("two", "2").await.unwrap_err();
    assert!(error.to_string().contains("read it again"), "{error}");
    let ToolError::Failed { source: Some(source), .. } = &error else { panic!("{error:?}") };
    let source = source.downcast_ref::<RuntimeError>().unwrap();
    assert!(matches!(source, RuntimeError::ChangedSinceRead { path } if path == "f"));
    assert_eq!(session.contents(), b"1 two three");
    session.replace("two", "2").await.expect_err("trying again is no way around it");
    // A part of the file is enough: the state that it was read in is what counts.
    good(&session.read, json!({"path": "./f", "limit": 1})).await;
    session.replace("two", "2").await.expect("it was read again");
    assert_eq!(session.contents(), b"1 2 three");
}

// F22
#[tokio::test]
async fn what_the_session_writes_itself_and_what_it_never_read_can_be_edited() {
    let session = Session::new("one");
    session.replace("one", "two").await.expect("an edit needs no read");
    session.workspace.insert("f", "two three");
    session.replace("three", "3").await.expect("it was never read");
    good(&session.read, json!({"path": "f"})).await;
    good(&session.write, json!({"path": "/workspace/f", "content": "new"})).await;
    session.replace("new", "newer").await.expect("the change was its own");
    session.workspace.insert("f", "newer");
    session.replace("newer", "newest").await.expect("written again, but with the same text");
}

// F22
#[tokio::test]
async fn a_failed_read_and_a_failed_edit_change_nothing_of_what_is_known() {
    let session = Session::new("one");
    good(&session.read, json!({"path": "f"})).await;
    session.workspace.insert("f", "two");
    run(&session.read, json!({"path": "f", "offset": 9})).await.expect_err("there is no such line");
    session.replace("nothing", "x").await.expect_err("changed meanwhile");
    session.replace("two", "x").await.expect_err("the new state was not seen yet");
}

// F22
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reads_and_edits_of_one_round_never_take_each_other_for_somebody_else() {
    let session = Arc::new(Session::new(""));
    for _ in 0..100 {
        good(&session.write, json!({"path": "f", "content": "<a> <b>"})).await;
        let calls: Vec<_> = [None, Some("a"), None, Some("b"), None]
            .into_iter()
            .map(|edited| {
                let session = session.clone();
                tokio::spawn(async move {
                    match edited {
                        None => run(&session.read, json!({"path": "f"})).await,
                        Some(letter) => session.replace(&format!("<{letter}>"), letter).await,
                    }
                })
            })
            .collect();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        assert_eq!(session.contents(), b"a b");
    }
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
