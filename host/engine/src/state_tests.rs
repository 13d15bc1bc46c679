use super::*;
use crate::limits::Role;

fn limiter(memory_bytes: usize) -> Limiter {
    Limiter::new(&Limits { memory_bytes, ..Limits::of(Role::Tool) })
}

// reliability M3
#[test]
fn many_memories_share_one_limit() {
    let mut limiter = limiter(100);
    assert!(limiter.memory_growing(0, 60, None).unwrap());
    assert!(limiter.memory_growing(0, 40, None).unwrap());
    assert!(!limiter.memory_growing(40, 41, None).unwrap());
    assert_eq!(limiter.refused, Some("memory"));
}

// reliability M4
#[test]
fn a_growth_that_the_system_refused_is_not_counted() {
    let mut limiter = limiter(100);
    assert!(limiter.memory_growing(0, 90, None).unwrap());
    limiter.memory_grow_failed(wasmtime::Error::msg("out of memory")).unwrap();
    assert!(limiter.memory_growing(0, 100, None).unwrap());
}

fn state(limits: &Limits) -> State {
    let scope = Scope::new(Identity::unnamed(), SessionId::new("test"), CancellationToken::new(), limits);
    State::new(None, Captured::default(), scope, limits)
}

// reliability C13
#[test]
fn a_call_too_many_is_an_error_and_the_next_call_counts_anew() {
    let limits = Limits { host_calls: 2, ..Limits::of(Role::Tool) };
    let mut state = state(&limits);
    state.count_host_call().unwrap();
    state.count_host_call().unwrap();
    let error = state.count_host_call().unwrap_err().to_string();
    assert!(error.contains("more than 2 times"), "{error}");
    let scope = Scope::new(Identity::unnamed(), SessionId::new("test"), CancellationToken::new(), &limits);
    state.begin(scope, &limits);
    state.count_host_call().unwrap();
    let meter = state.scope.identity.meter.clone();
    drop(state);
    assert_eq!(meter.read().host_calls, 1, "a call that is dropped is counted too");
}

// reliability F16
#[test]
fn an_instance_that_is_kept_gets_a_new_account_for_each_call() {
    let limits = Limits { written_bytes: 10, ..Limits::of(Role::Tool) };
    let mut state = state(&limits);
    let stream = state.quota.clone();
    stream.book(11).unwrap_err();
    state.begin(
        Scope::new(Identity::unnamed(), SessionId::new("test"), CancellationToken::new(), &limits),
        &limits,
    );
    stream.book(10).unwrap();
    state.settle();
    state.settle();
    let used = state.scope.identity.meter.read();
    assert_eq!(used.written_bytes, 10, "counted once");
}
