use super::*;

fn name(name: &str) -> bool {
    is_protected_name(OsStr::new(name))
}

// F19
#[test]
fn every_listed_name_is_protected_in_any_case() {
    for listed in DIRECTORIES.iter().chain(&START_FILES) {
        assert!(name(listed), "{listed}");
        assert!(name(&listed.to_ascii_uppercase()), "{listed}");
    }
    for mixed in [".Git", ".gIT", ".VsCode", ".BashRC"] {
        assert!(name(mixed), "{mixed}");
    }
}

#[test]
fn names_that_only_resemble_them_are_free() {
    for free in
        ["git", ".gitignore", ".github", ".gitattributes", "x.git", ".bashrc.d", "profile", ".", "..", ""]
    {
        assert!(!name(free), "{free}");
    }
}

#[test]
fn names_that_some_file_system_takes_for_the_same_are_protected() {
    for same in
        [".g\u{200c}it", ".git.", ".git ", ".git. .", ".v\u{17f}code", ".ba\u{17f}hrc", "\u{feff}.git"]
    {
        assert!(name(same), "{same:?}");
    }
}

#[test]
fn one_protected_name_protects_the_whole_path() {
    for path in [".git", "a/.git", ".git/hooks/pre-commit", "a/.idea/b", "x/../.git/config", "sub/.npmrc"] {
        assert!(is_protected(Path::new(path)), "{path}");
    }
    for path in ["", "a", "src/git/main.rs", "a/.github/workflows/x.yml", "../x"] {
        assert!(!is_protected(Path::new(path)), "{path}");
    }
}
