use super::*;
use capstan_ports::extension::Access;
use proptest::prelude::*;

fn digest(byte: u8) -> Digest {
    Digest([byte; 32])
}

fn id(text: &str) -> ExtensionId {
    text.parse().unwrap()
}

fn directory(path: &str, access: Access) -> Capability {
    Capability::Directory { path: path.to_owned(), access }
}

fn request(capability: Capability, required: bool) -> CapabilityRequest {
    CapabilityRequest { capability, reason: "to test".to_owned(), required }
}

fn workspace() -> Capability {
    directory(".", Access::ReadOnly)
}

#[test]
fn an_extension_that_asks_for_nothing_is_ready_at_once() {
    let trust = Grants::default().trust(Source::User, &id("quiet"), &digest(1), &[]);
    assert_eq!(trust, Trust::Ready(Effective::nothing()));
}

#[test]
fn an_extension_that_asks_waits_until_the_user_answers() {
    let mut grants = Grants::default();
    let wish = [request(workspace(), true)];
    let waiting = grants.trust(Source::User, &id("map"), &digest(1), &wish);
    assert_eq!(waiting, Trust::Waiting { missing: wish.to_vec() });

    grants.allow(&id("map"), digest(1), BTreeSet::from([workspace()]));
    let Trust::Ready(effective) = grants.trust(Source::User, &id("map"), &digest(1), &wish) else {
        panic!("a granted extension is ready")
    };
    assert_eq!(effective.iter().collect::<Vec<_>>(), [&workspace()]);
}

#[test]
fn optional_wishes_hold_nothing_up_once_answered() {
    let mut grants = Grants::default();
    let wishes = [request(workspace(), true), request(directory("/tmp", Access::ReadWrite), false)];
    grants.allow(&id("map"), digest(1), BTreeSet::from([workspace()]));
    assert!(matches!(grants.trust(Source::User, &id("map"), &digest(1), &wishes), Trust::Ready(_)));
}

#[test]
fn a_grant_never_exceeds_what_is_asked_for() {
    let granted = BTreeSet::from([workspace(), directory("/", Access::ReadWrite)]);
    let effective = Effective::of(&[request(workspace(), true)], &granted);
    assert_eq!(effective.iter().collect::<Vec<_>>(), [&workspace()]);
}

#[test]
fn changed_bytes_void_old_grants_and_show_the_difference() {
    let mut grants = Grants::default();
    grants.allow(&id("map"), digest(1), BTreeSet::from([workspace()]));
    let wider = directory(".", Access::ReadWrite);
    let trust = grants.trust(Source::User, &id("map"), &digest(2), &[request(wider.clone(), true)]);
    assert_eq!(
        trust,
        Trust::Modified { before: digest(1), added: vec![request(wider, true)], removed: vec![workspace()] }
    );
}

#[test]
fn a_disabled_extension_stays_off_also_with_new_bytes() {
    let mut grants = Grants::default();
    assert!(grants.revoke(&id("guard"), digest(1)));
    assert_eq!(grants.trust(Source::User, &id("guard"), &digest(1), &[]), Trust::Disabled);
    assert_eq!(grants.trust(Source::User, &id("guard"), &digest(2), &[]), Trust::Disabled);
    grants.allow(&id("guard"), digest(2), BTreeSet::new());
    assert!(matches!(grants.trust(Source::User, &id("guard"), &digest(2), &[]), Trust::Ready(_)));
}

#[test]
fn an_untrusted_project_loads_nothing_even_with_a_grant_for_the_same_bytes() {
    let mut grants = Grants::default();
    grants.allow(&id("map"), digest(1), BTreeSet::from([workspace()]));
    let wish = [request(workspace(), true)];
    let in_user_folder = grants.trust(Source::User, &id("map"), &digest(1), &wish);
    assert!(matches!(in_user_folder, Trust::Ready(_)));
    let in_project = grants.trust(Source::UntrustedProject, &id("map"), &digest(1), &wish);
    assert_eq!(in_project, Trust::UntrustedProject);
}

#[test]
fn the_file_survives_a_round_trip() {
    let mut grants = Grants::default();
    grants.allow(
        &id("map"),
        digest(1),
        BTreeSet::from([workspace(), Capability::Power { power: Power::RewriteResult }]),
    );
    grants.trust_project(Path::new("/home/user/project"), Some(digest(3)));
    let text = grants.to_toml().unwrap();
    assert_eq!(Grants::parse(&text).unwrap(), grants);
}

// T12: who can write into a trusted project cannot speak for the user.
#[test]
fn a_project_is_trusted_with_the_configuration_that_it_had() {
    let project = Path::new("/home/user/project");
    let mut grants = Grants::default();
    grants.trust_project(project, Some(digest(1)));
    assert!(grants.trusts_project(project) && grants.trusts_config(project, &digest(1)));
    assert!(!grants.trusts_config(project, &digest(2)));
    grants.trust_project(project, None);
    assert!(grants.trusts_project(project) && !grants.trusts_config(project, &digest(1)));
}

#[test]
fn unknown_keys_and_newer_versions_are_refused_whole() {
    assert!(Grants::parse("version = 1\n").is_ok());
    assert!(matches!(Grants::parse("version = 1\nallow_all = true\n"), Err(PolicyError::Grants { .. })));
    assert!(matches!(Grants::parse("version = 2\n"), Err(PolicyError::Version { found: 2, .. })));
}

proptest! {
    #[test]
    fn arbitrary_text_is_a_whole_policy_or_none(text in "\\PC{0,200}") {
        if let Ok(grants) = Grants::parse(&text) {
            let written = grants.to_toml();
            prop_assert!(written.is_ok_and(|written| Grants::parse(&written).is_ok_and(|again| again == grants)));
        }
    }

    // Monotone: granting more never takes anything away, and nothing ungranted is ever in force.
    #[test]
    fn in_force_is_always_within_what_was_granted(asked in 0_u8..32, granted in 0_u8..32, more in 0_u8..32) {
        let set = |bits: u8| -> BTreeSet<Capability> {
            (0..5).filter(|n| bits & 1 << n != 0).map(|n| Capability::Environment { name: format!("V{n}") }).collect()
        };
        let requests: Vec<_> = set(asked).into_iter().map(|capability| request(capability, false)).collect();
        let held: Vec<_> = Effective::of(&requests, &set(granted)).iter().cloned().collect();
        prop_assert!(held.iter().all(|capability| set(granted).contains(capability) && set(asked).contains(capability)));
        let wider = Effective::of(&requests, &set(granted | more));
        prop_assert!(held.iter().all(|capability| wider.iter().any(|other| other == capability)));
    }
}

#[test]
fn what_is_forgotten_was_never_asked() {
    let mut grants = Grants::default();
    let wish = [request(workspace(), true)];
    grants.allow(&id("map"), digest(1), BTreeSet::from([workspace()]));
    grants.allow(&id("other"), digest(2), BTreeSet::new());
    assert!(grants.forget(&id("map")) && !grants.forget(&id("map")));
    let trust = grants.trust(Source::User, &id("map"), &digest(1), &wish);
    assert_eq!(trust, Trust::Waiting { missing: wish.to_vec() }, "neither granted nor modified");
    assert!(grants.of(&digest(2)).is_some());
}
