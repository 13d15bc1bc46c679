use super::*;
use capstan_ports::{AssistantMessage, Content};
use proptest::prelude::*;

fn round_trip(line: &str) -> StoredEntry {
    let entry = StoredEntry::parse(line.as_bytes()).unwrap();
    assert_eq!(entry.to_line().unwrap(), line);
    entry
}

fn at(kind: &str) -> String {
    format!(
        r#"{{"type":"{kind}","id":"0a1b2c3d","parentId":"ffffffff","timestamp":"2026-01-02T03:04:05.678Z""#
    )
}

#[test]
fn a_message_is_written_with_the_fields_of_version_three_in_order() {
    let message = Message::User(capstan_ports::message::UserMessage {
        content: vec![Content::text("hi")],
        timestamp: 5,
    });
    let kind = EntryKind::message(Arc::new(message));
    let entry = StoredEntry::new(EntryId::new("0a1b2c3d"), None, kind, None);
    let timestamp = &entry.entry().timestamp;
    assert!(humantime::parse_rfc3339(timestamp).is_ok());
    assert_eq!(
        entry.to_line().unwrap().replace(timestamp, "T"),
        r#"{"type":"message","id":"0a1b2c3d","parentId":null,"timestamp":"T","message":{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":5}}"#
    );
}

