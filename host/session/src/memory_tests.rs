use super::*;
use crate::entry::SessionInfo;

#[tokio::test]
async fn a_session_in_memory_keeps_the_order_and_shows_only_messages() {
    let session = MemorySession::new(Path::new("/w"));
    let first = session.append(Arc::new(Message::user("one"))).await.unwrap();
    session.append_entry(EntryKind::SessionInfo(SessionInfo { name: Some("n".into()) })).unwrap();
    let last = session.append(Arc::new(Message::user("two"))).await.unwrap();
    session.commit().await.unwrap();
    assert_ne!(first, last);
    let texts: Vec<_> = session.messages().unwrap().iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["one", "two"]);
}
