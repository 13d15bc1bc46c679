use super::*;
use capstan_ports::entry::{EntryKind, Label, SessionInfo};
use capstan_ports::{Message, SessionLog};
use capstan_session::MemorySession;
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn the_outline_shows_branches_bookmarks_and_where_the_session_stands() {
    let session = MemorySession::new(Path::new("/work"));
    assert!(session.look(outline).contains("nothing was said"));
    let first = session.append_message(Arc::new(Message::user("first"))).await.unwrap();
    let left = session.append_message(Arc::new(Message::user("left"))).await.unwrap();
    session.branch(Some(&first)).unwrap();
    let stands = session.append_message(Arc::new(Message::user("stands\nhere\u{1b}[2J"))).await.unwrap();
    session
        .append(EntryKind::Label(Label { target_id: left.clone(), label: Some("mark".into()) }))
        .await
        .unwrap();
    session.branch(Some(&stands)).unwrap();
    // What belongs to the session itself is not shown, and the session still stands where something was said last.
    session.append(EntryKind::SessionInfo(SessionInfo { name: Some("name".into()) })).await.unwrap();
    let shown = session.look(outline);
    let line = |id: &capstan_ports::EntryId| {
        shown.lines().find(|line| line.contains(id.as_str())).map(str::to_owned).unwrap()
    };
    assert!(
        line(&stands).contains('→') && line(&first).contains('•') && line(&left).contains('·'),
        "{shown}"
    );
    assert!(line(&left).contains("[mark]") && shown.lines().count() == 3, "{shown}");
    assert!(line(&first).contains("user: first") && !shown.contains("\u{1b}[2J"), "{shown:?}");
    let indent = |id| line(id).len() - line(id).trim_start().len();
    assert!(indent(&left) > indent(&first) && indent(&left) == indent(&stands), "{shown}");
}
