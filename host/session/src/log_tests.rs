//! What a session promises through its port, in memory and in a file alike; of a file also after it was opened again.

use crate::{MemorySession, SessionFile};
use capstan_ports::entry::{
    BashExecution, BranchSummary, Compaction, Custom, CustomMessageEntry, Entry, EntryKind, Label,
    MessageBody, MessageEntry, ModelChange, SessionInfo, TextOrPieces, ThinkingLevelChange,
};
use capstan_ports::model::ThinkingLevel;
use capstan_ports::{EntryId, Message, SessionError, SessionLog};
use proptest::prelude::*;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// Runs a scenario on both kinds of session.
fn in_both(scenario: impl Fn(&dyn SessionLog)) {
    scenario(&MemorySession::new(Path::new("/w")));
    let root = tempfile::tempdir().unwrap();
    let file = SessionFile::create(root.path(), Path::new("/w")).unwrap();
    scenario(&file);
    block_on(file.commit()).unwrap();
    let (path, entries) = (file.path().to_owned(), file.entries());
    drop(file);
    let again = SessionFile::open(&path).unwrap();
    assert_eq!(again.entries(), entries);
    assert_eq!(again.leaf(), entries.last().map(|entry| entry.id.clone()), "the last line is the leaf");
}

fn add(log: &dyn SessionLog, kind: EntryKind) -> EntryId {
    block_on(log.append(kind)).unwrap()
}

fn say(log: &dyn SessionLog, text: &str) -> EntryId {
    block_on(log.append_message(Arc::new(Message::user(text)))).unwrap()
}

fn compaction(summary: &str, first_kept: &EntryId) -> EntryKind {
    EntryKind::Compaction(Compaction {
        summary: summary.into(),
        first_kept_entry_id: first_kept.clone(),
        tokens_before: 7,
        details: None,
        from_hook: None,
        messages: None,
    })
}

fn summary_of_branch(from_id: &str) -> EntryKind {
    EntryKind::BranchSummary(BranchSummary {
        from_id: from_id.into(),
        summary: "went wrong".into(),
        details: None,
        from_hook: None,
    })
}

fn contributed(text: &str) -> EntryKind {
    EntryKind::CustomMessage(CustomMessageEntry {
        custom_type: "note".into(),
        content: TextOrPieces::Text(text.into()),
        display: false,
        details: None,
    })
}

fn context(log: &dyn SessionLog) -> Vec<String> {
    log.context().unwrap().messages.iter().map(|message| message.text()).collect()
}

fn transcript(log: &dyn SessionLog) -> Vec<String> {
    log.transcript().unwrap().iter().map(|message| message.text()).collect()
}

// 001-001, 001-030, 001-032
#[test]
fn an_entry_follows_the_leaf_and_becomes_it() {
    in_both(|log| {
        assert_eq!((log.leaf(), log.entries().len()), (None, 0));
        let one = say(log, "one");
        let two = say(log, "two");
        assert_eq!(log.leaf().as_ref(), Some(&two));
        let (first, second) = (log.entry(&one).unwrap(), log.entry(&two).unwrap());
        assert_eq!((&first.parent_id, &second.parent_id), (&None, &Some(one)));
        assert!(second.at_ms() > 0);
    });
}

// 001-002, 001-003, 001-035, 001-036
#[test]
fn the_last_model_and_thinking_level_of_the_branch_count() {
    let level =
        |level: &str| EntryKind::ThinkingLevelChange(ThinkingLevelChange { thinking_level: level.into() });
    let model = |id: &str| EntryKind::ModelChange(ModelChange { provider: "p".into(), model_id: id.into() });
    in_both(|log| {
        let fork = say(log, "x");
        for kind in [level("low"), model("one"), level("high"), model("two")] {
            add(log, kind);
        }
        let now = log.context().unwrap();
        assert_eq!((now.thinking, now.model.unwrap().model_id.as_str()), (Some(ThinkingLevel::High), "two"));
        log.branch(Some(&fork)).unwrap();
        let before = log.context().unwrap();
        assert_eq!((before.thinking, before.model), (None, None));
        add(log, EntryKind::SessionInfo(SessionInfo { name: None }));
    });
}

