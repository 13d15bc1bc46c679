use super::*;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use tempfile::TempDir;
use wasmtime::Config;

/// The shortest component: magic, version and layer.
const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

struct Place {
    folder: TempDir,
    engine: Engine,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), engine: Engine::default() }
    }

    fn options(&self) -> CacheOptions {
        CacheOptions {
            directory: self.folder.path().join("code"),
            key_file: self.folder.path().join("cache.key"),
        }
    }

    fn open(&self) -> Cache {
        Cache::open(&self.options(), &self.engine).unwrap()
    }

    /// Why there is no cache.
    fn refused(&self) -> String {
        Cache::open(&self.options(), &self.engine).err().unwrap().to_string()
    }

    /// A cache with the code of [`EMPTY`], and that code.
    fn with_code(&self) -> (Cache, Digest, Vec<u8>) {
        let cache = self.open();
        let digest = digest(EMPTY);
        let code = Component::from_binary(&self.engine, EMPTY).unwrap().serialize().unwrap();
        cache.write(Kind::Code, &digest, &code).unwrap();
        (cache, digest, code)
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_was_written_is_read_and_loads() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    assert!(cache.has(Kind::Code, &digest) && !cache.has(Kind::Surface, &digest));
    assert_eq!(cache.read(Kind::Code, &digest).unwrap(), code);
    assert!(cache.code(&place.engine, &digest).is_some());
    // Another start, with the key of the first.
    assert!(place.open().code(&place.engine, &digest).is_some());
}

// S10
#[test]
fn directory_key_and_entries_are_the_users_alone() {
    let place = Place::new();
    let (cache, digest, _) = place.with_code();
    assert_eq!(mode(&place.options().directory), 0o700);
    assert_eq!(mode(&place.options().key_file), 0o600);
    assert_eq!(mode(&cache.path(Kind::Code, &digest)), 0o600);
}

// K1, sampled
#[test]
fn one_changed_bit_makes_an_entry_worthless() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    let path = cache.path(Kind::Code, &digest);
    let genuine = fs::read(&path).unwrap();
    let step = (genuine.len() / 40).max(1);
    for at in (0..MAC_BYTES).chain((MAC_BYTES..genuine.len()).step_by(step)).chain([genuine.len() - 1]) {
        let mut bytes = genuine.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, bytes).unwrap();
        assert!(cache.code(&place.engine, &digest).is_none(), "byte {at}");
        assert!(!path.exists(), "a worthless entry is removed");
    }
    cache.write(Kind::Code, &digest, &code).unwrap();
    assert!(cache.code(&place.engine, &digest).is_some());
}

// K2
#[test]
fn an_entry_stands_for_its_own_bytes_and_kind_only() {
    let place = Place::new();
    let (cache, one, _) = place.with_code();
    let other = digest(b"another extension");
    cache.write(Kind::Code, &other, b"other code").unwrap();
    cache.write(Kind::Surface, &one, b"surface").unwrap();
    let code = fs::read(cache.path(Kind::Code, &one)).unwrap();
    for (kind, digest) in [(Kind::Code, &other), (Kind::Surface, &one), (Kind::Surface, &other)] {
        fs::write(cache.path(kind, digest), &code).unwrap();
        assert_eq!(cache.read(kind, digest), None, "{kind:?}");
    }
    assert!(cache.read(Kind::Code, &one).is_some());
}

// K4
#[test]
fn a_digest_without_the_key_proves_nothing() {
    let place = Place::new();
    let (cache, digest, _) = place.with_code();
    let path = cache.path(Kind::Code, &digest);
    let forged: &[u8] = b"code of an attacker";
    let foreign = Cache { directory: cache.directory.clone(), key: [0; 32], ..place.open() };
    let macs: [[u8; 32]; 3] = [
        Sha256::digest(forged).into(),
        foreign
            .mac(Kind::Code, &digest, forged.len(), &lanes::sum(forged))
            .unwrap()
            .finalize()
            .into_bytes()
            .into(),
        [0; 32],
    ];
    for mac in macs {
        fs::write(&path, [&mac, forged].concat()).unwrap();
        assert_eq!(cache.read(Kind::Code, &digest), None);
    }
}

// K5
#[test]
fn a_part_of_an_entry_is_none() {
    let place = Place::new();
    let (cache, digest, _) = place.with_code();
    let path = cache.path(Kind::Code, &digest);
    let genuine = fs::read(&path).unwrap();
    for len in [0, 1, 31, 32, 33, genuine.len() / 2, genuine.len() - 1] {
        fs::write(&path, &genuine[..len]).unwrap();
        assert_eq!(cache.read(Kind::Code, &digest), None, "{len} bytes");
    }
    fs::write(&path, [&genuine[..], b"more"].concat()).unwrap();
    assert_eq!(cache.read(Kind::Code, &digest), None);
}

