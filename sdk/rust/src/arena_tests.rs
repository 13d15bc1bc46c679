use proptest::prelude::*;

use super::*;

#[test]
fn blocks_are_aligned_and_the_newest_one_is_reused() {
    let arena = Arena::new();
    let byte = Layout::from_size_align(1, 1).unwrap();
    let wide = Layout::from_size_align(64, 16).unwrap();
    // SAFETY: every block is given back with its own layout.
    unsafe {
        let first = arena.alloc(byte);
        let second = arena.alloc(wide);
        assert_eq!(second as usize % 16, 0);
        arena.dealloc(second, wide);
        assert_eq!(arena.alloc(wide), second);
        arena.dealloc(first, byte);
    }
}

#[test]
fn what_does_not_fit_comes_from_the_stock_allocator() {
    let arena = Arena::new();
    let big = Layout::from_size_align(ARENA_BYTES + 1, 8).unwrap();
    let full = Layout::from_size_align(ARENA_BYTES, 8).unwrap();
    // SAFETY: every block is given back with its own layout.
    unsafe {
        let outside = arena.alloc(big);
        assert!(arena.offset(outside).is_none());
        let inside = arena.alloc(full);
        assert_eq!(arena.offset(inside), Some(0));
        let grown = arena.realloc(inside, full, ARENA_BYTES + 1);
        assert!(arena.offset(grown).is_none());
        arena.dealloc(grown, big);
        arena.dealloc(outside, big);
    }
}

proptest! {
    #[test]
    fn live_blocks_keep_their_bytes(steps in prop::collection::vec((0usize..3, 1usize..9000, 0u32..5), 1..200)) {
        let arena = Arena::new();
        let mut live: Vec<(*mut u8, Layout, u8)> = Vec::new();
        for (number, (action, size, power)) in steps.into_iter().enumerate() {
            let mark = number as u8;
            // SAFETY: writes stay inside the block, and each block is used with the layout that it has at the time.
            unsafe {
                match action {
                    0 => {
                        let layout = Layout::from_size_align(size, 1 << power).unwrap();
                        let block = arena.alloc(layout);
                        prop_assert_eq!(block as usize % layout.align(), 0);
                        block.write_bytes(mark, size);
                        live.push((block, layout, mark));
                    }
                    1 if !live.is_empty() => {
                        let (block, layout, _) = live.remove(size % live.len());
                        arena.dealloc(block, layout);
                    }
                    2 if !live.is_empty() => {
                        let index = size % live.len();
                        let (block, layout, mark) = live[index];
                        let block = arena.realloc(block, layout, size);
                        block.write_bytes(mark, size);
                        live[index] = (block, Layout::from_size_align(size, layout.align()).unwrap(), mark);
                    }
                    _ => {}
                }
                for (block, layout, mark) in &live {
                    for offset in [0, layout.size() / 2, layout.size() - 1] {
                        prop_assert_eq!(block.add(offset).read(), *mark);
                    }
                }
            }
        }
        for (block, layout, _) in live {
            // SAFETY: as above.
            unsafe { arena.dealloc(block, layout) };
        }
    }
}