// 001-006, 001-007, 001-033, 001-050, 001-170
#[test]
fn contributions_are_in_the_context_and_not_in_the_transcript_and_private_records_in_neither() {
    in_both(|log| {
        say(log, "one");
        let data = Some(serde_json::json!({"k": 1}));
        let private = add(log, EntryKind::Custom(Custom { custom_type: "mine".into(), data: data.clone() }));
        add(log, contributed("noted"));
        assert_eq!(transcript(log), ["one"]);
        assert_eq!(context(log), ["one", "noted"], "what is not displayed is told to the model all the same");
        assert!(
            matches!(&log.entry(&private).unwrap().kind, EntryKind::Custom(custom) if custom.data == data)
        );
    });
}

// 001-034
#[test]
fn everything_about_a_shell_command_is_kept() {
    in_both(|log| {
        let bash = BashExecution {
            command: "make".into(),
            output: "half".into(),
            exit_code: Some(2),
            cancelled: true,
            truncated: true,
            full_output_path: Some("/tmp/out".into()),
            exclude_from_context: false,
            timestamp: 5,
        };
        let id = add(log, EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash.clone()) }));
        let kept = log.entry(&id).unwrap();
        assert!(
            matches!(&kept.kind, EntryKind::Message(MessageEntry { message: MessageBody::Bash(kept) }) if *kept == bash)
        );
        assert!(transcript(log).is_empty());
        assert_eq!(context(log).len(), 1);
    });
}

// 001-037
#[test]
fn a_compaction_or_bookmark_of_an_entry_that_is_not_there_is_refused() {
    in_both(|log| {
        let one = say(log, "one");
        let nowhere = EntryId::new("nowhere");
        let label = EntryKind::Label(Label { target_id: nowhere.clone(), label: Some("x".into()) });
        for kind in [compaction("s", &nowhere), label] {
            let error = block_on(log.append(kind)).unwrap_err();
            assert!(
                matches!(&error, SessionError::UnknownEntry { entry, .. } if entry == &nowhere),
                "{error}"
            );
        }
        assert_eq!((log.entries().len(), log.leaf()), (1, Some(one.clone())));
        add(log, compaction("s", &one));
        assert_eq!(log.entries().len(), 2);
    });
}

// 001-038
#[test]
fn the_summary_of_a_branch_may_come_from_the_root() {
    in_both(|log| {
        let id = add(log, summary_of_branch("root"));
        let kept = log.entry(&id).unwrap();
        assert!(matches!(&kept.kind, EntryKind::BranchSummary(branch) if branch.from_id == "root"));
        assert!(context(log)[0].contains("went wrong"));
        assert!(transcript(log).is_empty());
    });
}

// 001-039
#[test]
fn after_branching_the_next_entry_follows_there_and_the_old_branch_can_be_reached() {
    in_both(|log| {
        let (one, two) = (say(log, "one"), say(log, "two"));
        log.branch(Some(&one)).unwrap();
        assert_eq!(log.leaf().as_ref(), Some(&one));
        let other = say(log, "other");
        assert_eq!(log.entry(&other).unwrap().parent_id.as_ref(), Some(&one));
        assert_eq!(context(log), ["one", "other"]);
        let old: Vec<_> = log.path(Some(&two)).unwrap().iter().map(|entry| entry.id.clone()).collect();
        assert_eq!(old, [one, two]);
    });
}

// 001-040
#[test]
fn branching_before_every_root_begins_a_second_root() {
    in_both(|log| {
        say(log, "one");
        log.branch(None).unwrap();
        assert_eq!(log.leaf(), None);
        assert!(context(log).is_empty());
        let root = say(log, "again");
        assert_eq!(log.entry(&root).unwrap().parent_id, None);
        assert_eq!((context(log), log.entries().len()), (vec!["again".to_owned()], 2));
    });
}

// 001-041
#[test]
fn branching_to_an_entry_that_is_not_there_is_refused_and_moves_nothing() {
    in_both(|log| {
        let one = say(log, "one");
        for refused in [log.branch(Some(&EntryId::new("zz"))), log.path(Some(&EntryId::new("zz"))).map(drop)]
        {
            let error = refused.unwrap_err();
            assert!(error.to_string().contains("zz"), "{error}");
        }
        assert_eq!(log.leaf(), Some(one));
    });
}

