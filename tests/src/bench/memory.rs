//! How long it takes to find something among a hundred thousand documents, and to show a thousand facts.

use crate::figure::{Figures, Unit};
use anyhow::{Result, ensure};
use capstan_ports::memory_store::MemoryRecord;
use capstan_ports::{MemoryPort, MemoryQuery};
use capstan_runtime::{InMemoryStore, MemoryRetriever, SessionMemory};
use capstan_storage::{REMEMBERED, SqliteMemory};
use std::sync::Arc;
use std::time::Instant;

const GROUP: &str = "memory";
const N_DOCUMENTS: usize = 100_000;
const N_WORDS: usize = 60;
const N_QUERY_WORDS: usize = 3;
/// Words that there are. How often each stands in the documents falls with its rank, as in any language.
const VOCABULARY: f64 = 20_000.0;
const N_QUERIES: usize = 200;
const N_FACTS: usize = 1_000;
const N_SNAPSHOTS: usize = 200;

/// Measures the group.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    if figures.wants(GROUP, "memory_retrieve_100k") {
        runtime.block_on(retrieve(figures))?;
    }
    if figures.wants(GROUP, "memory_snapshot_1000") {
        runtime.block_on(snapshot(figures))?;
    }
    Ok(())
}

/// Searches for three words each, common and rare ones as they come, for the five best documents.
async fn retrieve(figures: &mut Figures) -> Result<()> {
    let root = tempfile::tempdir()?;
    let memory = SqliteMemory::new(root.path().join("memory.sqlite"));
    let mut words = Words(1);
    for chunk in (0..N_DOCUMENTS).collect::<Vec<_>>().chunks(10_000) {
        let record = |n: &usize| MemoryRecord::new(REMEMBERED, format!("{n:06}"), words.text(N_WORDS));
        memory.change(REMEMBERED, chunk.iter().map(record).collect(), Vec::new()).await?;
    }
    let retriever = MemoryRetriever::over(Arc::new(memory));
    let mut times = Vec::with_capacity(N_QUERIES);
    let mut n_found = 0;
    for _ in 0..N_QUERIES {
        let query = MemoryQuery::new(words.text(N_QUERY_WORDS));
        let began = Instant::now();
        let found = retriever.search(&query).await?;
        times.push(began.elapsed());
        n_found += usize::from(found.len() == query.top_k);
    }
    ensure!(n_found > N_QUERIES / 2, "only {n_found} of {N_QUERIES} searches found enough");
    figures.times("memory_retrieve_100k", Unit::Milliseconds, Some(10.0), &times);
    Ok(())
}

async fn snapshot(figures: &mut Figures) -> Result<()> {
    let memory = SessionMemory::new(Arc::new(InMemoryStore::new()), "_session_bench");
    for n in 0..N_FACTS {
        memory.set(&format!("key {n}"), &format!("the value of key {n}, some words long")).await?;
    }
    let mut times = Vec::with_capacity(N_SNAPSHOTS);
    for _ in 0..N_SNAPSHOTS {
        let began = Instant::now();
        let text = memory.snapshot().await?;
        times.push(began.elapsed());
        ensure!(text.lines().count() == N_FACTS + 2, "not all facts were shown");
    }
    figures.times("memory_snapshot_1000", Unit::Milliseconds, Some(1.0), &times);
    Ok(())
}

/// The same words in each run.
struct Words(u64);

impl Words {
    fn text(&mut self, n_words: usize) -> String {
        (0..n_words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self) -> String {
        // Knuth's numbers for a generator; its upper bits are random enough for this.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        // Even over the logarithm of the rank: the word of rank n stands about 1/n as often as the first.
        format!("word{}", VOCABULARY.powf(share) as u64)
    }
}
