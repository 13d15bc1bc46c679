use super::diagnose_on;
use crate::finding::Status;
use crate::javascript::fakes::FakeMachine;

#[test]
fn what_is_there_is_ready_and_what_is_not_comes_with_a_remedy() {
    let mut fake = FakeMachine::new();
    let findings = diagnose_on(&fake.machine);
    assert_eq!(findings[0].status, Status::Ready);
    assert!(findings[0].detail.starts_with("v20.1.0, "), "{findings:?}");
    assert!(findings[1].detail.starts_with("11.1.0, "), "{findings:?}");
    fake.machine.node = None;
    let missing = &diagnose_on(&fake.machine)[0];
    assert_eq!(missing.status, Status::Missing);
    assert!(missing.detail.contains("apt-get install nodejs npm"), "{missing:?}");
}
