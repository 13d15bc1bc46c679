use super::*;
use crate::conversation::pieces;

fn note(messages: Vec<Message>) -> Note {
    let mut note = Note::default();
    pieces(messages).iter().for_each(|piece| note.add(piece));
    note
}

#[test]
fn a_note_is_read_as_it_was_written() {
    let mut written =
        note(vec![Message::user("fix\n the  tests"), Message::assistant("yes"), Message::user("now")]);
    written.calls.insert("bash".to_owned(), 12);
    written.calls.insert("read".to_owned(), 3);
    let message = written.message(4_000);
    assert_eq!(
        message.text(),
        "[sliding-window] Left out here so that the conversation fits: 3 earlier messages. Files and results that they held \
         have to be read again.\nTools called in them: bash ×12, read ×3.\nWhat the user said in them, shortened:\n\
         - fix the tests\n- now"
    );
    assert_eq!(Note::of(&message), Some(written));
    assert_eq!(Note::of(&Message::user("fix it")), None);
    assert_eq!(Note::of(&Message::assistant(message.text())), None);
}

#[test]
fn a_note_keeps_to_its_room_and_tells_the_newest_requests() {
    let long =
        note((0..50).map(|number| Message::user(format!("{number} {}", "word ".repeat(100)))).collect());
    let text = long.message(1_000).text();
    assert!(text.chars().count() <= 1_000 && text.contains("\n- 49 ") && !text.contains("\n- 0 "), "{text}");
    assert!(long.message(0).text().starts_with(BEGIN));
}
