//! What a server answers, as what the model reads.

use capstan_ports::{Content, ToolOutcome};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Pictures that models look at. One of another kind, or whose data is none, would make the provider refuse the whole conversation.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The answer of a tool. What is structured goes to programs as details, and to the model only where there is nothing else.
pub(crate) fn outcome(result: CallToolResult) -> ToolOutcome {
    let mut content: Vec<Content> = result.content.into_iter().map(block).collect();
    if content.is_empty() {
        content.push(Content::text(match &result.structured_content {
            Some(value) => value.to_string(),
            None => "(the tool answered without content)".to_owned(),
        }));
    }
    ToolOutcome {
        content,
        details: result.structured_content,
        is_error: result.is_error.unwrap_or(false),
        terminate: false,
    }
}

fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::text(text.text),
        ContentBlock::Image(image) if is_picture(&image.mime_type, &image.data) => {
            Content::Image { data: image.data, mime_type: image.mime_type }
        }
        ContentBlock::Image(image) => {
            Content::text(format!("[Image: {}, {} characters; not shown]", image.mime_type, image.data.len()))
        }
        ContentBlock::Audio(audio) => Content::text(format!(
            "[Audio: {}, {} characters; not played]",
            audio.mime_type,
            audio.data.len()
        )),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                Content::text(format!("[Resource: {uri}]\n{text}"))
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.unwrap_or_else(|| "bytes".to_owned());
                Content::text(format!("[Resource: {uri}, {kind}, {} characters; not shown]", blob.len()))
            }
            _ => Content::text("[Resource of an unknown kind]"),
        },
        ContentBlock::ResourceLink(link) => {
            let mut text = format!("[Resource: {} ({})", link.uri, link.title.unwrap_or(link.name));
            for more in [link.mime_type, link.description].into_iter().flatten() {
                text.push_str(", ");
                text.push_str(&more);
            }
            Content::text(text + "]")
        }
        // The protocol grows; what came is at least named.
        other => Content::text(format!("[{}]", kind_of(&other))),
    }
}

fn kind_of(block: &ContentBlock) -> String {
    let value = serde_json::to_value(block).unwrap_or_default();
    value.get("type").and_then(serde_json::Value::as_str).unwrap_or("unknown content").to_owned()
}

fn is_picture(mime_type: &str, data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    PICTURES.contains(&mime_type)
        && !digits.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
