use super::*;

#[test]
fn only_the_whole_token_is_taken_and_only_as_a_bearer_token() {
    let token = Token::chosen("correct-horse-battery").unwrap();
    assert!(token.is_shown_by(b"Bearer correct-horse-battery"));
    assert!(token.is_shown_by(b"bearer  correct-horse-battery"));
    for wrong in [
        &b""[..],
        b"Bearer",
        b"Bearer ",
        b"Bearer correct-horse-batter",
        b"Bearer correct-horse-battery2",
        b"Basic correct-horse-battery",
        b"correct-horse-battery",
    ] {
        assert!(!token.is_shown_by(wrong), "{}", String::from_utf8_lossy(wrong));
    }
}

#[test]
fn tokens_that_protect_nothing_are_refused_and_none_is_shown() {
    for weak in ["", "short", "fifteen-chars--", "with a space in the middle", "ümläute-are-no-header-text"]
    {
        assert_eq!(Token::chosen(weak).err(), Some(WeakToken), "{weak}");
    }
    let random = Token::random().unwrap();
    assert_eq!(random.reveal().len(), 64);
    assert_ne!(random.reveal(), Token::random().unwrap().reveal());
    assert!(!format!("{random:?}").contains(random.reveal()));
}
