use super::*;
use capstan_ports::SessionLog;
use capstan_session::MemorySession;

#[test]
fn text_from_a_session_is_harmless_in_the_editor_and_keeps_its_lines() {
    assert_eq!(editable("one\ntwo\u{1b}]0;owned\u{7}\u{202e}é"), "one\ntwo]0;ownedé");
}

#[tokio::test]
async fn the_prompts_of_a_branch_are_offered_with_the_latest_first() {
    let session = MemorySession::new(std::path::Path::new("/work"));
    for text in ["one", "two"] {
        session.append_message(Arc::new(Message::user(text))).await.unwrap();
    }
    let texts: Vec<_> = prompts(session.path(None).unwrap()).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["two", "one"]);
}
