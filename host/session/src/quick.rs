//! Reading the line of a message in one pass.
//!
//! Nearly all of a session is messages, written with their type first. Those are read here as they come. Whatever is not
//! like that is left to the general way, which also decides what is an error: this one only ever says what the general
//! one would say, sooner.

use capstan_ports::entry::{Entry, EntryKind};
use capstan_ports::{EntryId, Message};
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::sync::Arc;

/// The entry, when the line is of a message that this version knows and in the form that programs write.
pub(crate) fn message_entry(text: &str) -> Option<Entry> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let Quick(entry) = Quick::deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(entry)
}

struct Quick(Entry);

impl<'de> Deserialize<'de> for Quick {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadLine)
    }
}

struct ReadLine;

impl<'de> Visitor<'de> for ReadLine {
    type Value = Quick;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the line of a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Quick, A::Error> {
        if map.next_key::<Key>()? != Some(Key::Type) || !map.next_value::<IsMessage>()?.0 {
            return Err(A::Error::custom("not a message"));
        }
        let mut id: Option<EntryId> = None;
        let mut parent_id: Option<Option<EntryId>> = None;
        let mut timestamp: Option<String> = None;
        let mut message: Option<Message> = None;
        while let Some(key) = map.next_key()? {
            match key {
                Key::Id if id.is_none() => id = Some(map.next_value()?),
                Key::ParentId if parent_id.is_none() => parent_id = Some(map.next_value()?),
                Key::Timestamp if timestamp.is_none() => timestamp = Some(map.next_value()?),
                Key::Message if message.is_none() => message = Some(map.next_value()?),
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
                Key::Type | Key::Id | Key::ParentId | Key::Timestamp | Key::Message => {
                    return Err(A::Error::custom("a field appears twice"));
                }
            }
        }
        let (Some(id), Some(message)) = (id, message) else {
            return Err(A::Error::custom("a field is missing"));
        };
        Ok(Quick(Entry {
            id,
            parent_id: parent_id.flatten(),
            timestamp: timestamp.unwrap_or_default(),
            kind: EntryKind::message(Arc::new(message)),
        }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Type,
    Id,
    ParentId,
    Timestamp,
    Message,
    #[serde(other)]
    Other,
}

/// Whether a type is that of messages.
struct IsMessage(bool);

impl<'de> Deserialize<'de> for IsMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ReadType)
    }
}

struct ReadType;

impl Visitor<'_> for ReadType {
    type Value = IsMessage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a type")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<IsMessage, E> {
        Ok(IsMessage(text == "message"))
    }
}

#[cfg(test)]
#[path = "quick_tests.rs"]
mod tests;
