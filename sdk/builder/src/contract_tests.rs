use std::fs;
use std::path::Path;

use super::write;

#[test]
fn every_file_of_the_contract_is_there() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path()).unwrap();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/v0.1");
    let mut compared = 0;
    for entry in fs::read_dir(contract).unwrap() {
        let file = entry.unwrap().path();
        let written = fs::read_to_string(folder.path().join(file.file_name().unwrap())).unwrap();
        assert_eq!(written, fs::read_to_string(&file).unwrap(), "{}", file.display());
        compared += 1;
    }
    assert_eq!(compared, fs::read_dir(folder.path()).unwrap().count());
}
