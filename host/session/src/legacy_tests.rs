use crate::disk::Disk;
use crate::faulty::FaultyDisk;
use crate::scan::{Scan, Tail, scan};
use capstan_ports::entry::EntryKind;
use capstan_ports::{EntryId, Message};
use std::sync::Arc;

fn scanned(text: &str) -> Scan {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::with(text.as_bytes()));
    scan(&disk).unwrap()
}

fn said(scan: &Scan) -> Vec<String> {
    scan.tree.context().messages.iter().map(|message| message.text()).collect()
}

fn user(text: &str) -> String {
    format!(
        r#"{{"type":"message","timestamp":"2025-11-01T00:00:00.000Z","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
    )
}

const FIRST: &str = r#"{"type":"session","id":"s","timestamp":"2025-11-01T00:00:00.000Z","cwd":"/w","provider":"p","modelId":"m"}"#;

// 001-138
#[test]
fn the_entries_of_version_one_form_a_chain_with_ids_by_position() {
    let found = scanned(&format!("{FIRST}\n{}\n\n{}\n", user("one"), user("two")));
    assert!(found.damage.is_none());
    assert_eq!(said(&found), ["one", "two"]);
    let entries: Vec<_> = found.tree.entries().collect();
    assert_eq!(entries[0].id.as_str(), "00000001");
    assert_eq!(
        (entries[1].id.as_str(), &entries[1].parent_id),
        ("00000002", &Some(EntryId::new("00000001")))
    );
    assert_eq!(entries[0].timestamp, "2025-11-01T00:00:00.000Z");
    let line = found.tree.copies().unwrap()[0].to_line().unwrap();
    assert!(line.starts_with(r#"{"type":"message","id":"00000001","parentId":null,"timestamp""#), "{line}");
    assert_eq!(found.tree.header().extra["provider"], "p");
}

// 001-138
#[test]
fn a_compaction_of_version_one_keeps_from_the_position_that_it_names() {
    for (index, kept) in
        [("2", &["two", "three"][..]), ("0", &["one", "two", "three"]), ("9", &[]), ("\"x\"", &[])]
    {
        let compaction = format!(
            r#"{{"type":"compaction","timestamp":"t","summary":"S","firstKeptEntryIndex":{index},"tokensBefore":9,"odd":1}}"#
        );
        let lines = [FIRST, &user("one"), &user("two"), &user("three"), &compaction, &user("four")];
        let found = scanned(&(lines.join("\n") + "\n"));
        let said = said(&found);
        assert!(said[0].contains("S"), "{said:?}");
        assert_eq!(said[1..said.len() - 1], *kept, "kept from {index}");
        assert_eq!(said.last().unwrap(), "four");
        let line = found.tree.copies().unwrap()[3].to_line().unwrap();
        assert!(!line.contains("firstKeptEntryIndex") && line.contains("\"odd\":1"), "{line}");
    }
}

// 001-138
#[test]
fn the_role_that_version_two_calls_hook_message_is_a_custom_message() {
    let hook = r#"{"type":"message","id":"h","parentId":"a","timestamp":"t","message":{"role":"hookMessage","customType":"c","content":"from a hook","display":true,"later":1.50}}"#;
    let plain = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"hi"},"odd":1.50}"#;
    let branch = r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"user","content":"other"}}"#;
    let found = scanned(&format!(
        "{}\n{plain}\n{hook}\n{branch}\n",
        FIRST.replace("\"session\",", "\"session\",\"version\":2,")
    ));
    assert!(found.damage.is_none());
    assert_eq!(said(&found), ["hi", "other"], "the tree is as it was");
    let entry = found.tree.entry(&EntryId::new("h")).unwrap();
    assert!(
        matches!(entry.message().unwrap().as_ref(), Message::Custom(custom) if custom.custom_type == "c")
    );
    assert!(matches!(entry.kind, EntryKind::CustomMessage(_)));
    let copies = found.tree.copies().unwrap();
    assert_eq!(copies[0].to_line().unwrap(), plain, "what needs no change is copied as it is");
    assert!(copies[1].to_line().unwrap().contains(r#""role":"custom""#));
    assert!(copies[1].to_line().unwrap().contains("later"));
}

#[test]
fn a_damaged_line_of_version_one_is_named_and_its_child_continues_what_was_before() {
    let found = scanned(&format!("{FIRST}\n{}\n{{\"type\"\n{}\n", user("one"), user("two")));
    assert_eq!(found.damage.as_ref().unwrap().line, 3);
    assert_eq!(said(&found), ["one", "two"]);
}

#[test]
fn a_torn_line_of_version_one_is_no_damage() {
    let found = scanned(&format!("{FIRST}\n{}\n{{\"type\"", user("one")));
    assert!(found.damage.is_none());
    assert_eq!(found.tail, Tail::Torn(b"{\"type\"".to_vec()));
}

#[test]
fn half_a_surrogate_pair_and_lines_that_are_no_object_are_handled_as_in_the_current_version() {
    let found = scanned(&format!("{FIRST}\n{}\n[1]\n", user("cut \\ud83d")));
    assert_eq!(said(&found), ["cut \u{fffd}"]);
    assert_eq!(found.damage.unwrap().line, 3);
}
