use super::*;
use crate::machine::{self, Allocation};
use std::time::{Duration, Instant};

/// Threads of this process that tick. A thread's name is cut at 15 bytes, which this one just fits.
fn tickers() -> usize {
    let ticks = |thread: std::io::Result<std::fs::DirEntry>| {
        let name = thread.and_then(|thread| std::fs::read_to_string(thread.path().join("comm")));
        name.is_ok_and(|name| name.trim() == "capstan-epoch")
    };
    std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .filter_map(|thread| ticks(thread).then_some(()))
        .count()
}

// C15
#[test]
fn every_engine_ticks_and_takes_its_thread_with_it() {
    let before = tickers();
    let engines: Vec<_> = (0..100)
        .map(|_| {
            let (engine, _) = machine::engine(Allocation::OnDemand, false).unwrap();
            start(&engine).unwrap();
            engine
        })
        .collect();
    // A thread takes its name after it began.
    wait_until(|ticking| ticking >= before + 100);
    drop(engines);
    wait_until(|ticking| ticking <= before);
}

fn wait_until(done: impl Fn(usize) -> bool) {
    let began = Instant::now();
    while !done(tickers()) {
        assert!(began.elapsed() < Duration::from_secs(30), "{} threads tick", tickers());
        std::thread::sleep(Duration::from_millis(10));
    }
}
