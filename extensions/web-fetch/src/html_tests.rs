use proptest::prelude::*;

use super::*;

fn text(html: &str) -> String {
    read(html, "https://example.com/docs/page.html", 100_000).text
}

#[test]
fn headings_paragraphs_and_lists_are_markdown() {
    let html = "<h1>Title</h1><p>One\n  two<br>three</p><p>Four</p><ul><li>a<li>b<ul><li>c</ul></ul>\
                <ol start=3><li><p>d</p><p>more</p></li><li>e</li></ol><hr>end";
    assert_eq!(
        text(html),
        "# Title\n\nOne two\nthree\n\nFour\n\n- a\n- b\n  - c\n\n3. d\n\n  more\n4. e\n\n---\n\nend"
    );
}

#[test]
fn links_are_resolved_and_those_that_lead_nowhere_are_text() {
    let html = "see <a href='../x'>the <b>x</b></a>, <a href='#y'>here</a>, <a href='javascript:z()'>z</a>, \
                <a href='https://example.com/'>https://example.com/</a><h2>Part<a href='#part'>¶</a></h2>\
                <a href='/block'><div>one</div><div>two</div></a>";
    assert_eq!(
        text(html),
        "see [the **x**](https://example.com/x), here, z, https://example.com/\n\n## Part\n\none\ntwo (https://example.com/block)"
    );
    assert_eq!(
        text("<base href='https://other.example/a/'><a href=b>c</a>"),
        "[c](https://other.example/a/b)"
    );
}

#[test]
fn code_keeps_its_lines_and_its_language() {
    let html = "<p>run <code>cargo test</code> or <kbd>q</kbd>:</p><pre><code class='x language-rust'>fn a() {\n    <span>b</span>\n}\n</code></pre>after";
    assert_eq!(text(html), "run `cargo test` or `q`:\n\n```rust\nfn a() {\n    b\n}\n```\n\nafter");
    assert_eq!(text("<pre>a\n```\nb</pre>"), "````\na\n```\nb\n````");
    assert_eq!(text("<ul><li>x<pre>a\nb</pre></li></ul>"), "- x\n\n  ```\n  a\n  b\n  ```");
}

#[test]
fn tables_have_rows_and_those_that_shape_the_page_are_text() {
    let html = "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><p>2</p></td></tr></tbody></table>end";
    assert_eq!(text(html), "| a | b |\n|---|---|\n| 1 | 2 |\n\nend");
    let html = "<table><tr><td><h1>Title</h1><p>text</p></td></tr></table>";
    assert!(text(html).contains("# Title\n\ntext"), "{}", text(html));
}

#[test]
fn what_is_no_text_for_a_reader_is_left_out() {
    let long = "word ".repeat(60);
    let html = format!(
        "<head><title>The\n page</title><style>a{{}}</style><script>if (a < b) {{ '</div>' }}</script></head>\
         <nav><ul><li>menu</li></ul></nav><p>{long}</p><div hidden>secret</div><div style='display: none'>secret</div>\
         <span aria-hidden=true>secret</span><svg><text>secret</text></svg><footer>foot</footer><!-- secret -->\
         <p>vis\u{200b}ible\u{e0041}</p>"
    );
    let page = read(&html, "https://example.com/", 100_000);
    assert_eq!(page.title, "The page");
    assert_eq!(page.text, format!("{}\n\nvisible", long.trim_end()));
}

#[test]
fn the_main_part_counts_where_there_is_one_and_all_where_it_is_too_small() {
    let long = "word ".repeat(60);
    let html = format!("<div>around</div><main><div>{long}</div></main><div>around</div>");
    assert_eq!(text(&html), long.trim_end());
    assert_eq!(text("<main></main><p>text</p>"), "text");
    assert_eq!(text("<nav>only this</nav>"), "only this");
    // A bar that is never closed hides nothing.
    assert!(text(&format!("<nav><p>{long}</p>")).contains("word"));
}

#[test]
fn entities_and_quotes_are_read() {
    assert_eq!(text("a &lt;b&gt; &amp; &eacute;&nbsp;c"), "a <b> & é c");
    assert_eq!(text("<blockquote><p>a</p><p>b</p></blockquote>c"), "> a\n>\n> b\n\nc");
    assert_eq!(text("<dl><dt>a</dt><dd>b</dd></dl>"), "a\n: b");
    assert_eq!(text("x <img src=a.png alt='a picture'> <img src=b.png>"), "x [image: a picture]");
}

#[test]
fn the_text_ends_where_it_must() {
    let page = read(&"<p>wörd</p>".repeat(10_000), "https://example.com/", 1_001);
    assert!(page.is_cut && page.text.len() <= 1_001 && page.text.len() > 900);
    let page = read("<pre>x", "https://example.com/", 1_000);
    assert_eq!((page.text.as_str(), page.is_cut), ("```\nx\n```", false));
    assert!(
        read(&format!("<pre>{}", "x\n".repeat(10_000)), "https://example.com/", 1_000).text.len() <= 1_000
    );
}

/// Tags, closed or not, in any order.
fn soup() -> impl Strategy<Value = String> {
    let names = [
        "p",
        "div",
        "ul",
        "ol",
        "li",
        "pre",
        "code",
        "table",
        "tr",
        "td",
        "th",
        "a href='/x y'",
        "a href=z",
        "b",
        "em",
        "h1",
        "h3",
        "blockquote",
        "nav",
        "main",
        "article",
        "script",
        "title",
        "br",
        "hr",
        "dd",
        "dt",
        "img alt=é",
        "svg",
        "base href='//q'",
        "span hidden",
    ];
    let piece = (0..names.len(), 0..4_usize, "\\PC{0,4}").prop_map(move |(name, kind, text)| {
        let name = names[name];
        let bare = name.split(' ').next().unwrap_or_default();
        match kind {
            0 | 1 => format!("<{name}>{text}"),
            2 => format!("</{bare}>{text}"),
            _ => format!("{text} \n"),
        }
    });
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_tag_soup_makes_the_reader_panic(html in soup(), max in 0..500_usize) {
        let page = read(&html, "https://example.com/", max);
        prop_assert!(page.text.len() <= max && page.title.len() <= 1_200);
        prop_assert!(!page.text.chars().any(is_hidden));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), max in 0..300_usize) {
        let page = read(&String::from_utf8_lossy(&bytes), "", max);
        prop_assert!(page.text.len() <= max);
    }

    #[test]
    fn no_reference_makes_the_resolver_panic(base in "\\PC{0,20}", reference in "[a-z:/?#.%é]{0,12}") {
        let _joined = crate::address::join(&base, &reference);
    }
}
