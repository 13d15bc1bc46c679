use super::*;
use capstan_ports::message::text_of;

// O5
#[test]
fn of_a_flood_of_reports_the_newest_wait_and_no_more_than_a_few() {
    let queue = Arc::new(ProgressQueue::default());
    let call = CallProgress::new(queue.clone(), 3);
    for n in 0..100_000 {
        call.report(ToolOutcome::text(n.to_string()));
    }
    let waiting = queue.take_all();
    assert_eq!(waiting.len(), MAX_WAITING);
    let (position, newest) = waiting.back().unwrap();
    assert_eq!((*position, text_of(&newest.content).as_str()), (3, "99999"));
    call.close();
    call.report(ToolOutcome::text("late"));
    assert!(queue.take_all().is_empty());
}
