use super::*;

const FILE: &str = "fn one() {\n    work(1);\n}\n\nfn two() {\n    work(2);\n    rest();\n}\n";

#[test]
fn lines_that_are_there_point_to_the_place_although_others_differ() {
    let shown = nearest(FILE, "fn two() {\n    work(3);\n    rest();").unwrap();
    assert_eq!(shown, "    5 | fn two() {\n    6 |     work(2);\n    7 |     rest();");
}

#[test]
fn indentation_does_not_matter() {
    assert!(nearest(FILE, "work(2);\nrest();").unwrap().starts_with("    6 |     work(2);"));
}

#[test]
fn one_similar_line_is_enough() {
    assert_eq!(
        nearest(FILE, "fn tow() {").unwrap(),
        "    1 | fn one() {".replace("1 | fn one", "5 | fn two")
    );
}

#[test]
fn nothing_similar_gives_nothing() {
    assert_eq!(nearest(FILE, "SELECT * FROM users"), None);
    assert_eq!(nearest("", "a"), None);
    assert_eq!(nearest(FILE, "\n \n"), None);
}

#[test]
fn what_is_shown_is_bounded() {
    let file = format!("{}\n", "long ".repeat(1000)).repeat(1000);
    let shown = nearest(&file, &file).unwrap();
    assert_eq!(shown.lines().count(), MAX_SHOWN);
    assert!(shown.len() < MAX_SHOWN * (MAX_WIDTH + 20));
}
