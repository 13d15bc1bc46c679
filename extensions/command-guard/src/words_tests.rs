use super::*;
use crate::reader;

fn resolved(text: &str) -> Vec<(String, bool)> {
    let script = reader::read(text).unwrap();
    let command = &script.pipelines.last().unwrap().commands[0];
    let mut variables = Variables::new();
    variables.insert("two".to_owned(), ["a".to_owned(), "b c".to_owned()].into());
    command
        .words
        .iter()
        .flat_map(|word| resolve(word, &variables))
        .map(|word| (word.text, word.known))
        .collect()
}

fn known(texts: &[&str]) -> Vec<(String, bool)> {
    texts.iter().map(|text| ((*text).to_owned(), true)).collect()
}

#[test]
fn braces_and_variables_give_every_value() {
    assert_eq!(resolved("x{a,b{1,2}}y"), known(&["xay", "xb1y", "xb2y"]));
    assert_eq!(resolved("{a} '{a,b}' {}"), known(&["{a}", "{a,b}", "{}"]));
    assert_eq!(resolved("$two/x"), known(&["a/x", "b", "c/x"]));
    assert_eq!(resolved("\"$two\""), known(&["a", "b c"]));
}

#[test]
fn homes_and_echoes_are_known_and_the_rest_is_not() {
    assert_eq!(
        resolved("~/x '~/x' $HOME \"$HOME/y\" '$HOME'"),
        known(&["~/x", "./~/x", "~", "~/y", "$HOME"])
    );
    assert_eq!(resolved("$(echo a b)c"), known(&["a", "bc"]));
    assert_eq!(resolved("$(date)/x $1"), [("$(…)/x".to_owned(), false), ("$1".to_owned(), false)]);
}

#[test]
fn too_many_values_become_unknown() {
    let many = "{a,b}".repeat(10);
    assert!(resolved(&many).iter().any(|(_, known)| !known) || resolved(&many).len() <= MAX_ALTERNATIVES);
}
