use super::*;
use proptest::prelude::*;

#[test]
fn short_texts_are_one_part_and_headings_begin_another_where_the_one_before_is_not_small() {
    assert_eq!(parts("# One\n\nfirst\n\n\n# Two\n\nsecond\n"), ["# One\n\nfirst\n\n# Two\n\nsecond"]);
    let long = "word ".repeat(150);
    let text = format!("# One\n\n{long}\n\n# Two\n\n{long}");
    let parts = parts(&text);
    assert_eq!(parts.len(), 2);
    assert!(parts[1].starts_with("# Two"), "{parts:?}");
}

proptest! {
    #[test]
    fn no_part_is_long_and_none_loses_a_word(text in "([a-zäß記]{1,30}[ \n]{0,3}){0,400}") {
        let parts = parts(&text);
        prop_assert!(parts.iter().all(|part| !part.trim().is_empty() && part.len() <= 2 * PART_BYTES));
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(letters(&parts.concat()), letters(&text));
    }
}

#[test]
fn only_visible_regular_texts_are_found_and_what_is_no_text_is_said() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    std::fs::create_dir_all(path("below/.git")).unwrap();
    for name in ["a.md", "below/b.TXT", "c.rs", ".d.md", "below/.git/e.md"] {
        std::fs::write(path(name), name).unwrap();
    }
    std::fs::write(path("f.md"), [0xff, 0xfe]).unwrap();
    std::fs::write(path("g.md"), vec![b'x'; MAX_FILE_BYTES + 1]).unwrap();
    std::os::unix::fs::symlink(path("a.md"), path("h.md")).unwrap();
    let found = below(root.path()).unwrap();
    let texts: Vec<_> = found.texts.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["a.md", "below/b.TXT"]);
    let left_out: Vec<_> = found.left_out.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(left_out[0].contains("no UTF-8 text") && left_out[1].contains("larger than"), "{left_out:?}");
    assert!(below(&path("nowhere")).is_err());
}
