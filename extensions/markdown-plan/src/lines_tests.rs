use super::*;

#[test]
fn markers_are_told_from_text_that_looks_like_them() {
    let cases = [
        ("- a", Some((Marker::Bullet, "a"))),
        ("* a", Some((Marker::Bullet, "a"))),
        ("+\ta", Some((Marker::Bullet, "a"))),
        ("• a", Some((Marker::Bullet, "a"))),
        ("-", Some((Marker::Bullet, ""))),
        ("[ ] a", Some((Marker::Bullet, "[ ] a"))),
        ("1. a", Some((Marker::Number(1), "a"))),
        ("12) a", Some((Marker::Number(12), "a"))),
        ("(3) a", Some((Marker::Number(3), "a"))),
        ("1.2 a", Some((Marker::Bullet, "a"))),
        ("1.2. a", Some((Marker::Bullet, "a"))),
        ("1.2.3) a", Some((Marker::Bullet, "a"))),
        ("**bold**", None),
        ("-a", None),
        ("---", None),
        ("* * *", None),
        ("1.5x faster", None),
        ("2026.", Some((Marker::Number(2026), ""))),
        ("20260101. a", None),
        ("(see) a", None),
        ("[link](x)", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(marker(text), expected, "{text}");
    }
}

#[test]
fn labels_need_a_sign_behind_the_number() {
    assert_eq!(label("Step 1: look"), Some((Label::Step, "look")));
    assert_eq!(label("step #2 – act"), Some((Label::Step, "act")));
    assert_eq!(label("TASK 3"), Some((Label::Step, "")));
    assert_eq!(label("Phase 1 - Set up"), Some((Label::Phase, "Set up")));
    assert_eq!(label("Step 1 is to look"), None);
    assert_eq!(label("Steps: look"), None);
}

#[test]
fn tabs_lead_to_the_next_stop() {
    let indents: Vec<usize> = split("a\n\tb\n  \tc\n \t d").iter().map(|line| line.indent).collect();
    assert_eq!(indents, [0, 4, 4, 5]);
}

#[test]
fn headings_and_bold_lines_have_titles() {
    assert_eq!(heading("## The plan ##"), Some((2, "The plan")));
    assert_eq!(heading("#no"), None);
    assert_eq!(bold_line("**Plan:**"), Some("Plan"));
    assert_eq!(bold_line("**Plan**:"), Some("Plan"));
    assert_eq!(bold_line("**a** and **b**"), None);
}
