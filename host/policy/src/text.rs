//! Which characters of a stranger's text must not reach a screen, or a model, unseen.

/// Whether a screen would act on a character or an eye would miss it: control characters but newline and tab, line and
/// paragraph separators, bidirectional marks, and everything that takes no room.
///
/// What cannot be seen can still be read by a model: tag characters and variation selectors spell whole sentences. The two
/// selectors between text and emoji form are part of ordinary writing and pass.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | '\u{fe0e}' | '\u{fe0f}' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{feff}' => true,
        // Fillers of Hangul and vowels of Khmer that are never drawn.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' => true,
        // Mongolian selectors; zero-width characters and marks of direction; separators and overrides; invisible operators.
        '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        // Variation selectors; annotations; shorthand and musical format controls.
        '\u{fe00}'..='\u{fe0d}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' => true,
        // Tags, and the second set of variation selectors.
        '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
