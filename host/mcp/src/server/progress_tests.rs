use super::*;

#[tokio::test]
async fn the_latest_report_counts_and_none_comes_after_the_end() {
    let slot = Slot::default();
    for text in ["one", "two", "three"] {
        slot.report(ToolOutcome::text(text));
    }
    assert_eq!(slot.next().await, Some((3, "three".to_owned())));
    slot.report(ToolOutcome::text("four"));
    slot.close();
    slot.report(ToolOutcome::text("too late"));
    assert_eq!(slot.next().await, Some((4, "four".to_owned())));
    assert_eq!(slot.next().await, None);
}
