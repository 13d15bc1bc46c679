//! Digests entries in pieces, and large ones on several threads.
//!
//! The code of a JavaScript guest has 37 MB. One thread digests them in 20 ms; two copy and digest them in half of that. So an entry
//! is digested in pieces of a fixed size, and the keyed digest covers the digests of all pieces, in order, and the length.

use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of one piece. Part of the form of an entry: another size is another form.
const PIECE: usize = 1 << 20;

/// Below this many bytes a second thread costs more than it saves.
pub(super) const WORTH_A_THREAD: usize = 4 * PIECE;

/// More threads than this compete for the memory and not for processors.
const MAX_LANES: usize = 4;

/// The digests of the pieces of an entry.
pub(super) type Sum = Vec<[u8; 32]>;

/// The digests of what is in memory.
pub(super) fn sum(bytes: &[u8]) -> Sum {
    bytes.chunks(PIECE).map(|piece| Sha256::digest(piece).into()).collect()
}

/// Reads `length` bytes from `offset` on, with the digests of what was read.
pub(super) fn read(file: &File, offset: u64, length: usize) -> io::Result<(Vec<u8>, Sum)> {
    let mut bytes = vec![0; length];
    let mut sum = Sum::new();
    for (at, piece) in bytes.chunks_mut(PIECE).enumerate() {
        file.read_exact_at(piece, offset + (at * PIECE) as u64)?;
        sum.push(Sha256::digest(&*piece).into());
    }
    Ok((bytes, sum))
}

/// Copies `length` bytes from `offset` on to the beginning of another file, with the digests of what was copied. Each thread
/// takes a share of the pieces; a piece passes through the processor's own memory once, to be digested and to be written.
pub(super) fn copy(file: &File, offset: u64, length: usize, to: &File) -> io::Result<Sum> {
    let mut sum = vec![[0; 32]; length.div_ceil(PIECE)];
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_LANES);
    let share = sum.len().div_ceil(lanes).max(1);
    let work = |first: usize, sum: &mut [[u8; 32]]| -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        for (number, digest) in (first..).zip(sum) {
            let at = number * PIECE;
            let piece = &mut piece[..PIECE.min(length - at)];
            file.read_exact_at(piece, offset + at as u64)?;
            *digest = Sha256::digest(&*piece).into();
            to.write_all_at(piece, at as u64)?;
        }
        Ok(())
    };
    std::thread::scope(|threads| {
        let mut shares = sum.chunks_mut(share).enumerate();
        let own = shares.next();
        let others: Vec<_> =
            shares.map(|(lane, sum)| threads.spawn(move || work(lane * share, sum))).collect();
        let first = own.map_or(Ok(()), |(_, sum)| work(0, sum));
        others.into_iter().fold(first, |so_far, other| {
            so_far
                .and(other.join().unwrap_or_else(|_panic| Err(io::Error::other("a copying thread stopped"))))
        })
    })?;
    Ok(sum)
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
