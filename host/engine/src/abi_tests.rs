use super::*;

#[test]
fn names_are_taken_apart() {
    let named = Named::parse("capstan:extension/tools@0.1.3").unwrap();
    assert_eq!(
        (named.package, named.interface, named.version),
        ("capstan:extension", "tools", Some("0.1.3"))
    );
    assert!(named.is_spoken());
    assert!(!Named::parse("capstan:extension/tools@0.2.0").unwrap().is_spoken());
    assert!(!Named::parse("capstan:extension/tools").unwrap().is_spoken());
    assert!(!Named::parse("other:extension/tools@0.1.0").unwrap().is_spoken());
    assert_eq!(Named::parse("init"), None);
}

#[test]
fn one_line_of_versions_is_compatible() {
    for (found, wanted, expected) in [
        ("0.1.0", "0.1.9", true),
        ("0.1.9", "0.1.0", true),
        ("0.2.0", "0.1.0", false),
        ("1.0.0", "0.1.0", false),
        ("0.2.12", "0.2.0", true),
        ("0.0.1", "0.0.2", false),
        ("garbage", "0.1.0", false),
    ] {
        assert_eq!(compatible(found, wanted), expected, "{found} {wanted}");
    }
}
