use super::*;

#[test]
fn a_wish_changes_its_role_alone_and_leaves_the_rest() {
    let mut table = LimitTable::default();
    let wish = LimitChange { deadline_ms: Some(60_000), memory_mb: Some(64), ..LimitChange::default() };
    table.change("tool", &wish).unwrap();
    let expected =
        Limits { deadline: Duration::from_secs(60), memory_bytes: 64 << 20, ..Limits::of(Role::Tool) };
    assert_eq!(*table.of(Role::Tool), expected);
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Tool) {
        assert_eq!(*table.of(role), Limits::of(role), "{role:?}");
    }
}

#[test]
fn a_limit_beyond_its_ceiling_is_refused_by_name_and_changes_nothing() {
    let mut table = LimitTable::default();
    let wish = LimitChange { memory_mb: Some(10_000), ..LimitChange::default() };
    let error = table.change("hook", &wish).unwrap_err().to_string();
    assert_eq!(error, "`[limits.hook]`: memory_mb must be from 1 to 512");
    let none = LimitChange { deadline_ms: Some(0), ..LimitChange::default() };
    assert!(table.change("hook", &none).is_err());
    assert_eq!(table, LimitTable::default());
}

#[test]
fn roles_that_do_not_exist_or_are_fixed_are_refused() {
    let mut table = LimitTable::default();
    for role in ["tools", "describe", ""] {
        assert!(matches!(table.change(role, &LimitChange::default()), Err(LimitError::Role(_))), "{role}");
    }
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Describe) {
        table.change(role.name(), &LimitChange::default()).unwrap();
    }
    assert_eq!(table, LimitTable::default());
}
