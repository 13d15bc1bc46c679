use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    let script = read(text).unwrap();
    let commands = script.pipelines.into_iter().flat_map(|pipeline| pipeline.commands);
    commands
        .map(|command| command.words.iter().map(|word| word.plain().unwrap_or("?".to_owned())).collect())
        .collect()
}

#[test]
fn quotes_and_escapes_join_into_words() {
    assert_eq!(words(r#"a'b c'"d \" e"\ f g"#), [["ab cd \" e f", "g"]]);
    assert_eq!(words("$'a\\tb' \"\" ''"), [["a\tb", "", ""]]);
    assert_eq!(words("a\\\nb c"), [["ab", "c"]]);
}

#[test]
fn operators_separate_commands() {
    assert_eq!(words("a;b&&c||d|e&f\ng"), [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]);
    let script = read("a | b |& c & d").unwrap();
    let shape: Vec<_> =
        script.pipelines.iter().map(|pipeline| (pipeline.commands.len(), pipeline.background)).collect();
    assert_eq!(shape, [(3, true), (1, false)]);
}

#[test]
fn redirections_are_no_arguments() {
    let script = read("a 2>&1 >out <in 2>>log b <<<'text' >&2 &>both").unwrap();
    let command = &script.pipelines[0].commands[0];
    assert_eq!(command.words.len(), 2);
    assert_eq!(command.redirects.len(), 5);
}

#[test]
fn a_here_document_is_input_and_not_commands() {
    let script = read("cat <<A <<-'B' | tr a b\nit's\nA\n\t$x (\n\tB\nnext").unwrap();
    let first = &script.pipelines[0].commands[0];
    let texts: Vec<_> = first
        .redirects
        .iter()
        .map(|redirect| match redirect {
            Redirect::Text(word) => word.plain().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["it's\n", "$x (\n"]);
    assert_eq!(script.pipelines[0].commands.len(), 2);
    assert_eq!(script.pipelines[1].commands[0].words[0].plain().unwrap(), "next");
}

#[test]
fn unfinished_texts_say_what_is_missing() {
    assert_eq!(read("'a").unwrap_err(), Unreadable::Unfinished("quote"));
    assert_eq!(read("(a").unwrap_err(), Unreadable::Unfinished("bracket"));
    assert_eq!(read("a)").unwrap_err(), Unreadable::Stray(')'));
    assert_eq!(read("a \\").unwrap_err(), Unreadable::Unfinished("escape"));
    assert_eq!(read(&"$(".repeat(30)).unwrap_err(), Unreadable::TooDeep);
}
