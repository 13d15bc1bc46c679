use std::io;

use super::*;

#[derive(Debug)]
struct Outer(io::Error);

impl Display for Outer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("outer")
    }
}

impl StdError for Outer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn any_standard_error_becomes_one_line_with_its_causes() {
    let error = Error::from(Outer(io::Error::other("inner")));
    assert_eq!(error.message(), "outer: inner");
}

#[test]
fn an_explanation_stands_before_the_error() {
    let failed: Result<(), io::Error> = Err(io::Error::other("inner"));
    let error = failed.explain("reading").unwrap_err();
    assert_eq!(error.to_string(), "reading: inner");
    assert_eq!(format!("{:?}", error.within("a")), r#"Error("a: reading: inner")"#);
}
