use std::fs;

use super::{classify, publish};
use crate::error::ArtifactKind;

#[test]
fn the_first_eight_bytes_tell_a_component_from_a_module() {
    assert_eq!(classify(b"\0asm\x0d\0\x01\0rest"), ArtifactKind::Component);
    assert_eq!(classify(b"\0asm\x01\0\0\0"), ArtifactKind::CoreModule);
    for other in [&b""[..], b"\0asm", b"\x7fELF\x02\x01\x01\0", b"\0asm\x0d\0\x02\0"] {
        assert_eq!(classify(other), ArtifactKind::Other, "{other:?}");
    }
}

#[test]
fn publishing_replaces_the_old_file_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (artifact, out) = (folder.path().join("built"), folder.path().join("out/deep"));
    for content in ["first", "second one"] {
        fs::write(&artifact, content).unwrap();
        let (wasm, bytes) = publish(&artifact, &out, "tiny-ext.wasm").unwrap();
        assert_eq!((fs::read_to_string(&wasm).unwrap().as_str(), bytes), (content, content.len() as u64));
        let modes = [&artifact, &wasm].map(|path| fs::metadata(path).unwrap().permissions());
        assert_eq!(modes[0], modes[1]);
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}
