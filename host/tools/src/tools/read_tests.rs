use super::*;
use crate::testing::{good, run, text};
use crate::workspace::InMemoryWorkspace;
use capstan_ports::message::Content;

fn read(path: &str, contents: impl Into<Vec<u8>>) -> ReadTool {
    let workspace = InMemoryWorkspace::new("/workspace");
    workspace.insert(path, contents);
    ReadTool::new(Arc::new(workspace))
}

fn numbered(lines: std::ops::RangeInclusive<usize>) -> String {
    lines.map(|n| format!("line {n}\n")).collect()
}

// 001-080
#[tokio::test]
async fn text_comes_as_it_is_and_a_missing_file_is_named() {
    let tool = read("a.txt", "one\r\ntwo");
    assert_eq!(good(&tool, json!({"path": "a.txt"})).await, "one\r\ntwo");
    let error = run(&tool, json!({"path": "b.txt"})).await.unwrap_err();
    assert!(error.to_string().contains("b.txt does not exist"), "{error}");
}

#[tokio::test]
async fn a_missing_file_comes_with_the_one_that_is_named_almost_so() {
    let tool = read("shots/Shot at 9\u{202F}AM \u{2019}x\u{2019}.txt", "text");
    let missing = |path: &str| {
        let arguments = json!({"path": path});
        let tool = &tool;
        async move { run(tool, arguments).await.unwrap_err().to_string() }
    };
    let error = missing("shots/shot at 9 AM 'x'.txt").await;
    let expected = "named almost so: shots/Shot at 9\u{202F}AM \u{2019}x\u{2019}.txt";
    assert!(error.contains("does not exist") && error.ends_with(expected), "{error}");
    for other in ["shots/other.txt", "nowhere/at all", "other", "shots/"] {
        let error = missing(other).await;
        assert!(!error.contains("almost"), "{error}");
    }
}

// 001-095
#[tokio::test]
async fn a_long_file_stops_at_2000_lines_and_says_where_to_go_on() {
    let tool = read("a", numbered(1..=5000));
    let outcome = run(&tool, json!({"path": "a"})).await.unwrap();
    let expected = "\nline 2000\n\n[Showing lines 1-2000 of 5000. Use offset=2001 to continue.]";
    assert!(text(&outcome).ends_with(expected));
    assert_eq!(outcome.details.unwrap()["truncation"]["totalLines"], 5000);
    let next = good(&tool, json!({"path": "a", "offset": 4001})).await;
    assert_eq!(next, numbered(4001..=5000));
}

// 001-095
#[tokio::test]
async fn long_lines_stop_at_50_kilobytes_on_a_whole_line() {
    let tool = read("a", format!("{}\n", "x".repeat(999)).repeat(100));
    let shown = good(&tool, json!({"path": "a"})).await;
    assert!(shown.starts_with("xxx"));
    assert!(
        shown.ends_with("x\n\n[Showing lines 1-51 of 100 (50KB limit). Use offset=52 to continue.]"),
        "{shown}"
    );
}

// 001-095
#[tokio::test]
async fn offset_and_limit_choose_lines() {
    let tool = read("a", numbered(1..=10));
    let shown = good(&tool, json!({"path": "a", "offset": 3, "limit": 2})).await;
    assert_eq!(shown, "line 3\nline 4\n\n[6 more lines in file. Use offset=5 to continue.]");
    assert_eq!(good(&tool, json!({"path": "a", "offset": 9.0, "limit": 5})).await, numbered(9..=10));
    let error = run(&tool, json!({"path": "a", "offset": 11})).await.unwrap_err().to_string();
    assert_eq!(error, "Offset 11 is beyond end of file (10 lines total)");
    let error = run(&tool, json!({"path": "a", "offset": 1.5})).await.unwrap_err();
    assert!(matches!(error, ToolError::InvalidArguments(_)), "{error}");
}

#[tokio::test]
async fn an_empty_file_is_said_to_be_empty() {
    assert_eq!(good(&read("a", ""), json!({"path": "a"})).await, "[The file is empty]");
    let error = run(&read("a", ""), json!({"path": "a", "offset": 2})).await.unwrap_err();
    assert!(error.to_string().contains("(0 lines total)"));
}

#[tokio::test]
async fn a_line_too_long_for_one_call_comes_with_a_command_for_it() {
    let tool = read("it's", format!("short\n{}\n", "x".repeat(60_000)));
    let shown = good(&tool, json!({"path": "it's", "offset": 2})).await;
    assert!(shown.contains("Line 2 alone has 58.6KB"), "{shown}");
    assert!(shown.contains(r"sed -n 2p 'it'\''s' | head -c 51200"), "{shown}");
}

// 001-097
#[tokio::test]
async fn invalid_utf8_is_shown_with_replacements_and_binary_is_refused() {
    let tool = read("latin1", b"caf\xE9\n".to_vec());
    assert_eq!(good(&tool, json!({"path": "latin1"})).await, "caf\u{FFFD}\n");
    let error = run(&read("b", b"\x7FELF\0\0".to_vec()), json!({"path": "b"})).await.unwrap_err();
    assert!(error.to_string().contains("b is a binary file (6B)"), "{error}");
}

// 001-097
#[tokio::test]
async fn a_picture_comes_as_a_block_behind_a_line_about_it_whatever_its_name() {
    let outcome = run(&read("a.txt", picture::tests::PNG), json!({"path": "a.txt"})).await.unwrap();
    let [Content::Text { text }, Content::Image { mime_type, .. }] = &outcome.content[..] else {
        panic!("{outcome:?}")
    };
    assert_eq!((text.as_str(), mime_type.as_str()), ("[Image image/png, 3x2 pixels, 24B]", "image/png"));
    assert!(!outcome.is_error);
}

#[tokio::test]
async fn a_file_too_large_to_read_is_refused_with_a_way_on() {
    let tool = read("big", vec![b'\n'; MAX_FILE_BYTES as usize + 1]);
    let error = run(&tool, json!({"path": "big"})).await.unwrap_err();
    assert!(error.to_string().contains("look at a part of it with bash"), "{error}");
}

#[tokio::test]
async fn an_aborted_run_reads_nothing() {
    let tool = read("a", "x");
    let context = crate::testing::context();
    context.cancel.cancel();
    let error = crate::testing::run_in(&tool, json!({"path": "a"}), &context).await.unwrap_err();
    assert!(matches!(error, ToolError::Aborted));
}
