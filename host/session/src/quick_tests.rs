use super::*;
use crate::entry::StoredEntry;
use proptest::prelude::*;

const HEAD: &str = r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":"#;

fn line(message: &str) -> String {
    format!("{HEAD}{message}}}")
}

#[test]
fn messages_as_programs_write_them_take_the_quick_way() {
    for message in [
        r#"{"role":"user","content":"hi","timestamp":1}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"é\n"}],"stopReason":"stop","odd":[1]}"#,
        r#"{"role":"toolResult","toolCallId":"c","toolName":"t","content":[],"isError":true}"#,
        r#"{"role":"custom","customType":"c","content":[],"display":true}"#,
    ] {
        assert!(message_entry(&line(message)).is_some(), "{message}");
    }
}

#[test]
fn everything_else_is_left_to_the_general_way() {
    let user = r#"{"role":"user","content":"hi"}"#;
    for other in [
        line(r#"{"role":"bashExecution","command":"ls"}"#),
        line(r#"{"role":"weather"}"#),
        line(user) + "x",
        line(user).replace("\"message\",", "\"label\","),
        line(user).replace("\"id\":\"a\"", "\"id\":7"),
        line(user).replace("\"id\":\"a\"", "\"x\":\"a\""),
        line(user).replace("\"parentId\"", "\"id\""),
        format!(r#"{{"id":"a","type":"message","message":{user}}}"#),
        format!(r#"["message","a",null,"t",{user}]"#),
        String::new(),
    ] {
        assert_eq!(message_entry(&other), None, "{other}");
    }
}

/// What the general way makes of a line: with another field first the quick way is not taken.
fn generally(text: &str) -> Option<Entry> {
    let moved = text.replacen('{', "{\"first\":0,", 1);
    assert_eq!(message_entry(&moved), None);
    StoredEntry::parse(moved.as_bytes()).ok().map(|stored| stored.entry().as_ref().clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn where_the_quick_way_answers_it_says_what_the_general_one_says(
        position in any::<proptest::sample::Index>(),
        byte in prop_oneof![any::<u8>(), Just(b'"'), Just(b'0'), Just(b' '), Just(b'\\')],
        role in "user|assistant|toolResult|custom|odd",
        more in r#"|,"type":"message"|,"x":\{"y":\[\]\}|,"id":"z"|,"message":1"#,
    ) {
        let message = format!(
            r#"{{"role":"{role}","content":[{{"type":"text","text":"a\u00e9"}}],"stopReason":"stop","isError":false,"toolCallId":"c","toolName":"t","customType":"c","display":true,"timestamp":1}}"#
        );
        let mut bytes = format!("{HEAD}{message}{more}}}").into_bytes();
        for changed in [false, true] {
            if changed {
                let at = position.index(bytes.len() - 1) + 1;
                bytes[at] = byte;
            }
            if let Ok(text) = std::str::from_utf8(&bytes)
                && let Some(entry) = message_entry(text)
            {
                prop_assert_eq!(generally(text), Some(entry), "{}", text);
            }
        }
    }
}
