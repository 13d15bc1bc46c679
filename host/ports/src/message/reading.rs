//! Reading messages from JSON in one pass.
//!
//! A message says its role in a field, and a piece its type. What serde derives for such enums copies the whole object
//! aside before it knows what to read, which costs more than the reading itself when a long session is opened. Programs
//! write that field first; where it is first, the rest is read as it comes.

use super::{AssistantMessage, Content, CustomMessage, Message, ToolCall, ToolResultMessage, UserMessage};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// Something whose kind stands in one of its fields.
trait Tagged<'de>: Sized {
    /// The field's name.
    const TAG: &'static str;
    /// What is expected, for errors.
    const WHAT: &'static str;

    /// Reads the other fields.
    fn read<D: Deserializer<'de>>(tag: &str, fields: D) -> Result<Self, D::Error>;
}

struct ReadTagged<T>(PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for ReadTagged<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut before: Vec<(String, Value)> = Vec::new();
        while let Some(key) = map.next_key_seed(Key { tag: T::TAG })? {
            let Some(other) = key else {
                let tag: String = map.next_value()?;
                if before.is_empty() {
                    return T::read(&tag, MapAccessDeserializer::new(map));
                }
                while let Some(field) = map.next_entry()? {
                    before.push(field);
                }
                let fields = MapDeserializer::<_, serde_json::Error>::new(before.into_iter());
                return T::read(&tag, fields).map_err(A::Error::custom);
            };
            before.push((other, map.next_value()?));
        }
        Err(A::Error::missing_field(T::TAG))
    }
}

/// Reads a field's name: `None` for the tag's.
struct Key {
    tag: &'static str,
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Option<String>, E> {
        Ok((name != self.tag).then(|| name.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadTagged(PhantomData))
    }
}

impl<'de> Tagged<'de> for Message {
    const TAG: &'static str = "role";
    const WHAT: &'static str = "a message with its role";

    fn read<D: Deserializer<'de>>(role: &str, fields: D) -> Result<Self, D::Error> {
        match role {
            "user" => UserMessage::deserialize(fields).map(Self::User),
            "assistant" => AssistantMessage::deserialize(fields).map(Self::Assistant),
            "toolResult" => ToolResultMessage::deserialize(fields).map(Self::ToolResult),
            "custom" => CustomMessage::deserialize(fields).map(Self::Custom),
            other => Err(D::Error::unknown_variant(other, &["user", "assistant", "toolResult", "custom"])),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadTagged(PhantomData))
    }
}

impl<'de> Tagged<'de> for Content {
    const TAG: &'static str = "type";
    const WHAT: &'static str = "a piece of a message with its type";

    fn read<D: Deserializer<'de>>(kind: &str, fields: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Text {
            text: String,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Thinking {
            thinking: String,
            #[serde(default)]
            thinking_signature: Option<String>,
            #[serde(default)]
            redacted: bool,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Image {
            data: String,
            mime_type: String,
        }
        match kind {
            "text" => Text::deserialize(fields).map(|Text { text }| Self::Text { text }),
            "thinking" => Thinking::deserialize(fields).map(|read| {
                let Thinking { thinking, thinking_signature, redacted } = read;
                Self::Thinking { thinking, thinking_signature, redacted }
            }),
            "image" => {
                Image::deserialize(fields).map(|Image { data, mime_type }| Self::Image { data, mime_type })
            }
            "toolCall" => ToolCall::deserialize(fields).map(Self::ToolCall),
            other => Err(D::Error::unknown_variant(other, &["text", "thinking", "image", "toolCall"])),
        }
    }
}

/// Pieces, in a vector without room to spare: most messages have one piece, and a session keeps all of them.
pub(super) fn pieces<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
    deserializer.deserialize_seq(ReadPieces { text_too: false })
}

/// The same, and a bare string as one piece of text.
pub(super) fn pieces_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
    deserializer.deserialize_any(ReadPieces { text_too: true })
}

struct ReadPieces {
    text_too: bool,
}

impl<'de> Visitor<'de> for ReadPieces {
    type Value = Vec<Content>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.text_too { "text or pieces" } else { "pieces" })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<Content>, E> {
        if self.text_too {
            return Ok(vec![Content::text(text)]);
        }
        Err(E::invalid_type(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Content>, A::Error> {
        let mut pieces = Vec::with_capacity(1);
        while let Some(piece) = seq.next_element()? {
            pieces.push(piece);
        }
        pieces.shrink_to_fit();
        Ok(pieces)
    }
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
