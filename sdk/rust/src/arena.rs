//! The allocator for short-lived instances.
//!
//! A Capstan instance usually lives for one call. The stock allocator grows the memory before its first answer, and
//! growing and dropping pages costs the host more than the whole call. This one hands out a static buffer from front
//! to back; only the newest block can be given back or resized. What does not fit goes to the stock allocator, so
//! nothing ever fails that would not have failed without it.
#![allow(
    unsafe_code,
    reason = "a global allocator is unsafe to implement; the contract is written at each use"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// Enough for the arguments, the JSON work and the answer of an ordinary call; more would only cost address space.
const ARENA_BYTES: usize = 96 * 1024;

#[repr(align(16))]
struct Buffer(UnsafeCell<[u8; ARENA_BYTES]>);

pub(crate) struct Arena {
    buffer: Buffer,
    /// Offset of the first free byte; never above `ARENA_BYTES`.
    used: Cell<usize>,
}

// SAFETY: a core module without the `atomics` feature has one thread, and the module is compiled only without it.
unsafe impl Sync for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self { buffer: Buffer(UnsafeCell::new([0; ARENA_BYTES])), used: Cell::new(0) }
    }

    fn start(&self) -> *mut u8 {
        self.buffer.0.get().cast()
    }

    /// The offset of a block of ours, `None` for a block of the stock allocator.
    fn offset(&self, block: *mut u8) -> Option<usize> {
        let offset = (block as usize).checked_sub(self.start() as usize)?;
        (offset < ARENA_BYTES).then_some(offset)
    }

    /// Whether the block at `offset` is the newest one, which ends where the free space begins.
    fn is_newest(&self, offset: usize, bytes: usize) -> bool {
        offset + bytes == self.used.get()
    }
}

// SAFETY: a block of ours lies in `start..start + used`, aligned as asked, and `used` only moves back over the newest
// block when its owner gives it back; so live blocks never overlap. Blocks outside the buffer are the stock
// allocator's, which gets them back with the layout they were made with.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let address = self.start() as usize + self.used.get();
        let offset = self.used.get() + address.next_multiple_of(layout.align()) - address;
        match offset.checked_add(layout.size()) {
            // A block of no bytes at the very end would not count as ours in `offset`.
            Some(end) if end <= ARENA_BYTES && offset < ARENA_BYTES => {
                self.used.set(end);
                // SAFETY: `offset` lies inside the buffer.
                unsafe { self.start().add(offset) }
            }
            // SAFETY: the caller's promise about the layout is passed on.
            _ => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.offset(block) {
            Some(offset) if self.is_newest(offset, layout.size()) => self.used.set(offset),
            Some(_) => {}
            // SAFETY: a block outside the buffer came from the stock allocator.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let Some(offset) = self.offset(block) else {
            // SAFETY: a block outside the buffer came from the stock allocator.
            return unsafe { System.realloc(block, layout, bytes) };
        };
        if self.is_newest(offset, layout.size()) && bytes <= ARENA_BYTES - offset {
            self.used.set(offset + bytes);
            return block;
        }
        if bytes <= layout.size() {
            return block;
        }
        // SAFETY: the alignment was valid before, and the caller promises that the new size is valid with it. The old
        // block stays where it is until after the copy, so the two cannot overlap.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size());
                self.dealloc(block, layout);
            }
            new
        }
    }
}

#[cfg(test)]
#[path = "arena_tests.rs"]
mod tests;
