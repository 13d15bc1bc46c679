use super::*;

#[test]
fn places_are_recognised_through_detours() {
    let cases = [
        ("/", Place::Root),
        ("/../..", Place::Root),
        ("/usr/../*", Place::Root),
        ("/etc/", Place::System),
        ("/u*", Place::System),
        ("/etc/hosts", Place::Elsewhere),
        ("/home/ada/", Place::Home),
        ("/home/ada/x", Place::Elsewhere),
        ("~", Place::Home),
        ("~ada", Place::Home),
        ("~/..", Place::System),
        ("~/x/..", Place::Home),
        ("./.", Place::Current),
        ("x/../*", Place::Current),
        ("../../", Place::Above),
        ("../x", Place::Elsewhere),
        ("", Place::Elsewhere),
    ];
    for (path, expected) in cases {
        assert_eq!(place(path, true, None), expected, "{path}");
    }
}

#[test]
fn relative_paths_count_from_where_the_command_went() {
    assert_eq!(place("*", true, Some("/")), Place::Root);
    assert_eq!(place("..", true, Some("/etc")), Place::Root);
    assert_eq!(place("x", true, Some("/home")), Place::Home);
    assert_eq!(place(".", true, Some("build")), Place::Elsewhere);
    assert_eq!(place("..", true, Some("build")), Place::Current);
    assert_eq!(enter(Some("/a"), "b").as_deref(), Some("/a/b"));
}

#[test]
fn devices_are_told_from_their_neighbours() {
    for device in [
        "/dev/sda",
        "/dev/sda1",
        "/dev/nvme0n1p2",
        "/dev/disk/by-id/x",
        "/dev/mapper/root",
        "/dev/mem",
        "/dev/md0",
        "/dev/sd*",
    ] {
        assert!(is_device(device), "{device}");
    }
    for other in [
        "/dev/null",
        "/dev/stdin",
        "/dev/shm/x",
        "/dev/tty",
        "/dev/mapper/control",
        "/tmp/dev/sda",
        "sda",
        "/dev/memory",
    ] {
        assert!(!is_device(other), "{other}");
    }
}
