use super::*;

#[test]
fn a_path_is_shown_without_the_machine_that_it_was_built_on() {
    for (path, shown) in [
        (
            "/home/me/.cargo/registry/src/packages-1949cf8c6b5b557f/serde_json-1.0.150/src/de.rs",
            "serde_json-1.0.150/src/de.rs",
        ),
        (
            "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/option.rs",
            "library/core/src/option.rs",
        ),
        ("/home/me/project/src/lib.rs", "/home/me/project/src/lib.rs"),
        ("src/lib.rs", "src/lib.rs"),
    ] {
        assert_eq!(shown_path(path), shown);
    }
}

#[test]
fn a_place_is_a_function_and_where_it_is_known_a_file_and_a_line() {
    let mut place = Place { function: function("_RNvCs1234_7mycrate3foo"), at: None };
    assert_eq!(place.to_string(), "mycrate::foo");
    place.at = Some("src/lib.rs:7".to_owned());
    assert_eq!(place.to_string(), "mycrate::foo at src/lib.rs:7");
}

#[test]
fn a_function_is_named_without_long_type_arguments() {
    assert_eq!(function("unwrap<usize>"), "unwrap<usize>");
    assert_eq!(
        function("call<fn(crate::Arguments) -> core::result::Result<alloc::string::String>>"),
        "call<…>"
    );
    assert_eq!(
        function("<alloc::vec::Vec<u8> as core::clone::Clone>::clone"),
        "<alloc::vec::Vec<u8> as core::clone::Clone>::clone"
    );
}

#[test]
fn the_authors_functions_are_shown_and_those_of_the_library_are_not() {
    let place = |function: &str, at: &str| Place { function: function.to_owned(), at: Some(at.to_owned()) };
    let all = vec![
        place("unwrap<usize>", "library/core/src/option.rs:1016"),
        place("longest", "src/lib.rs:18"),
        place("call_once<…>", "library/core/src/ops/function.rs:250"),
        place("count", "src/lib.rs:25"),
    ];
    let named: Vec<_> = shown(all).into_iter().map(|place| place.function).collect();
    assert_eq!(named, ["longest", "count"]);
}

#[test]
fn what_every_panic_passes_through_is_machinery() {
    let of = |name: &str| Place { function: name.to_owned(), at: None };
    for name in
        ["core::panicking::panic_fmt", "std::process::abort", "__rustc::rust_begin_unwind", "rust_panic"]
    {
        assert!(is_machinery(&of(name)), "{name}");
    }
    for name in ["mycrate::foo", "count_words", "capstan:extension/tools@0.1.0#call"] {
        assert!(!is_machinery(&of(name)), "{name}");
    }
}
