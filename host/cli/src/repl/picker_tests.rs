use super::*;

fn items(texts: &[&str]) -> Vec<Item> {
    texts.iter().map(|text| Item { text: (*text).to_owned(), about: String::new() }).collect()
}

#[test]
fn a_number_or_a_part_of_the_text_chooses() {
    let items = items(&["Fix the parser", "Write a test", "fix 2 bugs"]);
    for (answer, expected) in [
        ("1", Meant::One(0)),
        ("3", Meant::One(2)),
        ("WRITE", Meant::One(1)),
        ("fix", Meant::Several(vec![0, 2])),
        ("2", Meant::One(1)),
        ("4", Meant::Nothing),
        ("0", Meant::Nothing),
        ("nothing", Meant::Nothing),
    ] {
        assert_eq!(meant(answer, &items), expected, "{answer:?}");
    }
}

#[test]
fn a_long_list_is_shown_in_part_and_numbers_stay_the_same() {
    let texts: Vec<_> = (1..=30).map(|n| format!("session {n}")).collect();
    let items = items(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let all = list(&items, &(0..30).collect::<Vec<_>>());
    assert!(
        all.contains("session 20") && !all.contains("session 21") && all.contains("and 10 more"),
        "{all}"
    );
    let part = list(&items, &[24]);
    assert!(part.contains("25") && part.lines().count() == 1, "{part}");
}

#[test]
fn what_a_session_says_cannot_move_the_cursor() {
    let shown = list(&items(&["a\u{1b}[2Jb\nsecond line"]), &[0]);
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains("second line"), "{shown:?}");
}
