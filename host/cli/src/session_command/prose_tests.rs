use super::*;
use proptest::prelude::*;

/// What a reader of the document would draw beside text.
fn active(markdown: &str, dialect: Options) -> Vec<String> {
    Parser::new_ext(markdown, dialect)
        .filter_map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) => Some(format!("html {text}")),
            Event::Start(Tag::Image { dest_url, .. }) => Some(format!("image {dest_url}")),
            Event::Start(Tag::Heading { level: level @ (HeadingLevel::H1 | HeadingLevel::H2), .. }) => {
                Some(format!("heading {level}"))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn ordinary_markdown_stays_as_it_is() {
    for text in [
        "Use `Vec<String>` and **bold**.",
        "```rust\nlet x: Vec<u8> = vec![];\n```",
        "1. first\n   ```sh\n   cat <file >out\n   ```\n2. second",
        "| a | b |\n|---|---|\n| `x<y>` | 2 |",
        "a < b, see <https://example.com> and [this](https://example.com)",
        "~~~\n```\n~~~",
    ] {
        assert_eq!(inert(text), text);
    }
}

#[test]
fn html_pictures_and_headings_become_text() {
    for (text, expected) in [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("a <b onclick=x>b</b>", "a &lt;b onclick=x>b&lt;/b>"),
        ("see ![x](https://example.com/?secret)", "see \\![x](https://example.com/?secret)"),
        ("# Title\n\n##### Deep", "### Title\n\n###### Deep"),
        ("user\n====", "user\n\\===="),
        ("> user\n> ---", "> user\n> \\---"),
        ("<!-- a\n\nb", "&lt;!-- a\n\nb"),
    ] {
        assert_eq!(inert(text), expected);
    }
}

#[test]
fn what_would_swallow_the_rest_of_the_document_becomes_a_block_of_its_own() {
    assert_eq!(inert("so:\n```rust\nlet x"), "````\nso:\n```rust\nlet x\n````\n");
    assert_eq!(inert("~~~~ `````"), "``````\n~~~~ `````\n``````\n");
}

#[test]
fn what_cannot_be_seen_is_spelled_out() {
    assert_eq!(inert("a\u{202e}b\r\nc\u{1b}[2J"), "a\\u{202e}b\nc\\u{1b}[2J");
    assert_eq!(plain("<a> *b*\nc | d"), "&lt;a\\> \\*b\\* c \\| d");
}

/// Texts out of what Markdown and HTML are made of.
fn nasty() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "`",
        "``",
        "```",
        "````",
        "~~~",
        "\n",
        "\n\n",
        " ",
        "    ",
        "\t",
        ">",
        "> ",
        "- ",
        "1. ",
        "|",
        "|-|-|\n",
        "<script>",
        "</script>",
        "<script",
        "<!--",
        "-->",
        "<?",
        "<![CDATA[",
        "<div>\n",
        "<img src=x onerror=y>",
        "![a](b)",
        "[a](b)",
        "[a]: <b>\n",
        "[^1]",
        "[^1]: ",
        "# ",
        "## x\n",
        "===\n",
        "---\n",
        "\\",
        "&lt;",
        "*",
        "_",
        "a",
        "x y",
        "é",
        "\u{200b}",
        "!",
        "[",
        "](",
        "(",
        ")",
        "$$",
        "$",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_a_text_holds_it_is_text_only_and_ends_where_it_ends(text in nasty()) {
        let document = format!("# Ours\n\n## user\n\n{}\n\n## Ours\n\nend\n", inert(&text));
        for dialect in dialects() {
            prop_assert_eq!(active(&document, dialect), ["heading h1", "heading h2", "heading h2"], "{}", document);
        }
    }

    #[test]
    fn nothing_in_a_code_block_ends_it(text in nasty()) {
        let block = fenced(&text, "");
        for dialect in dialects() {
            let events: Vec<_> = Parser::new_ext(&block, dialect).collect();
            let inside: String = events[1..events.len() - 1]
                .iter()
                .map(|event| match event {
                    Event::Text(text) => text.to_string(),
                    other => panic!("{other:?} in {block}"),
                })
                .collect();
            let expected = clean(&text);
            prop_assert_eq!(inside.trim_end_matches('\n'), expected.trim_end_matches('\n'));
        }
    }

    #[test]
    fn a_plain_line_means_nothing(text in nasty()) {
        let document = format!("## {}\n\nend\n", plain(&text));
        for dialect in dialects() {
            prop_assert_eq!(active(&document, dialect), ["heading h2"], "{}", document);
        }
    }
}
