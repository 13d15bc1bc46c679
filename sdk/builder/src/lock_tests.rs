use super::take_lock;

#[test]
fn whoever_waits_for_a_lock_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let first = take_lock(&path, || panic!("nobody else holds it")).unwrap();
    let release = std::sync::Mutex::new(Some(first));
    let mut waited = false;
    take_lock(&path, || {
        waited = true;
        release.lock().unwrap().take();
    })
    .unwrap();
    assert!(waited);
}
