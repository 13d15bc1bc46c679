use super::*;

#[test]
fn colours_titles_and_links_go_and_the_words_stay() {
    assert_eq!(clean("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: no\n"), "error: no\n");
    assert_eq!(clean("\u{1b}]0;title\u{7}a\u{1b}]8;;https://x.org\u{1b}\\b\u{1b}(B"), "ab");
    assert_eq!(clean("ä\u{8}ö\u{7}"), "ö");
    assert_eq!(clean("\u{1b}[31"), "");
}

#[test]
fn of_a_line_that_was_written_over_the_last_part_stays() {
    assert_eq!(clean("1%\r50%\r100%\r\nnext\r\n"), "100%\nnext\n");
    assert_eq!(clean("a\rb\r   "), "b");
    assert_eq!(clean("plain\n\nend"), "plain\n\nend");
}