#[test]
fn every_type_of_version_three_is_understood_and_written_as_it_was_read() {
    // 001-004, 001-005, 001-006: all fields round-trip.
    let cases = [
        (r#""provider":"p","modelId":"m"}"#, "model_change"),
        (r#""thinkingLevel":"xhigh"}"#, "thinking_level_change"),
        (
            r#""summary":"s","firstKeptEntryId":"00000001","tokensBefore":12,"details":{"a":[1]},"fromHook":true}"#,
            "compaction",
        ),
        (r#""summary":"s","firstKeptEntryId":"00000001","tokensBefore":12}"#, "compaction"),
        (r#""fromId":"root","summary":"s","details":1,"fromHook":false}"#, "branch_summary"),
        (r#""customType":"c","data":{"k":null}}"#, "custom"),
        (r#""customType":"c","content":"text","display":false,"details":[]}"#, "custom_message"),
        (r#""customType":"c","content":[{"type":"text","text":"t"}],"display":true}"#, "custom_message"),
        (r#""targetId":"00000001","label":"l"}"#, "label"),
        (r#""targetId":"00000001"}"#, "label"),
        (r#""name":"n"}"#, "session_info"),
    ];
    for (fields, kind) in cases {
        let entry = round_trip(&format!("{},{fields}", at(kind)));
        assert_eq!(entry.entry().kind.type_name(), kind);
        assert!(!matches!(entry.entry().kind, EntryKind::Unknown(_)), "{fields}");
        let line = format!("{},{fields}", at(kind));
        assert_eq!(entry.typed_line().unwrap(), line, "the typed view suffices");
        assert_eq!(entry.entry().message().is_some(), kind == "custom_message");
    }
}

// 000-160
#[test]
fn a_custom_message_is_read_from_either_form_and_written_as_its_own_type() {
    let line = |content| {
        let fields = r#""customType":"note","display":false,"details":{"a":1}}"#;
        format!("{},\"content\":{content},{fields}", at("custom_message"))
    };
    for content in [r#""seen""#, r#"[{"type":"text","text":"seen"}]"#] {
        let entry = round_trip(&line(content));
        let message = entry.entry().message().unwrap();
        let Message::Custom(custom) = message.as_ref() else { panic!("{message:?}") };
        assert_eq!((custom.custom_type.as_str(), custom.display), ("note", false));
        assert_eq!(
            (message.text().as_str(), custom.details.as_ref().unwrap()["a"].as_u64()),
            ("seen", Some(1))
        );
        // The time of the entry is the message's, and goes back as it came.
        let again = StoredEntry::new(
            EntryId::new("b"),
            None,
            EntryKind::message(message.clone()),
            crate::log::own_time(&message),
        );
        assert_eq!(
            (&again.entry().timestamp, again.entry().message()),
            (&entry.entry().timestamp, Some(message))
        );
        assert!(again.to_line().unwrap().contains(r#""type":"custom_message""#));
    }
}

#[test]
fn an_entry_of_an_unknown_type_is_kept_whole() {
    let entry = round_trip(&format!("{},\"x\":{{\"y\":[1,null]}}}}", at("hologram")));
    assert_eq!(entry.entry().kind.type_name(), "hologram");
    let EntryKind::Unknown(object) = &entry.entry().kind else { panic!("known: {entry:?}") };
    assert_eq!(object["x"]["y"][0], 1);
}

#[test]
fn a_known_type_with_fields_that_do_not_fit_is_kept_whole() {
    let entry = round_trip(&format!("{},\"summary\":7}}", at("compaction")));
    assert!(matches!(entry.entry().kind, EntryKind::Unknown(_)));
}

#[test]
fn a_message_of_an_unknown_role_is_kept() {
    let entry = round_trip(&format!(
        r#"{},"message":{{"role":"weather","command":"ls","exitCode":0}}}}"#,
        at("message")
    ));
    let EntryKind::Message(MessageEntry { message: MessageBody::Other(message) }) = &entry.entry().kind
    else {
        panic!("{entry:?}")
    };
    assert_eq!(message["command"], "ls");
    assert_eq!(entry.entry().message(), None);
}

#[test]
fn fields_that_the_message_type_does_not_have_survive_inside_a_known_message() {
    let line = format!(
        r#"{},"message":{{"role":"assistant","content":[{{"type":"text","text":"t","textSignature":"sig"}}],"stopReason":"stop","usage":{{"input":1,"cost":{{"input":0}}}},"extra":1.50,"timestamp":1}},"more":true}}"#,
        at("message")
    );
    let entry = round_trip(&line);
    assert_eq!(entry.entry().message().unwrap().text(), "t");
}

#[test]
fn a_bare_string_as_content_stays_a_bare_string() {
    let entry = round_trip(&format!(
        r#"{},"message":{{"role":"user","content":"hello","timestamp":1}}}}"#,
        at("message")
    ));
    assert_eq!(entry.entry().message().unwrap().text(), "hello");
}

#[test]
fn half_a_surrogate_pair_is_read_as_a_replacement_and_written_as_it_was() {
    let entry = round_trip(&format!(
        r#"{},"message":{{"role":"user","content":"cut \ud83d","timestamp":1}}}}"#,
        at("message")
    ));
    assert_eq!(entry.entry().message().unwrap().text(), "cut \u{fffd}");
}

#[test]
fn spelling_and_line_ends_of_other_programs_are_kept() {
    let line = "{ \"id\" : \"a\" , \"type\":\"label\", \"parentId\":null, \"targetId\":\"b\" }\r";
    let entry = StoredEntry::parse(format!("{line}\n").as_bytes()).unwrap();
    assert_eq!(entry.to_line().unwrap(), line);
    assert!(matches!(entry.entry().kind, EntryKind::Label(_)));
}

#[test]
fn what_is_no_object_with_type_and_id_is_no_entry() {
    for line in
        ["", "7", "{}", r#"["message","a",null,"t"]"#, r#"{"type":"label"}"#, r#"{"id":"a"}"#, "{\"type\""]
    {
        assert!(StoredEntry::parse(line.as_bytes()).is_err(), "{line}");
    }
    assert!(matches!(StoredEntry::parse(b"{\"a\":\"\xc3"), Err(LineError::Utf8(_))));
}

#[test]
fn a_new_parent_changes_nothing_else() {
    let entry = round_trip(&format!("{},\"targetId\":\"x\",\"later\":[1.50]}}", at("label")));
    let moved = entry.reparented(Some(EntryId::new("eeeeeeee"))).unwrap();
    assert_eq!(moved.entry().parent_id.as_ref(), Some(&EntryId::new("eeeeeeee")));
    assert_eq!(
        moved.to_line().unwrap(),
        entry.to_line().unwrap().replace("ffffffff", "eeeeeeee").replace("1.50", "1.5")
    );
}

#[test]
fn an_answer_written_by_this_program_is_read_back_equal() {
    let answer = AssistantMessage {
        content: vec![
            Content::Thinking {
                thinking: "hm".into(),
                thinking_signature: Some("s".into()),
                redacted: false,
            },
            Content::text("line\none\u{2028}two"),
        ],
        ..AssistantMessage::default()
    };
    let entry = StoredEntry::new(
        EntryId::new("a"),
        None,
        EntryKind::message(Arc::new(Message::Assistant(answer))),
        None,
    );
    let line = entry.to_line().unwrap();
    assert!(!line.contains('\n'));
    assert_eq!(StoredEntry::parse(line.as_bytes()).unwrap().entry(), entry.entry());
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        "[a-zé\"\\\\\n😀]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,5}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn unknown_fields_survive_in_every_type(
        kind in "message|compaction|label|custom|session_info|[a-z_]{1,12}",
        fields in proptest::collection::btree_map("[xyz][a-z]{0,5}", json(), 0..5),
    ) {
        let mut object: serde_json::Map<String, Value> = fields.into_iter().collect();
        object.insert("type".into(), Value::from(kind));
        object.insert("id".into(), Value::from("0a1b2c3d"));
        object.insert("parentId".into(), Value::Null);
        object.insert("message".into(), serde_json::json!({"role": "user", "content": "hi", "odd": [1]}));
        object.insert("targetId".into(), Value::from("b"));
        let line = Value::Object(object).to_string();
        let entry = StoredEntry::parse(line.as_bytes()).unwrap();
        prop_assert_eq!(entry.to_line().unwrap(), line);
    }

    #[test]
    fn parsing_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(entry) = StoredEntry::parse(&bytes) {
            prop_assert!(entry.to_line().is_ok());
        }
    }

    #[test]
    fn parsing_any_damaged_line_never_panics(position in 0usize..200, byte in any::<u8>()) {
        let mut line = format!(r#"{},"message":{{"role":"user","content":"a\ud83d","timestamp":1}}}}"#, at("message"))
            .into_bytes();
        let at = position % line.len();
        line[at] = byte;
        if let Ok(entry) = StoredEntry::parse(&line) {
            prop_assert!(entry.to_line().is_ok());
        }
    }
}
