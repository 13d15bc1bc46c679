use super::*;

fn info(provider: &str, id: &str) -> ModelInfo {
    ModelInfo {
        provider: provider.to_owned(),
        api: "scripted".to_owned(),
        id: id.to_owned(),
        context_window: 1000,
        max_output_tokens: 100,
        accepts_images: false,
    }
}

#[test]
fn a_model_may_be_called_by_its_id_alone() {
    let (current, offered) = (info("local", "small"), [info("far", "large"), info("far", "meta/llama")]);
    for (wanted, provider, id) in [
        ("large", "far", "large"),
        ("far/large", "far", "large"),
        ("meta/llama", "far", "meta/llama"),
        ("other/x/y", "other", "x/y"),
        ("tiny", "local", "tiny"),
    ] {
        assert_eq!(meant(wanted, &current, &offered), (provider.to_owned(), id.to_owned()), "{wanted}");
    }
}

#[test]
fn the_list_marks_the_model_that_answers_also_when_it_is_not_offered() {
    for offered in [vec![info("far", "large")], vec![info("far", "large"), info("local", "small")]] {
        let shown = models(&info("local", "small"), offered).unwrap();
        let marked: Vec<_> = shown.lines().filter(|line| line.contains("* ")).collect();
        assert!(marked.len() == 1 && marked[0].contains("local/small"), "{shown}");
        assert!(shown.contains("far/large"), "{shown}");
    }
}

#[test]
fn a_name_is_one_line_of_limited_length() {
    assert_eq!(named(" a \n b\t").unwrap(), Some("a b".to_owned()));
    assert_eq!(named("  ").unwrap(), None);
    assert!(named(&"x".repeat(MAX_NAME)).is_ok() && named(&"x".repeat(MAX_NAME + 1)).is_err());
}
