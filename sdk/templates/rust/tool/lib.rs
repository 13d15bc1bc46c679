//! A tool for the model. The comments on the arguments are what the model reads; the types are schema and validation.

use capstan_sdk::prelude::*;

/// Counts the words and lines of a text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The text.
    text: String,
    /// Count lines as well.
    #[serde(default)]
    lines: bool,
}

fn count(arguments: Arguments, _call: &Call) -> Result<String> {
    if arguments.text.is_empty() {
        return Err(Error::new("`text` is empty: give the text to count"));
    }
    let words = arguments.text.split_whitespace().count();
    Ok(if arguments.lines {
        format!("{words} words, {} lines", arguments.text.lines().count())
    } else {
        format!("{words} words")
    })
}

capstan_sdk::extension! {
    summary: "Counts words.",
    tools: [tool("count_words", count)],
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_what_stands_between_spaces() {
        let arguments = json!({ "text": "one  two\nthree" });
        let result = capstan_sdk::testing::call_tool::<Extension>("count_words", arguments);
        assert_eq!(
            result.map(|result| result.as_text()),
            Ok("3 words".to_owned())
        );
    }
}
