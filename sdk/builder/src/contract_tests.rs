use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::write_to;

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn what_is_written_is_the_whole_contract() {
    let folder = tempfile::tempdir().unwrap();
    write_to(folder.path()).unwrap();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/v0.1");
    assert_eq!(texts(folder.path()), texts(&contract));
}
