use super::*;
use rustyline::history::FileHistory;

fn complete(line: &str, cursor: usize) -> (usize, Vec<String>) {
    let editing = Editing::default();
    *editing.names().lock().unwrap() = ["model", "thinking", "tree"].map(String::from).to_vec();
    let history = FileHistory::new();
    editing.complete(line, cursor, &Context::new(&history)).unwrap()
}

#[test]
fn a_command_that_was_begun_is_completed_and_nothing_else_is() {
    assert_eq!(complete("/t", 2), (0, vec!["/thinking ".to_owned(), "/tree ".to_owned()]));
    assert_eq!(complete("/mo", 2).1, ["/model "], "only what is before the cursor counts");
    for (line, cursor) in [("t", 1), ("/model t", 8), ("/x", 2), ("", 0), ("/é", 2)] {
        assert_eq!(complete(line, cursor).1, [""; 0], "{line:?}");
    }
}

#[test]
fn it_knows_whether_the_line_has_text() {
    let (editing, history) = (Editing::default(), FileHistory::new());
    let has_text = editing.has_text();
    assert!(!has_text.load(Ordering::Relaxed));
    for (line, expected) in [("a", true), ("", false), (" ", true)] {
        assert_eq!(editing.hint(line, line.len(), &Context::new(&history)), None);
        assert_eq!(has_text.load(Ordering::Relaxed), expected, "{line:?}");
    }
}
