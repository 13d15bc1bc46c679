use super::*;

#[test]
fn a_folder_is_named_as_pi_names_it() {
    assert_eq!(folder_name(Path::new("/home/ada/my project")), "--home-ada-my project--");
    assert_eq!(folder_name(Path::new(r"C:\work\x")), "--C--work-x--");
    assert_eq!(folder_name(Path::new("/")), "----");
}

#[test]
fn a_very_deep_directory_still_gives_a_folder_that_file_systems_take() {
    let deep = format!("/{}", "größe/".repeat(100));
    let name = folder_name(Path::new(&deep));
    assert!(name.len() <= 250, "{} bytes", name.len());
    assert!(name.ends_with("größe---"));
}

#[test]
fn a_file_is_named_by_its_beginning_and_its_id() {
    let mut header = Header::new(Path::new("/w"));
    header.timestamp = "2026-02-03T04:05:06.789Z".into();
    header.id = SessionId::new("0198");
    assert_eq!(header.file_name(), "2026-02-03T04-05-06-789Z_0198.jsonl");
}

#[test]
fn a_new_header_has_the_fields_of_version_three_in_order() {
    let header = Header::new(Path::new("/w"));
    let line = header.to_line().unwrap();
    let expected = format!(
        r#"{{"type":"session","version":3,"id":"{}","timestamp":"{}","cwd":"/w"}}"#,
        header.id, header.timestamp
    );
    assert_eq!(line, expected);
    assert_eq!(Uuid::parse_str(header.id.as_str()).unwrap().get_version_num(), 7);
    assert!(humantime::parse_rfc3339(&header.timestamp).is_ok());
}

#[test]
fn unknown_header_fields_survive() {
    let line = r#"{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/w","mood":{"x":[1,2.5]}}"#;
    assert_eq!(Header::parse(line.as_bytes()).unwrap().to_line().unwrap(), line);
}

#[test]
fn other_objects_are_no_headers() {
    for line in [
        "",
        "[]",
        r#"["session",3,"a","t","/w",null,{}]"#,
        r#"{"type":"message","id":"a"}"#,
        r#"{"type":"session"}"#,
        r#"{"type":"session","id":7}"#,
        r#"{"type":"session","id":"a","version":"3"}"#,
    ] {
        assert!(Header::parse(line.as_bytes()).is_err(), "{line}");
    }
    assert!(Header::parse(b"\xff{}").is_err());
}

#[test]
fn a_header_without_a_version_is_of_the_first() {
    assert_eq!(Header::parse(br#"{"type":"session","id":"a"}"#).unwrap().version, 1);
}
