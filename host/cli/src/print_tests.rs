use super::*;
use std::cell::Cell;

/// Drives a run that the first abort ends, or that nothing ends; answers the turn and how often it was aborted.
async fn drive_until(stops: &[Stop], ends_when_aborted: bool) -> (Turn, usize) {
    let (aborted, ended) = (Cell::new(0), tokio::sync::Notify::new());
    let run = async {
        ended.notified().await;
        Ok(Vec::new())
    };
    let abort = || {
        aborted.set(aborted.get() + 1);
        if ends_when_aborted {
            ended.notify_one();
        }
    };
    let stops = stream::iter(stops.iter().copied().map(Ok)).chain(stream::pending());
    let turn = until_stopped(run, abort, stops).await.unwrap();
    (turn, aborted.get())
}

// X8
#[tokio::test]
async fn the_first_stop_aborts_and_waits_and_the_second_leaves() {
    for (stops, ends, is_left, is_last) in [
        (&[Stop::Interrupt][..], true, false, false),
        (&[Stop::Terminate], true, false, true),
        (&[Stop::Interrupt, Stop::Interrupt], false, true, false),
        (&[Stop::Interrupt, Stop::Terminate], false, true, true),
    ] {
        let (turn, aborted) = drive_until(stops, ends).await;
        assert_eq!((turn.is_left(), turn.is_last(), aborted), (is_left, is_last, 1), "{stops:?}");
    }
}
