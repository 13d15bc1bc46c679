use super::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::str::FromStr;

fn server(name: &str) -> ServerName {
    ServerName::from_str(name).unwrap()
}

// 003-141
#[test]
fn two_servers_with_the_same_tool_have_two_names() {
    assert_eq!(assign(&server("a"), &["search"]), [Ok("a__search".to_owned())]);
    assert_eq!(assign(&server("b"), &["search"]), [Ok("b__search".to_owned())]);
}

#[test]
fn letters_that_models_do_not_take_are_mapped_or_refused() {
    let names = assign(&server("a"), &["files.read", "x/y:z", "naïve", "", "a\u{1b}[2J"]);
    assert_eq!(names[0], Ok("a__files_read".to_owned()));
    assert_eq!(names[1], Ok("a__x_y_z".to_owned()));
    assert_eq!(names[2], Err(NameRefused::Letter('ï')));
    assert_eq!(names[3], Err(NameRefused::Empty));
    assert_eq!(names[4], Err(NameRefused::Letter('\u{1b}')));
}

#[test]
fn a_name_that_is_listed_twice_is_nobodys() {
    let names = assign(&server("a"), &["x", "y", "x"]);
    assert_eq!(names, [Err(NameRefused::Listed), Ok("a__y".to_owned()), Err(NameRefused::Listed)]);
}

// 003-141
#[test]
fn of_two_tools_for_one_name_only_the_one_that_is_really_called_so_has_it() {
    let names = assign(&server("a"), &["x.y", "x_y"]);
    assert_eq!(names, [Err(NameRefused::Ambiguous("a__x_y".to_owned())), Ok("a__x_y".to_owned())]);
    let neither = assign(&server("a"), &["x.y", "x/y"]);
    assert!(neither.iter().all(Result::is_err), "{neither:?}");
}

#[test]
fn long_names_are_told_apart_by_their_ends() {
    let (one, other) = ("n".repeat(99) + "1", "n".repeat(99) + "2");
    let names = assign(&server("a"), &[&one, &other]);
    let names: HashSet<_> = names.into_iter().map(Result::unwrap).collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| name.len() == 64), "{names:?}");
}

proptest! {
    // 003-141
    /// Whatever servers call their tools: no two tools share a name, and every name can be sent to any model.
    #[test]
    fn names_are_unique_and_in_form(
        servers in prop::collection::hash_set("[a-z0-9-]{1,4}", 1..4),
        tools in prop::collection::vec("[ab_./é-]{0,5}|[a-z]{60,70}", 0..8),
    ) {
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let mut seen = HashSet::new();
        for name in servers.iter().flat_map(|name| assign(&server(name), &tools)).flatten() {
            prop_assert!(name.len() <= 64);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'));
            prop_assert!(seen.insert(name.clone()), "{name} twice");
        }
    }

    /// The order in which a server lists its tools changes no name.
    #[test]
    fn the_order_decides_nothing(tools in prop::collection::vec("[ab_.]{1,3}", 0..6)) {
        let forth: Vec<&str> = tools.iter().map(String::as_str).collect();
        let back: Vec<&str> = forth.iter().rev().copied().collect();
        let mut named = assign(&server("s"), &back);
        named.reverse();
        prop_assert_eq!(named, assign(&server("s"), &forth));
    }
}
