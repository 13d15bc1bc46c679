use super::*;
use crate::compaction::talk_tests::{asks, calling};

fn noted() -> Files {
    let mut files = Files::default();
    files.note(&[asks("q", 1)]);
    for (id, name, path) in [
        ("1", "read", "b.rs"),
        ("2", "read", "a.rs"),
        ("3", "edit", "b.rs"),
        ("4", "write", "new.rs"),
        ("5", "grep", "src"),
        ("6", "read", "a.rs"),
    ] {
        files.note(&calling(id, name, json!({ "path": path })));
    }
    files.note(&calling("7", "read", json!({"path": 5})));
    files
}

// 001-150
#[test]
fn a_file_that_was_changed_is_not_listed_as_read() {
    let files = noted();
    assert_eq!(
        files.tags(),
        "\n\n<read-files>\na.rs\n</read-files>\n\n<modified-files>\nb.rs\nnew.rs\n</modified-files>"
    );
    assert_eq!(files.details(), json!({"readFiles": ["a.rs"], "modifiedFiles": ["b.rs", "new.rs"]}));
    assert_eq!(Files::default().tags(), "");
}

#[test]
fn the_lists_of_an_earlier_summary_go_on() {
    let mut files = noted();
    files.carry(&json!({"readFiles": ["old.rs", "new.rs", 7], "modifiedFiles": ["a.rs"], "other": 1}));
    assert_eq!(
        files.details(),
        json!({"readFiles": ["old.rs"], "modifiedFiles": ["a.rs", "b.rs", "new.rs"]})
    );
    for strange in [json!(null), json!([1]), json!({"readFiles": "x"})] {
        files.carry(&strange);
    }
    assert_eq!(files.details()["readFiles"], json!(["old.rs"]));
}

#[test]
fn the_lists_are_found_again_in_the_text_and_taken_off_it() {
    let text = format!("## Goal\nx{}", noted().tags());
    let mut found = Files::default();
    assert_eq!(found.carry_text(&text), "## Goal\nx");
    assert_eq!(found.details(), noted().details());
    let mut none = Files::default();
    assert_eq!(none.carry_text("plain </modified-files>"), "plain </modified-files>");
    assert_eq!(none, Files::default());
}