// 001-042, 001-043, 001-044, 001-171
#[test]
fn a_compaction_shortens_the_context_and_not_the_transcript() {
    in_both(|log| {
        say(log, "one");
        let two = say(log, "two");
        add(log, contributed("noted"));
        add(log, summary_of_branch("root"));
        assert_eq!(context(log).len(), 4, "without a compaction everything is told, in order");
        add(log, compaction("so far", &two));
        say(log, "three");
        let told = context(log);
        assert!(told[0].contains("so far") && told[3].contains("went wrong"), "{told:?}");
        assert_eq!(
            (told.len(), told[1].as_str(), told[2].as_str(), told[4].as_str()),
            (5, "two", "noted", "three")
        );
        assert_eq!(transcript(log), ["one", "two", "three"]);
    });
}

// 001-046
#[test]
fn a_compaction_on_another_branch_is_ignored() {
    in_both(|log| {
        let one = say(log, "one");
        let two = say(log, "two");
        add(log, compaction("left", &two));
        let compacted = say(log, "after left");
        log.branch(Some(&one)).unwrap();
        say(log, "right");
        assert_eq!(context(log), ["one", "right"]);
        log.branch(Some(&compacted)).unwrap();
        let told = context(log);
        assert!(told[0].contains("left"));
        assert_eq!(told[1..], ["two", "after left"]);
        say(log, "end");
    });
}

// 001-048
#[test]
fn what_is_handed_out_can_be_changed_without_changing_the_session() {
    in_both(|log| {
        let id = say(log, "one");
        let spoil = |mut entry: Arc<Entry>| {
            Arc::make_mut(&mut entry).kind = EntryKind::SessionInfo(SessionInfo { name: None });
            assert!(entry.message().is_none());
        };
        spoil(log.entry(&id).unwrap());
        log.entries().into_iter().for_each(spoil);
        log.path(None).unwrap().into_iter().for_each(spoil);
        *Arc::make_mut(&mut log.context().unwrap().messages[0]) = Message::user("spoiled");
        *Arc::make_mut(&mut log.transcript().unwrap()[0]) = Message::user("spoiled");
        assert_eq!((context(log), transcript(log)), (vec!["one".to_owned()], vec!["one".to_owned()]));
    });
}

#[derive(Debug, Clone)]
enum Step {
    Say,
    Branch(Option<prop::sample::Index>),
    BranchNowhere,
    Compact(prop::sample::Index),
    CompactNowhere,
    Mark(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let any = any::<prop::sample::Index>;
    prop_oneof![
        3 => Just(Step::Say),
        2 => prop::option::of(any()).prop_map(Step::Branch),
        1 => Just(Step::BranchNowhere),
        1 => any().prop_map(Step::Compact),
        1 => Just(Step::CompactNowhere),
        1 => any().prop_map(Step::Mark),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // 001-008, 001-031
    #[test]
    fn whatever_is_done_entries_only_ever_come_to_those_that_are_there(steps in prop::collection::vec(step(), 1..80)) {
        in_both(|log| {
            say(log, "first");
            for step in &steps {
                let before = log.entries();
                let pick = |index: &prop::sample::Index| before[index.index(before.len())].id.clone();
                match step {
                    Step::Say => drop(say(log, "x")),
                    Step::Branch(to) => log.branch(to.as_ref().map(pick).as_ref()).unwrap(),
                    Step::BranchNowhere => assert!(log.branch(Some(&EntryId::new("nowhere"))).is_err()),
                    Step::Compact(kept) => drop(add(log, compaction("s", &pick(kept)))),
                    Step::CompactNowhere => {
                        assert!(block_on(log.append(compaction("s", &EntryId::new("nowhere")))).is_err());
                    }
                    Step::Mark(target) => {
                        drop(add(log, EntryKind::Label(Label { target_id: pick(target), label: None })));
                    }
                }
                let after = log.entries();
                assert_eq!(after[..before.len()], before);
                assert!(log.path(None).unwrap().len() <= after.len());
            }
            let ids: std::collections::HashSet<_> = log.entries().iter().map(|entry| entry.id.clone()).collect();
            assert_eq!(ids.len(), log.entries().len());
        });
    }
}
