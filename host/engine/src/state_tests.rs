use super::*;
use crate::limits::Role;

fn limiter(memory_bytes: usize) -> Limiter {
    Limiter::new(&Limits { memory_bytes, ..Limits::of(Role::Tool) }, Arc::default())
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