// K6
#[test]
fn code_is_loaded_from_memory_and_never_from_a_file_that_may_change() {
    let place = Place::new();
    let (cache, digest, _) = place.with_code();
    let component = cache.code(&place.engine, &digest).unwrap();
    fs::write(cache.path(Kind::Code, &digest), vec![0xcc; 1 << 20]).unwrap();
    assert_eq!(component.component_type().exports(&place.engine).len(), 0);
}

// K1, K6: the way of large code, which is mapped from sealed memory.
#[test]
fn large_code_is_loaded_from_sealed_memory_and_a_changed_bit_makes_it_worthless() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    // What lies behind the code is not looked at by anybody but the digest.
    let large = [code, vec![7; 2 * lanes::WORTH_A_THREAD]].concat();
    cache.write(Kind::Code, &digest, &large).unwrap();
    let path = cache.path(Kind::Code, &digest);
    let sealed = cache.sealed(&digest).unwrap();
    assert!(sealed.0.write_all_at(b"x", 0).is_err() && sealed.0.set_len(0).is_err());
    for at in [0, MAC_BYTES, MAC_BYTES + 100, large.len() / 2, MAC_BYTES + large.len() - 1] {
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(cache.sealed(&digest).is_none(), "byte {at}");
        assert!(cache.code(&place.engine, &digest).is_none(), "byte {at}");
        assert!(!path.exists(), "a worthless entry is removed");
        cache.write(Kind::Code, &digest, &large).unwrap();
    }
}

// K7
#[test]
fn another_configuration_has_entries_of_its_own() {
    let place = Place::new();
    let (cache, digest, _) = place.with_code();
    let other_engine = Engine::new(Config::new().epoch_interruption(true)).unwrap();
    let other = Cache::open(&place.options(), &other_engine).unwrap();
    assert!(!other.has(Kind::Code, &digest));
    // Even under the name that it would have.
    fs::copy(cache.path(Kind::Code, &digest), other.path(Kind::Code, &digest)).unwrap();
    assert!(other.code(&other_engine, &digest).is_none());
    assert!(cache.code(&place.engine, &digest).is_some(), "the first one's stays");
}

// K7: ours by its digest, and still nothing that wasmtime takes.
#[test]
fn code_that_does_not_load_is_no_code() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    for payload in [&b""[..], b"not code", &code[..code.len() / 2]] {
        cache.write(Kind::Code, &digest, payload).unwrap();
        assert!(cache.code(&place.engine, &digest).is_none());
    }
}

// K8
#[test]
fn many_writers_and_readers_see_whole_entries() {
    let place = Place::new();
    let (_, digest, code) = place.with_code();
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let (cache, code) = (place.open(), code.clone());
            std::thread::spawn(move || {
                for _ in 0..50 {
                    cache.write(Kind::Code, &digest, &code).unwrap();
                    assert!(cache.read(Kind::Code, &digest).is_some());
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let names: Vec<_> =
        fs::read_dir(place.options().directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [place.open().path(Kind::Code, &digest)], "nothing is left over");
}

// K8
#[test]
fn hosts_that_start_at_once_agree_on_one_key() {
    let place = Place::new();
    let openers: Vec<_> = (0..8)
        .map(|_| {
            let (options, engine) = (place.options(), place.engine.clone());
            std::thread::spawn(move || Cache::open(&options, &engine).unwrap().key)
        })
        .collect();
    let keys: Vec<_> = openers.into_iter().map(|opener| opener.join().unwrap()).collect();
    assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; 32]));
    assert_eq!(fs::read(place.options().key_file).unwrap(), keys[0]);
}

// K3
#[test]
fn a_directory_that_others_can_write_is_not_used() {
    let place = Place::new();
    let directory = place.options().directory;
    drop(place.open());
    for mode in [0o770, 0o702, 0o777] {
        set_mode(&directory, mode);
        assert!(place.refused().contains("chmod go-w"), "{mode:o}");
    }
    set_mode(&directory, 0o755);
    assert!(
        Cache::open(&place.options(), &place.engine).is_ok(),
        "that others can read it gives nothing away"
    );
}

// K3
#[test]
fn a_directory_that_is_a_link_or_a_file_is_not_used() {
    let place = Place::new();
    let directory = place.options().directory;
    let elsewhere = place.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &directory).unwrap();
    assert!(place.refused().contains("is not a directory"));
    fs::remove_file(&directory).unwrap();
    fs::write(&directory, "").unwrap();
    assert!(place.refused().contains("is not a directory"));
    fs::remove_file(&directory).unwrap();
    assert!(Cache::open(&place.options(), &place.engine).is_ok());
}

