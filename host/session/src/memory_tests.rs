use super::*;
use capstan_ports::entry::SessionInfo;
use capstan_ports::{Content, CustomMessage};
use serde_json::json;

#[tokio::test]
async fn a_session_in_memory_keeps_the_order_and_shows_only_messages() {
    let session = MemorySession::new(Path::new("/w"));
    let first = session.append_message(Arc::new(Message::user("one"))).await.unwrap();
    session.append_entry(EntryKind::SessionInfo(SessionInfo { name: Some("n".into()) })).unwrap();
    let last = session.append_message(Arc::new(Message::user("two"))).await.unwrap();
    session.commit().await.unwrap();
    assert_ne!(first, last);
    let texts: Vec<_> = session.context().unwrap().messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["one", "two"]);
}

// 000-160: in memory and in a file alike.
#[tokio::test]
async fn a_custom_message_comes_back_as_it_was() {
    let image = Content::Image { data: "QUJD".into(), mime_type: "image/png".into() };
    let message = Arc::new(Message::Custom(CustomMessage {
        content: vec![Content::text("seen"), image],
        display: false,
        details: Some(json!({"k": [1]})),
        timestamp: 1_700_000_000_123,
        ..CustomMessage::new("note", "")
    }));
    let session = MemorySession::new(Path::new("/w"));
    session.append_message(message.clone()).await.unwrap();
    assert_eq!(session.context().unwrap().messages, std::slice::from_ref(&message));

    let folder = tempfile::tempdir().unwrap();
    let path = {
        let file = crate::SessionFile::create(folder.path(), Path::new("/w")).unwrap();
        file.append_message(message.clone()).await.unwrap();
        file.commit().await.unwrap();
        file.path().to_owned()
    };
    let line = std::fs::read_to_string(&path).unwrap().lines().nth(1).unwrap().to_owned();
    assert!(
        line.contains(r#""type":"custom_message""#) && line.contains("2023-11-14T22:13:20.123Z"),
        "{line}"
    );
    assert_eq!(crate::SessionFile::open(&path).unwrap().context().unwrap().messages, [message]);
}
