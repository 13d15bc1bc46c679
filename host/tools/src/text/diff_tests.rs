use super::*;

#[test]
fn changed_lines_come_with_their_numbers_and_four_lines_around() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let new = "1\n2\n3\n4\n5\nsix\n6b\n7\n8\n9\n10\n";
    let diff = numbered_diff(old, new);
    assert_eq!(diff.first_changed_line, Some(6));
    assert_eq!(diff.text, "  2 2\n  3 3\n  4 4\n  5 5\n- 6 6\n+ 6 six\n+ 7 6b\n  8 7\n  9 8\n 10 9\n 11 10");
}

#[test]
fn distant_changes_are_set_apart() {
    let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
    let new = old.replace("2\n3\n", "3\n").replace("29\n", "x\n");
    let diff = numbered_diff(&old, &new);
    assert!(diff.text.contains("\n    ...\n"), "{}", diff.text);
    assert_eq!(diff.first_changed_line, Some(2), "where the removed line was");
}

#[test]
fn texts_that_differ_in_line_ends_only_show_no_change() {
    assert_eq!(numbered_diff("a\r\n", "a\n").first_changed_line, None);
}
