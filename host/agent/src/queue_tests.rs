use super::*;

fn filled(mode: QueueMode) -> PendingMessageQueue {
    let queue = PendingMessageQueue::new(mode);
    for text in ["a", "b", "c"] {
        queue.enqueue(Arc::new(Message::user(text)));
    }
    queue
}

fn texts(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().map(|message| message.text()).collect()
}

// 000-050
#[test]
fn an_empty_queue_drains_to_nothing_and_clear_empties_a_full_one() {
    let queue = filled(QueueMode::default());
    assert!(queue.has_items());
    queue.clear();
    assert!(!queue.has_items());
    assert!(queue.drain().is_empty());
}

// 000-051, 000-180
#[test]
fn one_at_a_time_is_the_default_and_hands_out_single_messages() {
    let queue = filled(QueueMode::default());
    for expected in ["a", "b", "c"] {
        assert_eq!(texts(&queue.drain()), [expected]);
    }
    assert!(queue.drain().is_empty());
}

// 000-052, 000-181
#[test]
fn mode_all_hands_out_everything_in_order() {
    let queue = filled(QueueMode::All);
    assert_eq!(texts(&queue.drain()), ["a", "b", "c"]);
    assert!(!queue.has_items());
}

// 000-059
#[test]
fn a_changed_mode_counts_from_the_next_drain() {
    let queue = filled(QueueMode::OneAtATime);
    assert_eq!(texts(&queue.drain()), ["a"]);
    queue.set_mode(QueueMode::All);
    assert_eq!(texts(&queue.drain()), ["b", "c"]);
}
