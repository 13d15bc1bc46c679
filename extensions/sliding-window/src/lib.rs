//! A compressor that moves a window over a long conversation: the first request and the newest messages stay, and a note says
//! what was left out between them. It asks no model, so it costs nothing and gives the same result each time.

mod conversation;
mod note;
mod settings;

use capstan_sdk::prelude::*;

use conversation::Piece;
use note::Note;
use settings::Config;

/// The share of the budget that the note may take.
const NOTE_SHARE: usize = 8;

/// What it takes at least, in tokens: its first line.
const NOTE_TOKENS: usize = 70;

fn window(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    let config = config::get::<Config>()?.checked()?;
    let window = if context.window_tokens == 0 { config.window_tokens } else { context.window_tokens };
    let room = f64::from(window.saturating_sub(context.reserve_tokens));
    let used = f64::from(context.used_tokens);
    if used <= room * config.start || window == 0 {
        return Ok(Action::None);
    }
    // Both numbers count the same messages; the host's also knows what the provider counted, instructions and tools
    // among it.
    let estimated: usize = messages.iter().map(conversation::tokens).sum();
    let factor = (estimated as f64 / used).min(1.0);
    let budget = (room * config.keep * factor) as usize;
    Ok(shortened(messages, budget).map_or(Action::None, Action::Replace))
}

/// The conversation in about so many tokens, or `None` where nothing can go.
fn shortened(messages: Vec<Message>, budget: usize) -> Option<Vec<Message>> {
    let mut note = Note::default();
    let mut pieces = Vec::new();
    for piece in conversation::pieces(messages) {
        match piece.messages.first().and_then(Note::of) {
            Some(earlier) => note.add_earlier(earlier),
            None => pieces.push(piece),
        }
    }
    let for_note = (budget / NOTE_SHARE).max(NOTE_TOKENS);
    let stays = chosen(&pieces, budget.saturating_sub(for_note));
    if stays.iter().all(|stays| *stays) {
        return None;
    }
    let mut left_out = Note::default();
    for (piece, _) in pieces.iter().zip(&stays).filter(|(_, stays)| !**stays) {
        left_out.add(piece);
    }
    left_out.add_earlier(note);
    let mut kept = Vec::new();
    let mut told = false;
    for (piece, stays) in pieces.into_iter().zip(stays) {
        if stays {
            kept.extend(piece.messages);
        } else if !told {
            kept.push(left_out.message(for_note * 4));
            told = true;
        }
    }
    Some(kept)
}

/// Which pieces stay: what the host says, the first request, the present one, the newest piece, and then from the end as many
/// as fit.
fn chosen(pieces: &[Piece], budget: usize) -> Vec<bool> {
    let is_user = |piece: &Piece| piece.role() == Some(Role::User);
    let first = pieces.iter().position(is_user);
    let present = pieces.iter().rposition(is_user);
    let newest = pieces.len().checked_sub(1);
    let mut stays: Vec<bool> = pieces.iter().map(|piece| piece.role() == Some(Role::System)).collect();
    for at in [first, present, newest].into_iter().flatten() {
        stays[at] = true;
    }
    let mut used: usize =
        pieces.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(piece, _)| piece.tokens).sum();
    for at in (0..pieces.len()).rev() {
        if stays[at] {
            continue;
        }
        used += pieces[at].tokens;
        // What is older than the first that does not fit goes as well: a gap within would mislead.
        if used > budget {
            break;
        }
        stays[at] = true;
    }
    stays
}

capstan_sdk::extension! {
    summary: "Keeps the first request and the newest messages of a long conversation, and says what it left out.",
    config: config::schema::<Config>(),
    requests: [Request::power(Power::Compress, "It leaves old messages out when a conversation no longer fits.")],
    compressors: [compressor("window", window)],
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
