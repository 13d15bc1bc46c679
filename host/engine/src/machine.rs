//! The wasmtime engine as extensions get it: which features, which allocator, which stacks.

use crate::error::EngineError;
use crate::limits::{ASYNC_STACK, MAX_CONCURRENT_CALLS, MAX_KEPT, MAX_MEMORY, MAX_WASM_STACK};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

/// How instances get their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// From slots that are reserved at start and reused: a fresh instance costs microseconds.
    Pooled,
    /// From the system, call by call. Slower; needs no reserved address space.
    OnDemand,
}

/// An engine with a pool, or without one where the address space does not allow it.
pub(crate) fn engine(wanted: Allocation, lines: bool) -> Result<(Engine, Allocation), EngineError> {
    if wanted == Allocation::Pooled {
        let mut config = config(lines);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
        match Engine::new(&config) {
            Ok(engine) => return Ok((engine, Allocation::Pooled)),
            Err(reason) => tracing::info!(
                reason = %reason,
                "no address space for the instance pool; extensions work, each call costs some microseconds more"
            ),
        }
    }
    let engine = Engine::new(&config(lines))
        .map_err(|source| EngineError { action: "setting up wasmtime", source: source.into() })?;
    Ok((engine, Allocation::OnDemand))
}

/// `lines`: whether traps name files and lines. Said in any case: what wasmtime does by itself depends on a variable of the environment,
/// which the compiler's process does not have.
fn config(lines: bool) -> Config {
    let mut config = Config::new();
    let details = if lines { WasmBacktraceDetails::Enable } else { WasmBacktraceDetails::Disable };
    config.wasm_backtrace_details(details);
    // Component-model async is left out at build time as well; calls are several times cheaper without it.
    config.epoch_interruption(true);
    config.cranelift_opt_level(OptLevel::Speed);
    config.max_wasm_stack(MAX_WASM_STACK);
    config.async_stack_size(ASYNC_STACK);
    // The heap images of JavaScript and Python guests are larger than the default of 16 MiB.
    config.memory_guaranteed_dense_image_size(64 << 20);
    config.wasm_memory64(false);
    // Components that are made of components, as all of QuickJS are, need adapters with two memories between their parts;
    // wasmtime makes these and panics where it may not. The limit counts all memories of a component together.
    config.wasm_multi_memory(true);
    // QuickJS is compiled with tail calls. They cannot recurse without end in less stack: the deadline ends them like a loop.
    config.wasm_tail_call(true);
    config
}

/// Slots for memories. Far more than calls have at a time: a slot that serves the same code again is reset in a microsecond, one
/// that is given to other code is mapped anew. wasmtime deals slots out by thread, so each thread's share has to hold a slot
/// for each extension in use. A slot is address space; what it keeps of memory is what its code has touched.
const MEMORIES: u32 = 512;

fn pool() -> PoolingAllocationConfig {
    // Those that work, and those that wait for their next call.
    let calls = (MAX_CONCURRENT_CALLS + MAX_KEPT) as u32;
    let mut pool = PoolingAllocationConfig::new();
    // A component of the preview-1 adapter kind has four core modules, and QuickJS and Python ones have more.
    pool.total_component_instances(calls)
        .total_core_instances(8 * calls)
        .total_memories(MEMORIES)
        .total_tables(8 * calls)
        .total_stacks(calls)
        .max_core_instances_per_component(32)
        .max_memories_per_component(8)
        .max_tables_per_component(32)
        .max_tables_per_module(4)
        .table_elements(100_000)
        .max_core_instance_size(4 << 20)
        .max_component_instance_size(8 << 20)
        .max_memory_size(MAX_MEMORY)
        .max_unused_warm_slots(MEMORIES);
    // Resetting a used slot: with PAGEMAP_SCAN (Linux 6.7) only the pages that were written are copied back, so much may
    // stay resident; without it the whole kept part is overwritten each time, so little may.
    pool.pagemap_scan(Enabled::Auto);
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.linear_memory_keep_resident(16 << 20).table_keep_resident(1 << 20);
    } else {
        pool.linear_memory_keep_resident(64 << 10).table_keep_resident(16 << 10);
    }
    pool
}
