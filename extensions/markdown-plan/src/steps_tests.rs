use super::*;

#[test]
fn decoration_at_the_start_of_a_step_goes() {
    let cases = [
        ("**Set up**: install", None, "Set up: install"),
        ("**Step 1: Set up** the house", None, "Set up the house"),
        ("[x] **Done**", Some(true), "Done"),
        ("[ ] Step 2 - act", Some(false), "act"),
        ("[✓] __a__ b", Some(true), "a b"),
        ("[link](x)", None, "[link](x)"),
        ("** a", None, "** a"),
        ("Step 3", None, "Step 3"),
    ];
    for (text, done, plain) in cases {
        assert_eq!(undecorated(text), (done, plain.to_owned()), "{text}");
    }
}

#[test]
fn lines_below_keep_their_relative_depth() {
    let lines = lines::split("a\n    - b\n      - c\n\n    d");
    assert_eq!(folded(&lines).1, "a\n- b\n  - c\n\nd");
}

#[test]
fn titles_of_phases_lose_their_label() {
    for (title, plain) in [
        ("Phase 1: Set up", "Set up"),
        ("**Stage 2 - Act**", "Act"),
        ("Phase 3", "Phase 3"),
        ("1. One:", "One"),
    ] {
        assert_eq!(phase_title(title), plain);
    }
}
