use super::*;

fn texts(outcome: &ToolOutcome) -> Vec<&str> {
    outcome
        .content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_result_within_the_limit_is_left_alone() {
    let mut outcome = ToolOutcome::text("abc");
    cap(&mut outcome, 3);
    assert_eq!(outcome, ToolOutcome::text("abc"));
}

#[test]
fn a_result_beyond_the_limit_is_cut_at_a_character_and_says_so() {
    let mut outcome = ToolOutcome::text("ab");
    outcome.content.extend([Content::text("cöd"), Content::text("e")]);
    cap(&mut outcome, 4);
    let texts = texts(&outcome);
    assert_eq!(&texts[..2], ["ab", "c"]);
    assert_eq!(texts.len(), 3);
    assert!(texts[2].contains("7 bytes") && texts[2].contains("at most 4"), "{}", texts[2]);
}

#[test]
fn pictures_survive_the_cut() {
    let image = Content::Image { data: "AAAA".into(), mime_type: "image/png".into() };
    let mut outcome =
        ToolOutcome { content: vec![Content::text("abcdef"), image.clone()], ..ToolOutcome::default() };
    cap(&mut outcome, 2);
    assert!(outcome.content.contains(&image));
}

#[test]
fn clip_marks_what_is_missing() {
    assert_eq!(clip("abc", 3), "abc");
    assert_eq!(clip("aäb", 2), "a… [3 more bytes]");
}
