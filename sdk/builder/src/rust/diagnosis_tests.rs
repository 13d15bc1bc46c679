use super::diagnose_on;
use crate::finding::Status;
use crate::rust::fakes::FakeMachine;
use crate::rust::target::GuestTarget;
use crate::rust::toolchain::resolve;

fn statuses(fake: &FakeMachine) -> Vec<(String, Status)> {
    diagnose_on(&fake.machine, &fake.cache()).into_iter().map(|f| (f.subject, f.status)).collect()
}

fn of(fake: &FakeMachine, target: GuestTarget) -> super::Finding {
    diagnose_on(&fake.machine, &fake.cache()).into_iter().find(|f| f.subject == target.as_str()).unwrap()
}

#[test]
fn everything_is_looked_at_and_nothing_written() {
    let fake = FakeMachine::new();
    let subjects: Vec<String> = statuses(&fake).into_iter().map(|(subject, _)| subject).collect();
    assert_eq!(subjects, ["cargo", "component linker", "wasm32-unknown-unknown", "wasm32-wasip2"]);
    assert!(!fake.cache().exists());
}

#[test]
fn whatever_is_not_ready_has_a_remedy_or_mends_itself() {
    let mut fake = FakeMachine::new();
    fake.machine.cargo = None;
    for finding in diagnose_on(&fake.machine, &fake.cache()) {
        assert_eq!(finding.status, Status::Missing, "{finding:?}");
        assert!(finding.remedy.is_some(), "{finding:?}");
    }
}

#[test]
fn a_target_goes_from_can_be_made_to_ready() {
    let fake = FakeMachine::new();
    fake.distribution_compiler();
    fake.rustup_linkers();
    fake.cargo_that_builds_std();
    let target = GuestTarget::Unknown;
    assert_eq!(of(&fake, target).status, Status::CanBeMade);
    resolve(&fake.machine, target, &fake.cache(), &|_| {}).unwrap();
    let finding = of(&fake, target);
    assert_eq!((finding.status, finding.remedy), (Status::Ready, None));
    assert!(finding.detail.contains("wasm32-unknown-unknown-1.96.0"), "{}", finding.detail);
}

#[test]
fn rustup_is_expected_to_help_unless_forbidden() {
    let mut fake = FakeMachine::new();
    fake.rustup("exit 0");
    assert_eq!(of(&fake, GuestTarget::Wasip2).status, Status::CanBeMade);
    assert_eq!(of(&fake, GuestTarget::Wasip2).remedy.as_deref(), Some("rustup target add wasm32-wasip2"));
    fake.machine.may_install = false;
    assert_eq!(of(&fake, GuestTarget::Wasip2).status, Status::Missing);
}

#[test]
fn without_rustup_the_distribution_s_linkers_are_recommended() {
    let mut fake = FakeMachine::new();
    fake.machine.apt_get = Some("/usr/bin/apt-get".into());
    let linker = diagnose_on(&fake.machine, &fake.cache())
        .into_iter()
        .find(|f| f.subject == "component linker")
        .unwrap();
    assert_eq!(
        linker.remedy.as_deref(),
        Some("sudo apt-get install --no-install-recommends rust-web-llvm lld-22")
    );
}
