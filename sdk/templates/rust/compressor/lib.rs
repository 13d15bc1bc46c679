//! A compressor: it is shown the conversation before each model call and says what is to be done so that it fits. It computes its
//! answer from the conversation alone, so it is called without any grant.

use capstan_sdk::SummaryOrder;
use capstan_sdk::prelude::*;

/// Messages at the end that stay as they are.
const KEPT: usize = 6;

/// Has the older half summarized once less than a quarter of the window is left.
fn shorten(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    let room = context.window_tokens.saturating_sub(context.reserve_tokens);
    if context.window_tokens == 0 || context.used_tokens < room / 4 * 3 || messages.len() <= KEPT {
        return Ok(Action::None);
    }
    let mut instructions =
        "Keep decisions, names of files, and what is still to be done.".to_owned();
    if let Some(wish) = &context.instructions {
        instructions = format!("{instructions} {wish}");
    }
    // The host moves the cut where it would separate a call from its result.
    let first_kept = u32::try_from(messages.len() - KEPT)?;
    Ok(Action::Summarize(SummaryOrder {
        first_kept,
        instructions,
    }))
}

capstan_sdk::extension! {
    summary: "Has old messages summarized before the window is full.",
    requests: [Request::power(Power::Compress, "to shorten conversations that grow too long")],
    compressors: [compressor("three-quarters", shorten)],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(used_tokens: u32) -> Compaction {
        Compaction {
            session_id: "test".to_owned(),
            window_tokens: 8000,
            used_tokens,
            reserve_tokens: 1000,
            instructions: None,
        }
    }

    #[test]
    fn a_conversation_is_left_alone_until_the_window_fills() {
        let messages: Vec<_> = (0..10)
            .map(|n| Message::user(format!("message {n}")))
            .collect();
        assert!(matches!(
            shorten(messages.clone(), &context(2000)),
            Ok(Action::None)
        ));
        let Ok(Action::Summarize(order)) = shorten(messages, &context(6000)) else {
            panic!("it is to be summarized");
        };
        assert_eq!(order.first_kept, 4);
    }
}
