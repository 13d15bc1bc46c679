use super::*;

const BEGIN: &str = "<!-- limits: made from src/limits.rs -->\n";
const END: &str = "<!-- end of limits -->\n";

/// With `CAPSTAN_RECORD_LIMITS` set, writes the table instead of comparing it.
#[test]
fn the_readme_shows_the_limits_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if std::env::var_os("CAPSTAN_RECORD_LIMITS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
        return;
    }
    assert_eq!(shown, table(), "run this test with CAPSTAN_RECORD_LIMITS=1 to write the table anew");
}
