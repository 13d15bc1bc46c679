//! Writing much, in every way that WASI has.

use crate::files::{directory, follow, name};
use capstan_sdk::prelude::*;
use serde_json::{Value, json};
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, filesystem_error_code};
use wasip2::io::streams::{OutputStream, StreamError};

/// A way to write.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Way {
    /// At an offset.
    Write,
    /// Another size.
    Resize,
    /// A stream, each write waiting for the disk.
    Stream,
    /// A stream that is asked whether it is ready.
    StreamWhenReady,
    /// A stream at the end.
    Append,
    /// A stream of zeroes.
    Zeroes,
    /// The same, each write waiting for the disk.
    ZeroesWaiting,
    /// From another file of the same directory, `source`.
    Splice,
    /// The same, waiting.
    SpliceWaiting,
}

/// Writes `times` pieces of `bytes`, and tells how many that were and what ended it.
pub(crate) fn fill(
    at: &str,
    path: &str,
    way: Way,
    bytes: usize,
    step: u64,
    times: u32,
) -> Result<Value, String> {
    let directory = directory(at)?;
    let mode = DescriptorFlags::READ | DescriptorFlags::WRITE;
    let file = directory.open_at(follow(true), path, OpenFlags::CREATE, mode).map_err(name)?;
    // Another size needs no bytes.
    let piece = vec![b'x'; if matches!(way, Way::Resize) { 0 } else { bytes }];
    let bytes = bytes as u64;
    for written in 0..times {
        let offset = u64::from(written) * step;
        if let Err(error) = once(&directory, &file, way, &piece, bytes, offset) {
            // What ended it ends the next smaller one as well.
            let then = file.write(b"y", 0).err().map(|error| error.name());
            return Ok(json!({ "written": written, "error": error, "then": then }));
        }
    }
    Ok(json!({ "written": times }))
}

fn once(
    directory: &Descriptor,
    file: &Descriptor,
    way: Way,
    piece: &[u8],
    bytes: u64,
    offset: u64,
) -> Result<(), &'static str> {
    let named = |error: ErrorCode| error.name();
    let stream = |made: Result<OutputStream, ErrorCode>, work: &dyn Fn(&OutputStream) -> Streamed| {
        work(&made.map_err(named)?).map_err(|error| of_stream(&error))
    };
    match way {
        Way::Write => file.write(piece, offset).map(drop).map_err(named),
        Way::Resize => file.set_size(offset + bytes).map_err(named),
        Way::Stream => stream(file.write_via_stream(offset), &|out| {
            piece.chunks(4096).try_for_each(|chunk| out.blocking_write_and_flush(chunk))
        }),
        Way::StreamWhenReady => stream(file.write_via_stream(offset), &|out| {
            let mut rest = piece;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(ready(out)?.min(rest.len()));
                out.write(now)?;
                rest = later;
            }
            out.flush()?;
            ready(out).map(drop)
        }),
        Way::Append => stream(file.append_via_stream(), &|out| {
            piece.chunks(4096).try_for_each(|chunk| out.blocking_write_and_flush(chunk))
        }),
        Way::Zeroes => stream(file.write_via_stream(offset), &|out| {
            let mut rest = bytes;
            while rest > 0 {
                let now = rest.min(ready(out)? as u64);
                out.write_zeroes(now)?;
                rest -= now;
            }
            ready(out).map(drop)
        }),
        Way::ZeroesWaiting => stream(file.write_via_stream(offset), &|out| {
            piece.chunks(4096).try_for_each(|chunk| out.blocking_write_zeroes_and_flush(chunk.len() as u64))
        }),
        Way::Splice | Way::SpliceWaiting => {
            let source = directory.open_at(follow(true), "source", OpenFlags::empty(), DescriptorFlags::READ);
            let input = source.map_err(named)?.read_via_stream(0).map_err(named)?;
            stream(file.write_via_stream(offset), &|out| {
                let mut rest = bytes;
                while rest > 0 {
                    rest -= match way {
                        Way::Splice => {
                            input.subscribe().block();
                            ready(out)?;
                            out.splice(&input, rest)?
                        }
                        _ => out.blocking_splice(&input, rest)?,
                    };
                }
                ready(out).map(drop)
            })
        }
    }
}

type Streamed = Result<(), StreamError>;

/// Waits until a stream takes something, and answers how much.
fn ready(out: &OutputStream) -> Result<usize, StreamError> {
    loop {
        match out.check_write()? {
            0 => out.subscribe().block(),
            room => return Ok(room as usize),
        }
    }
}

fn of_stream(error: &StreamError) -> &'static str {
    match error {
        StreamError::Closed => "closed",
        StreamError::LastOperationFailed(error) => {
            filesystem_error_code(error).map_or("unknown", |code| code.name())
        }
    }
}
