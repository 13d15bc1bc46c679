//! Pictures that `read` shows.
//!
//! Nothing is scaled: decoding every format takes more code than the rest of the tools together, and a picture that is
//! too large can be scaled with one command. Its header is looked at, because a provider answers a picture that it does
//! not take with an error, and then to every later request of the same conversation too.

use crate::text::truncate::size;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capstan_ports::message::Content;
use capstan_ports::tool::{ToolError, ToolOutcome};

/// Bytes of a picture as it is sent, in base64. Providers take 5 MB of them; the rest is a margin.
const MAX_ENCODED_BYTES: usize = 4 * 1024 * 1024 + 512 * 1024;

/// The same before encoding, where three bytes become four.
pub(super) const MAX_PICTURE_BYTES: usize = MAX_ENCODED_BYTES / 4 * 3;

/// Pixels along one side, as providers take them.
const MAX_SIDE: usize = 8000;

/// By the first bytes; a name proves nothing, and a provider refuses a whole conversation over one wrong type.
pub(super) fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The picture after a line about it.
pub(super) fn shown(path: &str, mime_type: &str, bytes: &[u8]) -> Result<ToolOutcome, ToolError> {
    let sides = imagesize::blob_size(bytes).map_err(|error| ToolError::Failed {
        message: format!(
            "{path} begins like a picture ({mime_type}), but its width and height cannot be read, so it is not shown: it \
             may be damaged; look at it with bash (file)"
        ),
        source: Some(Box::new(error)),
    })?;
    let (width, height) = (sides.width, sides.height);
    let about = format!("{mime_type}, {width}x{height} pixels, {}", size(bytes.len()));
    if bytes.len() > MAX_PICTURE_BYTES || width.max(height) > MAX_SIDE {
        return Err(ToolError::failed(format!(
            "{path} is a picture ({about}) larger than what can be shown ({}, {MAX_SIDE} pixels a side): scale it down \
             with bash into another file and read that",
            size(MAX_PICTURE_BYTES)
        )));
    }
    Ok(ToolOutcome {
        content: vec![
            Content::text(format!("[Image {about}]")),
            Content::Image { data: STANDARD.encode(bytes), mime_type: mime_type.to_owned() },
        ],
        ..ToolOutcome::default()
    })
}

#[cfg(test)]
#[path = "picture_tests.rs"]
pub(super) mod tests;