// K3
#[test]
fn a_directory_or_key_of_another_user_is_not_used() {
    let place = Place::new();
    drop(place.open());
    let CacheOptions { directory, key_file } = place.options();
    let me = rustix::process::geteuid().as_raw();
    for path in [directory, key_file] {
        // Only root can give a file away; elsewhere there is nothing to test with.
        if chown(&path, Some(65_534), None).is_ok() {
            assert!(place.refused().contains("belongs to another user"), "{}", path.display());
            chown(&path, Some(me), None).unwrap();
        }
    }
    assert!(Cache::open(&place.options(), &place.engine).is_ok());
}

#[test]
fn a_key_that_is_not_a_private_file_of_its_length_is_not_used() {
    let place = Place::new();
    drop(place.open());
    let key = place.options().key_file;
    let genuine = fs::read(&key).unwrap();
    for mode in [0o640, 0o604, 0o644] {
        set_mode(&key, mode);
        assert!(place.refused().contains("chmod 600"), "{mode:o}");
    }
    set_mode(&key, 0o620);
    assert!(place.refused().contains("chmod go-w"));
    set_mode(&key, 0o600);
    for len in [0, 31, 33, 64] {
        fs::write(&key, vec![7; len]).unwrap();
        assert!(place.refused().contains("remove it"), "{len} bytes");
    }
    let elsewhere = place.folder.path().join("elsewhere");
    fs::write(&elsewhere, &genuine).unwrap();
    set_mode(&elsewhere, 0o600);
    fs::remove_file(&key).unwrap();
    symlink(&elsewhere, &key).unwrap();
    place.refused();
    fs::remove_file(&key).unwrap();
    fs::create_dir(&key).unwrap();
    place.refused();
    fs::remove_dir(&key).unwrap();
    fs::copy(&elsewhere, &key).unwrap();
    assert_eq!(place.open().key[..], genuine, "put right, it is used again");
}

#[test]
fn a_key_that_is_a_pipe_does_not_make_the_host_wait() {
    let place = Place::new();
    let made =
        std::process::Command::new("mkfifo").arg("-m600").arg(place.options().key_file).status().unwrap();
    assert!(made.success());
    place.refused();
}

#[test]
fn a_new_key_makes_all_old_entries_worthless() {
    let place = Place::new();
    let (_, digest, _) = place.with_code();
    fs::remove_file(place.options().key_file).unwrap();
    assert!(place.open().code(&place.engine, &digest).is_none());
}

// K10
#[test]
fn a_cache_that_cannot_be_written_says_so_and_leaves_nothing() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    fs::remove_dir_all(&cache.directory).unwrap();
    assert!(cache.write(Kind::Code, &digest, &code).is_err());
    assert_eq!(cache.read(Kind::Code, &digest), None);
}

fn age(path: &Path) -> std::time::Duration {
    fs::metadata(path).unwrap().modified().unwrap().elapsed().unwrap()
}

// K10
#[test]
fn use_is_noted_in_the_files_time_but_not_at_every_hit() {
    const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);
    let place = Place::new();
    let (cache, digest, _) = place.with_code();
    let path = cache.path(Kind::Code, &digest);
    let set = |age| fs::File::open(&path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    set(HOUR / 2);
    cache.read(Kind::Code, &digest).unwrap();
    assert!(age(&path) >= HOUR / 2, "a hit of late");
    set(HOUR * 30);
    cache.read(Kind::Code, &digest).unwrap();
    assert!(age(&path) < HOUR, "the first hit in a while");
}

// K10
#[test]
fn what_was_just_written_stays_and_what_was_used_longest_ago_goes() {
    let place = Place::new();
    let (cache, first, code) = place.with_code();
    let one_and_a_half = (code.len() + 32) as u64 * 3 / 2;
    let cache = cache.holding(one_and_a_half);
    let second = Digest([2; 32]);
    cache.write(Kind::Code, &second, &code).unwrap();
    assert!(!cache.has(Kind::Code, &first) && cache.has(Kind::Code, &second));
}

// K10
#[test]
fn what_is_larger_than_the_whole_cache_is_not_kept_and_costs_nobody_a_place() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    let cache = cache.holding(code.len() as u64 + 40);
    let refused = cache.write(Kind::Code, &Digest([2; 32]), &[0; 1 << 20]).unwrap_err();
    assert!(refused.to_string().contains("cache_mb"), "{refused}");
    assert!(cache.has(Kind::Code, &digest));
}

// K8, K10: the entry goes while another process has it open.
#[test]
fn what_is_removed_during_a_read_is_still_read_whole() {
    let place = Place::new();
    let (cache, digest, code) = place.with_code();
    let (tight, done) = (place.open().holding(1), std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                clear(&tight.directory).unwrap();
                std::thread::yield_now();
            }
        });
        for _ in 0..200 {
            // Writing may find that its own entry is gone again; reading gives all of it or nothing.
            cache.write(Kind::Code, &digest, &code).unwrap();
            assert!(cache.read(Kind::Code, &digest).is_none_or(|read| read == code));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
